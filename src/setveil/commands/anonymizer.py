"""The estimator: anonymization as a step of a scikit-learn pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from setveil.base.errors import RequestError

if TYPE_CHECKING:
    from setveil.runs.run import VerifiedRelease

_PARAMETERS = ("k", "m", "guarantee", "hierarchy", "algorithm", "repair", "seed", "parameters")


class Anonymizer:
    """Anonymize rows of items as scikit-learn's transformers do: `fit`, `transform`, `fit_transform`.

    `fit` makes a verified release of the rows and keeps its recoding. `transform` recodes rows of other
    people by it and verifies them by themselves. Rows come back in the order of the input, for use in
    memory. To share them, write the release: ``release_.write(folder)`` shuffles the rows.

    Parameters
    ----------
    k : int, optional
        At least this many rows match what an attacker knows.
    m : int or float
        At most this many items are known; `math.inf` for any number.
    guarantee : Guarantee, optional
        Instead of k and m: a guarantee of rows of items whose method recodes items, such as `KmAnonymity`.
    hierarchy : Hierarchy, path, dict or data frame, optional
        As for `setveil.anonymize`.
    algorithm : str or algorithm, optional
        As for `setveil.anonymize`, by default the first choice for the guarantee.
    repair : bool
        If other rows do not satisfy the guarantee, `transform` coarsens the recoding as little as possible;
        otherwise it stops with an error.
    seed : int
        Seed of the release.
    parameters : mapping of str, optional
        Parameters of the algorithm by name, such as ``{"suppress": False}``.

    Attributes
    ----------
    release_ : VerifiedRelease
        The release of the rows that were fitted.
    applied_ : VerifiedRelease
        The release of the rows that were transformed last; not there before.

    Examples
    --------
    >>> import setveil as sv
    >>> drinks = sv.Hierarchy.from_paths(
    ...     [["tea", "hot", "*"], ["coffee", "hot", "*"], ["milk", "cold", "*"]]
    ... )
    >>> step = sv.Anonymizer(k=2, m=2, hierarchy=drinks)
    >>> step.fit_transform([["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]])
    [['milk', 'hot'], ['hot'], ['milk', 'hot'], ['hot']]
    >>> step.transform([["coffee"], ["tea"]])
    [['hot'], ['hot']]
    """

    def __init__(
        self,
        k: int | None = None,
        m: int | float = 2,
        *,
        guarantee: Any = None,
        hierarchy: Any = None,
        algorithm: Any = None,
        repair: bool = False,
        seed: int = 0,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        # As scikit-learn asks: nothing is checked or changed before `fit`.
        self.k = k
        self.m = m
        self.guarantee = guarantee
        self.hierarchy = hierarchy
        self.algorithm = algorithm
        self.repair = repair
        self.seed = seed
        self.parameters = parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool
            Accepted as scikit-learn passes it; no parameter has parameters of its own.

        Returns
        -------
        dict of str
        """
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **parameters: Any) -> Anonymizer:
        """Set parameters by name.

        Returns
        -------
        Anonymizer
            The estimator itself.

        Raises
        ------
        RequestError
            If there is no parameter of that name.
        """
        for name, value in parameters.items():
            if name not in _PARAMETERS:
                raise RequestError(
                    f"Anonymizer has no parameter {name!r}. Expected one of {', '.join(_PARAMETERS)}."
                )
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: Any = None) -> Anonymizer:  # noqa: N803  (scikit-learn's name)
        """Make a verified release of rows and keep its recoding.

        Parameters
        ----------
        X : path, data frame, list of lists, or Transactions
            The rows, one person each.
        y : any
            Ignored.

        Returns
        -------
        Anonymizer
            The estimator itself.

        Raises
        ------
        SetveilError
            As `setveil.anonymize`.
        """
        from setveil.commands.anonymize import anonymize

        if (self.guarantee is None) == (self.k is None):
            raise RequestError("Anonymizer needs either k (and m) or a guarantee.", hint="Such as k=5, m=2.")
        promised: dict[str, Any] = {"k": self.k, "m": self.m} if self.guarantee is None else {}
        self.release_: VerifiedRelease = anonymize(
            X, self.guarantee, **promised, hierarchy=self.hierarchy, algorithm=self.algorithm,
            seed=self.seed, **(self.parameters or {}),
        )  # fmt: skip
        return self

    def transform(self, X: Any) -> list[list[str]]:  # noqa: N803  (scikit-learn's name)
        """Recode rows of other people by the fitted recoding, and verify them by themselves.

        Parameters
        ----------
        X : path, data frame, list of lists, or Transactions
            The rows, one person each.

        Returns
        -------
        list of list of str
            The labels of each row, in the order of `X`.

        Raises
        ------
        RequestError
            If nothing was fitted, or the method does not recode items, so that other rows have no labels.
        InfeasibleError
            If the rows do not satisfy the guarantee under the fitted recoding, and `repair` is False.
        """
        from setveil.commands.apply import apply

        if not hasattr(self, "release_"):
            raise RequestError("This Anonymizer is not fitted yet.", hint="Call fit first.")
        tree = {} if self.hierarchy is None else {"hierarchy": self.hierarchy}
        self.applied_: VerifiedRelease = apply(
            self.release_, X, **tree, repair=self.repair, people="other", seed=self.seed
        )
        return _in_order(self.applied_)

    def fit_transform(self, X: Any, y: Any = None) -> list[list[str]]:  # noqa: N803  (scikit-learn's name)
        """Make a verified release of rows and return its rows in the order of the input.

        Parameters
        ----------
        X : path, data frame, list of lists, or Transactions
            The rows, one person each.
        y : any
            Ignored.

        Returns
        -------
        list of list of str
            The labels of each row, in the order of `X`.
        """
        return _in_order(self.fit(X, y).release_)

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None, target_tags=TargetTags(required=False), no_validation=True,
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(two_d_array=False, string=True),
        )  # fmt: skip

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` was called."""
        return hasattr(self, "release_")

    def __repr__(self) -> str:
        """Name the parameters that differ from their defaults."""
        plain = Anonymizer().get_params()
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if value != plain[name]]
        return f"Anonymizer({', '.join(changed)})"


def _in_order(release: VerifiedRelease) -> list[list[str]]:
    """List the published rows in the order of the rows that were given."""
    rows = list(release.published)
    return [list(rows[at]) for at in release.row_map.tolist()]
