"""Fingerprints of forty varied runs of the command line, to see whether a change changes any result.

    python benchmarks/fingerprints.py [--data FOLDER] [--out FILE] [--against FILE]

Prints a line for each run: its exit codes, and short hashes of what it wrote. The columns are

- written: published files (published/), converted files, policies, hierarchies, and figures;
- tables: recoding.csv and rows.csv, or the results.csv of a study;
- report: report.json;
- page: report.html;
- stdout, and stderr of the commands that fail.

Times, memory and versions are omitted, so that equal results have equal lines on every machine. A run may
consist of several commands, processes of whatever setveil Python finds. Nothing is imported from it, so this
can be run before and after a change; `--against` lists the differences.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

DATA = (
    "groceries.csv", "groceries_hierarchy.csv", "bms_webview1.dat", "bms_webview1_hierarchy.csv",
    "diabetes_icd9.dat", "diabetes_icd9_hierarchy.csv",
)  # fmt: skip
COLUMNS = ("run", "name", "codes", "written", "tables", "report", "page", "stdout", "stderr")
NONE = "-"
MEASURED = re.compile(
    r"timing|versions|(seconds|peak_memory|memory).*"
)  # keys, columns and figures that differ every time

# In the commands, OUT is a folder of the run's own; what earlier runs wrote is found by their names.
RUNS: tuple[tuple[str, str], ...] = (
    (
        "exact",
        "anonymize groceries.csv -H groceries_hierarchy.csv --k 5 --m 2 --out OUT/out",
    ),
    (
        "exact-cut",
        "anonymize groceries.csv -H groceries_hierarchy.csv --k 10 --m 2 --no-suppress --objective lm"
        " --seed 3 --output-format jsonl --json --out OUT/out",
    ),
    (
        "exact-wishes",
        "anonymize groceries.csv -H groceries_hierarchy.csv --k 5 --m 2 --keep keep.csv --weights weights.csv"
        " --gap 0.02 --max-suppressed 10% --external --out OUT/out",
    ),
    (
        "aa-refine-bound",
        "anonymize groceries.csv -H groceries_hierarchy.csv -a aa --k 5 --m 2 --refine --bound --external"
        " --out OUT/out",
    ),
    (
        "aa-codes",
        "anonymize diabetes_icd9.dat -H diabetes_icd9_hierarchy.csv -a aa --k 5 --m 3 --output-format spmf"
        " --json --out OUT/out",
    ),
    (
        "aa-long-stdin",
        "anonymize - -H tree.csv -a aa --k 3 --m inf --format long --output-format parquet --out OUT/out"
        " < small_long.csv",
    ),
    (
        "oa",
        "anonymize small.dat -H tree.csv -a oa --k 4 --m 2 --bound --seed 1 --out OUT/out",
    ),
    (
        "da",
        "anonymize groceries.csv -H groceries_hierarchy.csv -a da --k 20 --m 2 --refine --out OUT/out",
    ),
    (
        "da-jsonl",
        "anonymize small.jsonl -H tree.csv -a da --k 4 --m inf --json --out OUT/out",
    ),
    (
        "hghs",
        "anonymize bms_webview1.dat -H bms_webview1_hierarchy.csv -a hghs --k 5 --m 2 --seed 9 --out OUT/out",
    ),
    (
        "mhghs",
        "anonymize groceries.csv -H groceries_hierarchy.csv -a mhghs --k 5 --m inf --external --out OUT/out",
    ),
    (
        "lg",
        "anonymize bms_webview1.dat -H bms_webview1_hierarchy.csv -a lg --k 5 --out OUT/out",
    ),
    (
        "lg-long",
        "anonymize groceries.csv -H groceries_hierarchy.csv -a lg --k 3 --output-format long --external"
        " --json --out OUT/out",
    ),
    (
        "coat",
        "anonymize bms_webview1.dat -H bms_webview1_hierarchy.csv -a coat --privacy all --k 5 --m 2"
        " --utility siblings --max-suppressed-items 50% --out OUT/out",
    ),
    (
        "coat-files",
        "anonymize small.parquet -a coat --privacy privacy.json --utility utility.json --k 3 --external"
        " --json --max-suppressed-items 0.5 --out OUT/out",
    ),
    (
        "coat-pgen",
        "anonymize groceries.csv -H groceries_hierarchy.csv -a coat --privacy pgen --k 3 --utility groups:5"
        " --max-suppressed-items 95% --out OUT/out",
    ),
    (
        "border",
        "anonymize groceries.csv -a border --private brandy,whisky --h 0.5 --k 5 --p 2 --k-nugget 50"
        " --p-nugget 3 --external --out OUT/out",
    ),
    (
        "border-inf",
        "anonymize small.txt -a border --private private.txt --h 0.6 --k 3 --p inf --p-nugget inf --json"
        " --seed 5 --out OUT/out",
    ),
    (
        "mm",
        "anonymize bms_webview1.dat -a mm --private 10307,12487 --h 0.4 --k 10 --p 4 --out OUT/out;"
        " anonymize groceries.csv -a mm --private brandy,whisky --h 0.8 --k 3 --p 2 --json --out OUT/second",
    ),
    (
        "cahd",
        "anonymize diabetes_icd9.dat -a cahd --p 10 --sensitive-random 10 --alpha 4 --rounds 0 --seed 2"
        " --out OUT/out",
    ),
    (
        "cahd-rounds",
        "anonymize groceries.csv -a cahd --p 4 --sensitive brandy,whisky --external --plot-band OUT/band.svg"
        " --json --out OUT/out",
    ),
    (
        "no-hierarchy",
        "anonymize groceries.csv --k 5 --m 2 --out OUT/out;"
        " anonymize small.txt -a aa --k 3 --m 2 --refine --json --out OUT/second",
    ),
    (
        "infeasible",
        "anonymize small.dat -H tree.csv -a aa --k 5000 --m 2 --out OUT/out;"
        " anonymize groceries.csv -H groceries_hierarchy.csv --k 5 --m 2 --keep rare.csv --out OUT/out;"
        " anonymize groceries.csv -H groceries_hierarchy.csv -a coat --privacy pgen --k 3 --utility groups:5"
        " --max-suppressed-items 20% --out OUT/out;"
        " anonymize small.dat -a cahd --p 100 --sensitive 101 --out OUT/out",
    ),
    (
        "unreadable",
        "anonymize missing.dat --k 5 --m 2 --out OUT/out;"
        " anonymize small.dat -H broken.csv -a aa --k 5 --m 2 --out OUT/out; verify broken.jsonl --k 2 --m 2;"
        " anonymize groceries.csv -H tree.csv -a aa --k 5 --m 2 --out OUT/out",
    ),
    (
        "usage",
        "anonymize small.dat --m 2 --out OUT/out; anonymize small.dat -a none --k 5 --m 2 --out OUT/out;"
        " anonymize small.dat -a lg --k 5 --m 2 --out OUT/out; verify small.dat --k 2 --m 0; compare --json",
    ),
    (
        "verify-km",
        "verify aa-refine-bound/out --k 5 --m 2; verify aa-refine-bound/out --k 5 --m 2 --json;"
        " verify groceries.csv --k 5 --m 2 --show 3; verify groceries.csv --k 5 --m 2 --json",
    ),
    (
        "verify-k",
        "verify lg/out --model k-anonymity --k 5 --json; verify lg-long/out --model k-anonymity --k 3;"
        " verify bms_webview1.dat --model k-anonymity --k 5;"
        " verify small.dat --model k-anonymity --k 5 --json",
    ),
    (
        "verify-constraints",
        "verify coat-files/out --model constraints --privacy privacy.json --k 3;"
        " verify coat-files/out/published/data.parquet --recoding coat-files/out/internal/recoding.csv"
        " --model constraints --privacy privacy.json --k 3 --json;"
        " verify coat/out --model constraints --privacy all --k 5 --m 2;"
        " verify coat-files/out --model constraints --privacy privacy.json --k 60;"
        " verify coat-files/out --model constraints --privacy privacy.json --k 60 --json",
    ),
    (
        "verify-coherence",
        "verify border/out --model coherence --private brandy,whisky --h 0.5 --k 5 --p 2;"
        " verify border-inf/out --model coherence --private private.txt --h 0.6 --k 3 --p inf --json;"
        " verify groceries.csv --model coherence --private brandy,whisky --h 0.5 --k 5 --p 2;"
        " verify small.dat --model coherence --private private.txt --h 0.1 --k 3 --p 2 --json",
    ),
    (
        "verify-degree",
        "verify cahd-rounds/out --model privacy-degree --p 4 --sensitive brandy,whisky"
        " --original groceries.csv;"
        " verify cahd-rounds/out --model privacy-degree --p 4 --sensitive brandy,whisky --json;"
        " verify cahd-rounds/out --model privacy-degree --p 50 --sensitive brandy,whisky;"
        " verify cahd-rounds/out --model privacy-degree --p 4 --sensitive brandy,whisky --original fewer.csv"
        " --json",
    ),
    (
        "measure",
        "measure groceries.csv aa-refine-bound/out --queries 500 --query-size 2 --itemsets 100"
        " --itemset-length 2 --json;"
        " measure groceries.csv exact/out/published --queries 200 --query-support 20 --seed 4;"
        " measure diabetes_icd9.dat aa-codes/out/published/data.txt -H diabetes_icd9_hierarchy.csv"
        " --queries-file queries.dat",
    ),
    (
        "measure-groups",
        "measure groceries.csv cahd-rounds/out --queries 100 --group-by 3;"
        " measure diabetes_icd9.dat cahd/out --queries 50 --json;"
        " measure groceries.csv border/out --itemsets 60 --private brandy,whisky --json;"
        " measure groceries.csv border/out --itemsets 60 --private brandy,whisky",
    ),
    (
        "risk",
        "risk aa-refine-bound/out --original groceries.csv --m 1..2;"
        " risk border/out --original groceries.csv --private brandy,whisky --m 2 --json;"
        " risk small.dat --json; risk bms_webview1.dat --m 1,3 --effort 100000 --seed 1",
    ),
    (
        "moles",
        "moles groceries.csv --private brandy,whisky --h 0.5 --k 5 --p 2 --show 5;"
        " moles small.dat --private private.txt --h 0.4 --k 4 --p inf --json",
    ),
    (
        "policy",
        "policy pgen groceries.csv --k 4 --out OUT/privacy.txt;"
        " policy pgen small.parquet --k 3 --out OUT/privacy.json;"
        " policy check small.dat --privacy privacy.txt --utility utility.json --k 3;"
        " policy check small.dat --privacy privacy.txt --utility utility.json --k 60 --json",
    ),
    (
        "hierarchy",
        "hierarchy build groceries.csv --fanout 4 --out OUT/bought.csv;"
        " hierarchy build groceries.csv --by balanced --out OUT/balanced.json;"
        " hierarchy build small.dat --by prefix --lengths 1,2 --out OUT/prefix.txt;"
        " hierarchy build more.dat --extend tree.csv --out OUT/extended.csv;"
        " hierarchy check groceries_hierarchy.csv --data groceries.csv; hierarchy check broken.csv --json;"
        " hierarchy convert tree.csv OUT/tree.json; hierarchy convert OUT/tree.json OUT/tree.csv",
    ),
    (
        "convert",
        "convert groceries.csv OUT/rows.parquet; convert groceries.csv OUT/rows.txt;"
        " convert small_long.csv OUT/rows.jsonl; convert small.jsonl OUT/rows.csv --to long;"
        " convert small.txt OUT/rows.dat; algorithms --json; algorithms; --version",
    ),
    (
        "compare",
        "compare models.toml --out OUT/out; compare models.toml --out OUT/out --dry-run",
    ),
    (
        "compare-km",
        "compare cuts.toml --out OUT/out --external --json",
    ),
    (
        "recommend",
        "recommend groceries.csv -H groceries_hierarchy.csv --k 5 --m 2 --json;"
        " recommend small.dat --k 3 --m 2 --private 108,109 --h 0.6 --json",
    ),
)  # fmt: skip

STUDIES = {
    "models.toml": """
        name = "Models"
        data = [{ path = "groceries.csv", hierarchy = "groceries_hierarchy.csv", name = "groceries" }]
        queries = 200
        seeds = [0, 1]
        k = 5

        [[runs]]
        algorithms = ["cahd"]
        p = [3, 6]
        sensitive_random = 4
        group_by = 3

        [[runs]]
        algorithms = ["coat"]
        privacy = "all"
        m = 2
        max_suppressed_items = 0.5

        [[runs]]
        algorithms = ["border"]
        private_share = 0.05
        h = 0.4
        p = 2
        """,
    "cuts.toml": """
        name = "Cuts"
        data = [{ path = "small.dat", hierarchy = "tree.csv", name = "small" }]
        k = [3, 6]
        queries = 200
        bound = 60

        [[runs]]
        algorithms = ["aa", "exact", "hghs", "oa"]
        m = [1, 2]

        [[runs]]
        algorithms = ["lg"]
        """,
}


@dataclass(frozen=True)
class Line:
    """A printed line of a run: a short text for each column."""

    cells: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Line:
        """Read a line of a file that was written before."""
        return cls(tuple(text.split()))

    def __str__(self) -> str:
        run, name, codes, *hashes = self.cells
        return " ".join([f"{run:>3} {name:<18} {codes:<15}", *(f"{cell:<12}" for cell in hashes)]).rstrip()


def short_hash(parts: Iterable[tuple[str, bytes]]) -> str:
    """Hash named contents; a dash if there are none."""
    found = [name.encode() + b"\0" + hashlib.sha256(content).digest() for name, content in parts]
    return hashlib.sha256(b"".join(found)).hexdigest()[:12] if found else NONE


def without_measured(content: Any) -> Any:
    """Remove the values of parsed JSON that are measured again each time."""
    if isinstance(content, dict):
        return {key: without_measured(value) for key, value in content.items() if not MEASURED.fullmatch(key)}
    return [without_measured(value) for value in content] if isinstance(content, list) else content


def normal_text(raw: bytes) -> bytes:
    """Remove the values of an answer, JSON or text, that are measured again each time."""
    text = raw.decode().replace("compiling, first run only\n", "")
    try:
        return json.dumps(without_measured(json.loads(text)), ensure_ascii=False).encode()
    except ValueError:
        return re.sub(r"\b[\d.,]+ (s|seconds?|ms|MB|GB)\b", r"# \1", text).encode()


def normal_results(raw: bytes) -> bytes:
    """Remove the columns of a study's table that are measured again each time."""
    rows = [
        {key: value for key, value in row.items() if not MEASURED.fullmatch(key)}
        for row in csv.DictReader(io.StringIO(raw.decode()))
    ]
    return json.dumps(rows).encode()


