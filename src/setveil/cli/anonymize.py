"""The command ``anonymize``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from setveil import algorithms as registry
from setveil.cli.options import (
    Encoding,
    Format,
    H,
    HierarchyFile,
    IdColumn,
    Input,
    ItemColumn,
    Json,
    K,
    M,
    P,
    Privacy,
    Private,
    Seed,
    Sensitive,
    SensitiveRandom,
    Separator,
)
from setveil.cli.session import answer, answer_json, run, say
from setveil.errors import MissingItemsError, RequestError
from setveil.options.numbers import parse_number, parse_share
from setveil.options.promises import make_guarantee, require_options


def anonymize(
    input: Input,  # noqa: A002
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write: published/ to hand out, internal/ to keep.")
    ],
    algorithm: Annotated[
        str,
        typer.Option(
            "--algorithm", "-a", help=f"One of {', '.join(registry.names())} (see `setveil algorithms`)."
        ),
    ] = "exact",
    k: K = None,
    m: M = None,
    privacy: Privacy = None,
    h: H = None,
    p: P = None,
    private: Private = None,
    sensitive: Sensitive = None,
    sensitive_random: SensitiveRandom = None,
    hierarchy_file: HierarchyFile = None,
    suppress: Annotated[
        bool | None,
        typer.Option("--suppress/--no-suppress", help="exact: items may also be suppressed (the default)."),
    ] = None,
    max_suppressed: Annotated[
        str | None, typer.Option("--max-suppressed", help="exact: of all occurrences, at most e.g. 5%.")
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            "--objective", help="exact: minimize ncp or lm (default: lm with suppression, else ncp)."
        ),
    ] = None,
    keep: Annotated[
        Path | None, typer.Option("--keep", help="exact: file of items to publish as themselves.")
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option("--weights", help="exact: file of lines item,number; it multiplies the item's loss."),
    ] = None,
    gap: Annotated[
        float | None, typer.Option("--gap", help="exact: stop at 0.01 (1 per cent) from the optimum, say.")
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", help="exact, --bound: seconds, then the best so far (default 300)."),
    ] = None,
    bound: Annotated[
        bool, typer.Option("--bound", help="Others: also find how far the release is from the optimum.")
    ] = False,
    refine: Annotated[
        bool,
        typer.Option("--refine", help="Others: split nodes of the final cut again while it stays valid."),
    ] = False,
    utility: Annotated[
        str | None,
        typer.Option(
            "--utility",
            help="coat: file of groups of items that may be merged; any (the default); siblings, "
            "siblings:LEVEL or groups:SIZE of a hierarchy.",
        ),
    ] = None,
    max_suppressed_items: Annotated[
        str | None,
        typer.Option("--max-suppressed-items", help="coat: of the items that occur, at most e.g. 15%."),
    ] = None,
    alpha: Annotated[
        int | None,
        typer.Option(
            "--alpha", help="cahd: how far to look for similar rows, in multiples of p (default 3)."
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option("--rounds", min=0, help="cahd: rounds of exchanges (default 3; 0: the paper's groups)."),
    ] = None,
    plot_band: Annotated[
        Path | None,
        typer.Option(
            "--plot-band", help="cahd: draw rows and items before and after reordering (.png, .svg)."
        ),
    ] = None,
    k_nugget: Annotated[
        int | None, typer.Option("--k-nugget", help="border: least support of the itemsets to keep.")
    ] = None,
    p_nugget: Annotated[
        str | None, typer.Option("--p-nugget", help="border: most items of the itemsets to keep (or inf).")
    ] = None,
    seed: Seed = 0,
    format: Format = None,  # noqa: A002
    output_format: Annotated[
        str | None, typer.Option("--output-format", help="Format of the published file, if not the input's.")
    ] = None,
    encoding: Encoding = "utf-8",
    separator: Separator = None,
    id_column: IdColumn = None,
    item_column: ItemColumn = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the folder of an earlier run.")] = False,
    external: Annotated[
        bool,
        typer.Option(
            "--external", help="Also write published/report.html, which may be handed out with the rows."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Make a release that keeps the promise, verify it and write it."""

    def work(progress: Any) -> Any:
        from setveil.cli.files import extension_hint, read_rows, split_format
        from setveil.hierarchy.io import read_hierarchy
        from setveil.options.inputs import load_items, load_utility, load_weights
        from setveil.published import kind_of_model
        from setveil.runs.folder import require_writable
        from setveil.runs.run import anonymize as run_anonymize

        info = registry.load(algorithm).info
        model = info.guarantees[0]
        options = {
            "k": k, "m": m, "privacy": privacy, "h": h, "p": p, "private": private, "sensitive": sensitive,
            "sensitive_random": None if sensitive_random is None else (sensitive_random, seed),
        }  # fmt: skip
        require_options(model, options)
        if (only := kind_of_model(model).info.written) and output_format is not None:
            raise RequestError(f"--output-format: {only}.")
        require_writable(out, force=force)
        if plot_band is not None:
            from setveil.cli.bandplot import draw, require_drawable

            require_drawable(plot_band, algorithm, force=force)
        progress("reading")
        reads, publishes = split_format(input, format)
        data = read_rows(
            input, format=reads, encoding=encoding, separator=separator, id_column=id_column,
            item_column=item_column,
        )  # fmt: skip
        guarantee = make_guarantee(model, options, data, encoding)
        tree = None
        if hierarchy_file is not None:
            tree = read_hierarchy(hierarchy_file, encoding=encoding)
        elif "hierarchy" in info.needs:
            say("No --hierarchy: items bought alike are grouped (co-occurrence, fan-out 5).")
        parameters: dict[str, Any] = {
            "suppress": suppress,
            "max_suppressed": parse_share(max_suppressed),
            "objective": objective,
            "keep": None if keep is None else load_items(keep, data, encoding),
            "weights": None if weights is None else load_weights(weights, encoding),
            "gap": gap,
            "time_limit": None if bound and algorithm != "exact" else time_limit,
            "refine": refine or None,
            "utility": load_utility(utility, data, tree, encoding),
            "max_suppressed_items": parse_share(max_suppressed_items),
            "alpha": alpha,
            "rounds": rounds,
            "k_nugget": k_nugget,
            "p_nugget": None if p_nugget is None else parse_number("p-nugget", p_nugget),
        }
        try:
            release = run_anonymize(
                data, guarantee, hierarchy=tree, algorithm=algorithm, seed=seed, progress=progress,
                bound=time_limit or True if bound else False,
                **{name: value for name, value in parameters.items() if value is not None},
            )  # fmt: skip
        except MissingItemsError as error:
            error.hint = extension_hint(input, hierarchy_file, reads, id_column, item_column)
            raise
        if plot_band is not None:
            progress("drawing")
            draw(plot_band, data, guarantee, progress)
        progress("writing")
        return release.write(out, force=force, format=output_format or publishes, external=external)

    report = run(work)
    if json:
        answer_json(report)
    else:
        from setveil.report.run.summary import summary

        answer(f"{summary(report)}\nFolder     {out}")
