"""The command ``anonymize``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from setveil import algorithms as registry
from setveil.cli.options import HierarchyFile, Input, Json, Own, Promise, Reading, Seed
from setveil.cli.session import answer, answer_json, run, say
from setveil.errors import MissingItemsError, RequestError
from setveil.fields import options_of
from setveil.options.decode import Given, decode_parameters
from setveil.options.guarantees import make_guarantee, require_options


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
    hierarchy_file: HierarchyFile = None,
    bound: Annotated[
        bool,
        typer.Option(
            "--bound",
            help="km-anonymity: also find how far the release is from the optimum, within --time-limit.",
        ),
    ] = False,
    plot_band: Annotated[
        Path | None,
        typer.Option(
            "--plot-band", help="cahd: draw rows and items before and after reordering (.png, .svg)."
        ),
    ] = None,
    seed: Seed = 0,
    output_format: Annotated[
        str | None, typer.Option("--output-format", help="Format of the published file, if not the input's.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the folder of an earlier run.")] = False,
    external: Annotated[
        bool,
        typer.Option(
            "--external", help="Also write published/report.html, which may be handed out with the rows."
        ),
    ] = False,
    json: Json = False,
    *,
    promise: Promise,
    own: Own,
    reading: Reading,
) -> None:
    """Make a release that keeps the promise, verify it and write it."""

    def make_release(progress: Any) -> Any:
        from setveil.cli.files import extension_hint, read_rows, split_format
        from setveil.guarantees import model_named
        from setveil.hierarchy.io import read_hierarchy
        from setveil.published import kind_named
        from setveil.runs.folder import require_writable
        from setveil.runs.run import anonymize as run_anonymize

        module = registry.load(algorithm)
        info = module.info
        model = info.guarantees[0]
        require_options(model, promise)
        only = kind_named(model_named(model).release).info.written
        if only and output_format is not None:
            raise RequestError(f"--output-format: {only}.")
        require_writable(out, force=force)
        if plot_band is not None:
            from setveil.cli.bandplot import draw, require_drawable

            require_drawable(plot_band, algorithm, force=force)
        progress("reading")
        reads, publishes = split_format(input, reading.format)
        how = replace(reading, format=reads)
        encoding = reading.text_encoding
        data = read_rows(input, how)
        guarantee = make_guarantee(model, promise, Given(data, encoding, seed=seed))
        tree = None
        if hierarchy_file is not None:
            tree = read_hierarchy(hierarchy_file, encoding=encoding)
        elif "hierarchy" in info.needs:
            say("No --hierarchy: items bought alike are grouped (co-occurrence, fan-out 5).")
        texts, limit = dict(own), own.get("time_limit")
        if bound and "time_limit" not in options_of(module.Parameters):
            texts["time_limit"] = None  # it is the bound's
        parameters = decode_parameters(module.Parameters, texts, Given(data, encoding, tree, seed))
        try:
            release = run_anonymize(
                data, guarantee, hierarchy=tree, algorithm=algorithm, seed=seed, progress=progress,
                bound=limit or True if bound else False, **parameters,
            )  # fmt: skip
        except MissingItemsError as error:
            error.hint = extension_hint(input, hierarchy_file, how)
            raise
        if plot_band is not None:
            progress("drawing")
            draw(plot_band, data, guarantee, progress)
        progress("writing")
        return release.write(out, force=force, format=output_format or publishes, external=external)

    report = run(make_release)
    if json:
        answer_json(report)
    else:
        from setveil.report.run.summary import summary

        answer(f"{summary(report)}\nFolder     {out}")