def normal_study_page(raw: bytes) -> bytes:
    """Remove numbers and drawings, which may show times, from a study's page; its words stay."""
    words = re.sub(r"<svg.*?</svg>", "", raw.decode(), flags=re.DOTALL)
    return re.sub(r"(&lt;&nbsp;)?\d[\d.,]*", "#", words).encode()


def columns_of(folder: Path) -> tuple[str, ...]:
    """Hash the folder of a run: written, tables, report, page."""
    found: dict[str, list[tuple[str, bytes]]] = {"written": [], "tables": [], "report": [], "page": []}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        raw = path.read_bytes()
        of_study = (path.parent / "study.toml").exists()
        if path.parent.name == "internal":
            if path.suffix == ".csv":
                found["tables"].append((name, raw))
            elif path.suffix == ".json":
                found["report"].append((name, normal_text(raw)))
            else:
                found["page"].append((name, raw))
        elif of_study and path.name == "results.csv":
            found["tables"].append((name, normal_results(raw)))
        elif of_study and path.name == "report.html":
            found["page"].append((name, normal_study_page(raw)))
        elif of_study or path.parent.name == "runs" or MEASURED.fullmatch(path.name):
            continue  # the same numbers once more, with the times
        else:
            found["written"].append((name, raw))
    return tuple(short_hash(parts) for parts in found.values())


