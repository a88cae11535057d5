"""What several commands refuse, said once for the command line and for Python."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from setveil.base.errors import RequestError, as_option, faces
from setveil.base.values.numbers import exact_share
from setveil.judges.guarantees import Model
from setveil.judges.utility.relational import SHARE


def hides_nothing(name: str) -> RequestError:
    """Make the error of an option that bounds what is learned, where a table is tried."""
    return RequestError(
        f"{as_option(name)} does not apply to tables: nothing that is tried hides what the rows of a class "
        "have in common.",
        hint=faces(
            "`setveil anonymize --model kkm --sensitive ITEMS --h 50%` does.",
            'setveil.anonymize(table, setveil.KKmAnonymity(k, m, sensitive=[...], h="50%")) does.',
        ),
    )


def of_single_rows(name: str) -> RequestError:
    """Make the error of an option that looks at single rows of items, where they are none."""
    return RequestError(
        f"{as_option(name)} is for single rows of items, not for tables, groups, classes or facts.",
        hint="Omit it.",
    )


def require_useful(model: Model, *, original: object, recoding: object) -> None:
    """Refuse what the verifier of a model has no use for; None: was not given."""
    for name, value, known in (("recoding", recoding, "image"), ("original", original, "original")):
        if value is not None and known not in model.knows:
            raise RequestError(f"{as_option(name)} does not apply to {model.name}.")


def require_no_share(share: Any) -> None:
    """Refuse a share of columns in the loss, where the data have no columns."""
    if share is not None:
        raise RequestError(
            f"{as_option('share')} weighs the columns of a table, and the data have none.",
            hint=faces("Name them: --qi.", "setveil.read_table(...) reads a table."),
        )


def share_of_columns(share: Any) -> Fraction:
    """Take the share of a table's columns in its loss, as a number or as written; None: the usual one."""
    return SHARE if share is None else exact_share(str(share))