def fingerprint(number: int, name: str, commands: str, work: Path) -> Line:
    """Do a run and hash its output and files."""
    folder = work / name
    folder.mkdir()
    environment = {**os.environ, "PYTHONUTF8": "1", "COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}
    codes, out, err = [], [], []
    for command in commands.split("; "):
        line, _, stdin = command.replace("OUT/", f"{name}/").partition(" < ")
        done = subprocess.run(
            [sys.executable, "-m", "setveil", *shlex.split(line)],
            cwd=work,
            env=environment,
            input=(work / stdin).read_bytes() if stdin else b"",
            capture_output=True,
            check=False,
        )
        codes.append(str(done.returncode))
        out.append((line, normal_text(done.stdout)))
        if done.returncode:
            err.append((line, normal_text(done.stderr)))
    return Line((str(number), name, "+".join(codes), *columns_of(folder), short_hash(out), short_hash(err)))


def write_small(work: Path) -> None:
    """Write small rows in several formats, and the other files that the commands name."""
    rng = Random(1)  # noqa: S311
    labels = [str(101 + i) for i in range(12)]
    weights = [1 / (i + 1) for i in range(12)]
    rows = [sorted(set(rng.choices(labels, weights, k=rng.randint(1, 5)))) for _ in range(90)]
    rows += [[label] for label in labels for _ in range(3)]
    fimi = "".join(" ".join(row) + "\n" for row in rows)
    tree = [
        f"{label};{'low' if i < 3 else 'mid' if i < 7 else 'high'};{'small' if i < 7 else 'large'};all\n"
        for i, label in enumerate(labels)
    ]
    protected = [labels[:3], labels[3:5], labels[5:8], labels[8:10]]
    groceries = (work / "groceries.csv").read_text()
    texts = {
        "small.dat": fimi,
        "more.dat": fimi + "101 113\n114 115\n",
        "small.txt": "".join("".join(f"{label} -1 " for label in row) + "-2\n" for row in rows),
        "small.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
        "small_long.csv": "order_id,item\n"
        + "".join(f"{i},{label}\n" for i, row in enumerate(rows) for label in row),
        "tree.csv": "".join(tree),
        "broken.csv": "".join(tree[:6]) + "105;other;small;all\n108;high\n",
        "broken.jsonl": '["a", "b"]\n["a"\n',
        "keep.csv": "whole milk\nsoda\n",
        "rare.csv": "baby food\n",
        "weights.csv": "yogurt,10\nsausage,0.5\n",
        "private.txt": "109\n111\n",
        "privacy.txt": "".join(" ".join(itemset) + "\n" for itemset in protected),
        "privacy.json": json.dumps({"privacy": protected}),
        "utility.json": json.dumps({"utility": [labels[:3], labels[3:7], labels[7:]]}),
        "queries.dat": "1\n2 3\n5 6\n4\n",
        "fewer.csv": "".join(line + "\n" for line in groceries.splitlines()[1:]),
        **{name: "\n".join(line.strip() for line in text.splitlines()) for name, text in STUDIES.items()},
    }
    for name, text in texts.items():
        (work / name).write_text(text)


def do_runs(data: Path) -> list[Line]:
    """Do all runs in a folder with the data, and print a line for each."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for name in DATA:
            shutil.copyfile(data / name, work / name)
        write_small(work)
        convert = [sys.executable, "-m", "setveil", "convert", "small.dat", "small.parquet"]
        subprocess.run(convert, cwd=work, check=True, capture_output=True)
        lines = [Line(COLUMNS)]
        print(lines[0], flush=True)
        for number, (name, commands) in enumerate(RUNS, 1):
            lines.append(fingerprint(number, name, commands, work))
            print(lines[-1], flush=True)
    total = short_hash((line.cells[1], " ".join(line.cells).encode()) for line in lines)
    lines.append(Line(("all", total, NONE)))
    print(lines[-1], flush=True)
    return lines


def differences(lines: Sequence[Line], earlier: Sequence[Line]) -> list[str]:
    """List what differs from earlier lines, run by run and column by column."""
    before = {line.cells[1]: line.cells for line in earlier[:-1]}
    now = {line.cells[1]: line.cells for line in lines[:-1]}
    found = []
    for name in now | before:
        if name not in before or name not in now:
            found.append(f"{name}: only {'now' if name in now else 'before'}")
            continue
        found += [
            f"{name}: {column} was {was}, is {is_}"
            for column, was, is_ in zip(COLUMNS[2:], before[name][2:], now[name][2:], strict=True)
            if was != is_
        ]
    return found


def main() -> None:
    """Print the lines, keep them, and compare them with earlier ones."""
    options = argparse.ArgumentParser(description="Fingerprints of forty runs of the command line.")
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    options.add_argument("--data", type=Path, default=Path(os.environ.get("SETVEIL_DATA", folder)))
    options.add_argument("--out", type=Path, help="file to write the lines to")
    options.add_argument(
        "--against", type=Path, help="such a file: tell what differs, exit code 1 if anything"
    )
    arguments = options.parse_args()
    if not arguments.data.is_dir():
        sys.exit(f"There is no data folder {arguments.data}; name one with --data or SETVEIL_DATA.")
    earlier = arguments.against.read_text().splitlines() if arguments.against else None
    lines = do_runs(arguments.data)
    if arguments.out:
        arguments.out.write_text("".join(f"{line}\n" for line in lines))
    if earlier is not None:
        found = differences(lines, [Line.parse(line) for line in earlier])
        print("\n".join(["", *found] if found else ["", "Nothing differs."]))
        sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
