"""The answers of check.py and check.html agree with setveil, and with counting by hand."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import setveil as sv
from checker_cases import Case, case_of, cases, check_module, checked, edited
from cli_helpers import refused, setveil, write
from setveil.releases.recipients import AUDIT, CHECK, FILES, PAGE
from strategies import many
from studio_browser import lacking_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SCRIPT = re.findall(r"<script>(.*?)</script>", PAGE.read_text("utf-8"), re.DOTALL)
RUN = """(cases) => cases.map(([about, data, counts]) => {
  try { return [0, recount(about, data, counts, null, null)]; }
  catch (error) { return [error instanceof Stop ? error.code : 4, String(error)]; }
})"""


@pytest.fixture(scope="module")
def drawn(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[Case, int, Any]]:
    """Random releases, and what check.py says of each; half as many where no exhaustive tests run."""
    n = many(500 if request.config.option.markexpr else 1000)
    module = check_module()
    folder = tmp_path_factory.mktemp("checker") / "release"
    return [(case, *checked(module, folder)) for folder, case in cases(n, 34, folder)]


def test_it_agrees_with_the_verifier_and_with_brute_force(drawn: list[tuple[Case, int, Any]]) -> None:
    for case, code, answer in drawn:
        shown = (case.about, case.data, case.counts, answer)
        assert code == case.code, shown
        if case.verdict is None or case.brute is None:
            assert code in (2, 4), shown
            continue
        assert answer["holds"] == case.verdict["holds"] == (code == 0), shown
        assert answer["greatest_k"] == case.verdict["greatest_k"] == case.brute[1], shown
        counts = case.verdict.get("counts", {"violations": 0})
        assert len(answer["counts"]) == counts["violations"], shown
        if answer["violations"] is None:
            assert answer["m"] == "inf", shown
            assert case.brute[0] > 0, shown
        else:
            assert answer["violations"] == case.verdict["violations"] == case.brute[0], shown
        supports = sorted(entry["support"] for entry in answer["first"])
        if answer["m"] != "inf" and len(supports) < 10:
            assert supports == sorted(entry["support"] for entry in case.verdict["first"]), shown


def test_the_cases_are_of_all_kinds(drawn: list[tuple[Case, int, Any]]) -> None:
    formats = Counter(case.about["format"] for case, _, _ in drawn)
    assert {*formats} >= {"basket", "long", "jsonl", "spmf", "wide", "onehot", "table", "fimi"}
    assert {case.about["recoding"] for case, _, _ in drawn} == {"global", "local", "table", "table-cut"}
    assert {code for _, code, _ in drawn} >= {0, 1, 4}
    assert sum(code == 1 for _, code, _ in drawn) >= len(drawn) // 10
    assert sum(bool(answer["counts"]) for _, code, answer in drawn if code == 1) >= len(drawn) // 40
    assert any(case.counts is None for case, code, _ in drawn if code == 0)


def alike(code: int, mine: Any, theirs: Any) -> bool:
    """Return whether two programs give the same answer, except for the wording of errors."""
    if code > 1:
        return True
    parts = ("model", "k", "m", "holds", "violations", "greatest_k")
    return all(mine[part] == theirs[part] for part in parts) and (
        len(mine["counts"]) == len(theirs["counts"])
        and sorted(entry["support"] for entry in mine["first"])
        == sorted(entry["support"] for entry in theirs["first"])
    )


def compare(answers: list[Any], drawn: list[tuple[Case, int, Any]]) -> None:
    assert len(answers) == len(drawn)
    for (got, found), (case, code, answer) in zip(answers, drawn, strict=True):
        got_code = got if got else int(not found["holds"])
        assert got_code == code, (case.about, case.data, case.counts, found, answer)
        assert alike(code, found, answer), (case.about, case.data, case.counts, found, answer)


def texts(drawn: list[tuple[Case, int, Any]]) -> list[Any]:
    return [[case.about, case.data, case.counts] for case, _, _ in drawn]


def in_node(drawn: list[tuple[Case, int, Any]], tmp_path: Path) -> list[Any]:
    """Answer by the function of the page, run by node."""
    program = f"{SCRIPT[0]}\nconst input = JSON.parse(require('fs').readFileSync(0, 'utf-8'));\n"
    program += f"console.log(JSON.stringify(({RUN})(input)));"
    file = write(tmp_path / "check.js", program)
    done = subprocess.run(
        ["node", str(file)], input=json.dumps(texts(drawn)), capture_output=True, encoding="utf-8", check=True
    )
    found: list[Any] = json.loads(done.stdout)
    return found


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_the_function_of_the_page_says_the_same(drawn: list[tuple[Case, int, Any]], tmp_path: Path) -> None:
    compare(in_node(drawn, tmp_path), drawn)


@pytest.fixture(scope="module")
def bytes_changed(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, Case, int, Any]]:
    """Releases with other bytes, and the answer of check.py to each."""
    module = check_module()
    folder = tmp_path_factory.mktemp("bytes") / "release"
    return [(name, case, *checked(module, folder)) for name, folder, case in edited(many(24), 5, folder)]


def test_other_bytes_are_never_accepted(bytes_changed: list[tuple[str, Case, int, Any]]) -> None:
    renamed = ("counts.csv, a zero before", "counts.csv, a sign")  # items of counts, and those of SPMF
    wrong = [
        (name, case.code, code, case.data[:200], answer)
        for name, case, code, answer in bytes_changed
        if code != case.code or not (code or name.startswith("spmf, data") or name.endswith(renamed))
    ]
    assert not wrong, (len(wrong), len(bytes_changed), wrong[:8])


LONG = {
    "as it was written": ["0,milk", "0,tea", "1,milk", "1,tea"],
    "another order of items": ["0,milk", "0,tea", "1,tea", "1,milk"],
    "another order of rows": ["1,milk", "1,tea", "0,milk", "0,tea"],
    "rows in each other": ["0,milk", "1,milk", "0,tea", "1,tea"],
}


@pytest.mark.parametrize("name", LONG)
def test_the_order_of_a_long_table_tells_no_rows_apart(name: str, tmp_path: Path) -> None:
    sv.anonymize([["tea", "milk"]] * 2, k=2, m=2, algorithm="aa").write(tmp_path / "r", format="long")
    (file,) = (tmp_path / "r" / "published").glob("data.*")
    header = file.read_text("utf-8").splitlines()[0]
    assert file.read_text("utf-8").splitlines()[1:] == LONG["as it was written"]
    write(file, "".join(f"{line}\n" for line in [header, *LONG[name]]))
    case = case_of(tmp_path / "r")
    answer = checked(check_module(), tmp_path / "r")
    assert case.code == answer[0] == (0 if name == "as it was written" else 4), answer
    if shutil.which("node"):
        compare(in_node([(case, *answer)], tmp_path), [(case, *answer)])


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_the_page_says_the_same_of_other_bytes(
    bytes_changed: list[tuple[str, Case, int, Any]], tmp_path: Path
) -> None:
    compare(in_node([one[1:] for one in bytes_changed], tmp_path), [one[1:] for one in bytes_changed])


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small") / "release"
    rows = [["tea", "milk"], ["tea", "milk"], ["tea"], ["coffee"], ["milk", "tea"], ["coffee", "milk"]]
    tree = sv.Hierarchy.from_paths([["tea", "hot", "*"], ["coffee", "hot", "*"], ["milk", "*"]])
    sv.anonymize(rows, sv.KmAnonymity(k=2, m=2), hierarchy=tree).write(folder, checker=True)
    return folder


@pytest.mark.browser
@pytest.mark.skipif(bool(lacking_browser()), reason=lacking_browser())
def test_the_page_in_a_browser(chrome: Browser, drawn: list[tuple[Case, int, Any]], small: Path) -> None:
    page = chrome.new_page()
    requests: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    published = small / "published"
    page.goto((published / PAGE.name).as_uri())
    compare(page.evaluate(RUN, texts(drawn)), drawn)
    page.set_input_files(
        "#files", [str(published / name) for name in ("about.json", "data.csv", "counts.csv")]
    )
    page.wait_for_selector("#answer.yes h2")
    assert page.inner_text("#answer h2") == "Yes: km-anonymity, k = 2, m = 2"
    page.fill("#k", "4")
    page.keyboard.press("Tab")
    page.wait_for_selector("#answer.no h2")
    assert "below k = 4" in page.inner_text("#answer")
    page.set_input_files("#files", [str(published / "data.csv")])
    page.wait_for_selector("text=about.json is not among the files")
    assert requests == [(published / PAGE.name).as_uri()]
    assert not wrong
    page.close()


# --- the two programs


def branches(function: ast.AST) -> int:
    """Count the places where a function branches."""
    kinds = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.comprehension)
    nodes = [*ast.walk(function)]
    either = sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
    tests = sum(len(node.ifs) for node in nodes if isinstance(node, ast.comprehension))
    return sum(isinstance(node, kinds) for node in nodes) + either + tests


@pytest.mark.parametrize("program", [CHECK, AUDIT], ids=lambda path: path.name)
def test_the_programs_are_plain(program: Path) -> None:
    """At most 10 branches a function, as strangers are to read them."""
    tree = ast.parse(program.read_text("utf-8"), feature_version=(3, 9))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    many_ways = {node.name: branches(node) for node in functions if branches(node) > 10}
    assert not many_ways
    assert all(ast.get_docstring(node) for node in functions if not node.name.startswith("__"))


def test_the_program_is_of_the_standard_library_alone() -> None:
    imported = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(CHECK.read_text("utf-8"), feature_version=(3, 9)))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        )
    }
    assert imported <= set(sys.stdlib_module_names)
    assert not imported & {"urllib", "http", "socket", "subprocess", "ctypes"}


def test_the_package_does_not_import_it() -> None:
    for file in CHECK.parents[1].rglob("*.py"):
        if file != CHECK:
            assert not re.search(
                r"^\s*(import check\b|(import|from) \S*recipients\.check\b)",
                file.read_text("utf-8"),
                re.MULTILINE,
            )


def test_the_page_loads_nothing() -> None:
    page = PAGE.read_text("utf-8")
    assert "default-src 'none'" in page
    assert len(SCRIPT) == 1
    assert not re.search(r"\b(src|href)\s*=|fetch\(|XMLHttp|localStorage|sessionStorage|import\(|url\(", page)


def run(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", *map(str, words)], capture_output=True, encoding="utf-8", cwd=cwd, check=False
    )


def test_it_runs_where_it_lies(small: Path) -> None:
    program = small / "published" / "check.py"
    done = run(program)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Yes: km-anonymity (k=2, m=2); in fewer than k rows: 0; fewest rows: 3\n"
    answer = run(program, small, "--k", "4", "--m", "inf", "--json")
    assert answer.returncode == 1
    assert json.loads(answer.stdout)["violations"] is None
    assert run(program, small, "--k", "1").returncode == 2
    assert run(program, small, "--m", "x").returncode == 2
    assert run(program, small / "internal").returncode == 4
    for word in ("--help", "-h"):
        assert "exit code" in run(program, word).stdout.lower()


GARBAGE = {
    "empty": b"",
    "binary": bytes(range(256)) * 8,
    "a zero": b"\0",
    "UTF-16": "tea,milk\n".encode("utf-16"),
    "an open quote": b'"tea,milk\n',
    "null": b"null",
    "a list": b"[]",
    "an object": b"{}",
    "deep": b"[" * 100_000,
    "a number": b"1e999",
    "text": "öl,\ud7ff\n".encode(),
}


@pytest.mark.parametrize("name", ["about.json", "data.csv", "counts.csv"])
@pytest.mark.parametrize("content", [*GARBAGE.values()], ids=[*GARBAGE])
def test_garbage_is_no_verdict(small: Path, tmp_path: Path, name: str, content: bytes) -> None:
    folder = tmp_path / "release"
    shutil.copytree(small / "published", folder)
    (folder / name).write_bytes(content)
    code, answer = checked(check_module(), folder)
    assert code in (1, 4)
    assert "Traceback" not in str(answer)


def test_files_that_are_cut_off_or_missing(small: Path, tmp_path: Path) -> None:
    module = check_module()
    for name in ("about.json", "data.csv", "counts.csv"):
        whole = (small / "published" / name).read_bytes()
        for end in range(len(whole) - 1):
            folder = tmp_path / "release"
            shutil.copytree(small / "published", folder, dirs_exist_ok=True)
            (folder / name).write_bytes(whole[:end])
            code, _ = checked(module, folder)
            assert code == 4 or (code == 1 and name != "about.json"), (name, end, code)
        (folder / name).unlink()
        assert checked(module, folder)[0] == 4, name
    assert checked(module, tmp_path / "nowhere")[0] == 4


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("rows",), "6"), (("rows",), None), (("rows",), -1), (("empty_rows",), 5), (("labels",), None),
        (("labels",), {"hot": "tea"}), (("labels",), {"hot": [1]}), (("labels",), {"hot": []}),
        (("recoding",), 7),
        (("counts",), {}), (("counts",), True), (("counts",), []), (("counts", "least"), "2"),
        (("counts", "least"), None), (("domain",), "many"), (("format",), ["basket"]), (("separator",), ""),
        (("separator",), 5), (("file",), 5), (("file",), "nothing.csv"), (("guarantee",), []),
        (("guarantee", "k"), "2"), (("guarantee", "k"), 2.5), (("guarantee", "m"), 0),
        (("guarantee", "m"), {}),
    ],
)  # fmt: skip
def test_an_about_json_that_cannot_be(small: Path, tmp_path: Path, path: tuple[str, ...], value: Any) -> None:
    folder = tmp_path / "release"
    shutil.copytree(small / "published", folder)
    about = json.loads((folder / "about.json").read_text("utf-8"))
    part = about
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    (folder / "about.json").write_text(json.dumps(about), "utf-8")
    code, answer = checked(check_module(), folder)
    assert code in (1, 2, 4)
    assert "Traceback" not in str(answer)


@pytest.mark.parametrize("name", ["../data.csv", "..", "", "/etc/passwd", "a\\b.csv"])
def test_it_reads_no_file_elsewhere(small: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "release"
    shutil.copytree(small / "published", folder)
    shutil.copy(folder / "data.csv", tmp_path)
    about = json.loads((folder / "about.json").read_text("utf-8"))
    (folder / "about.json").write_text(json.dumps({**about, "file": name}), "utf-8")
    code, answer = checked(check_module(), folder)
    assert code == 4
    assert "elsewhere" in str(answer)


def test_a_guarantee_without_m_is_none(small: Path, tmp_path: Path) -> None:
    """As `verify` has it: nothing says how much someone may know."""
    folder = tmp_path / "release"
    shutil.copytree(small / "published", folder)
    about = json.loads((folder / "about.json").read_text("utf-8"))
    assert about["guarantee"].pop("m") == 2
    (folder / "about.json").write_text(json.dumps(about), "utf-8")
    code, answer = checked(check_module(), folder)
    assert code == 2
    assert "m = None cannot be" in str(answer)
    assert checked(check_module(), folder, "--m", "2")[0] == 0


@pytest.mark.parametrize("model", ["km-anonymity", "k-anonymity"])
@pytest.mark.parametrize("form", ["long", "onehot"])
def test_rows_that_are_not_in_the_file_take_no_memory(
    small: Path, tmp_path: Path, form: str, model: str
) -> None:
    """These formats do not show rows without items: about.json could name any number of them."""
    about = json.loads((small / "published" / "about.json").read_text("utf-8"))
    number = 10**15
    rows = ["1,tea", "2,tea", "3,milk", "4,milk"] if form == "long" else []
    columns = {"id_column": "row", "item_column": "item"} if form == "long" else {}
    about |= {
        "format": form,
        "separator": ",",
        "rows": number,
        "empty_rows": number - len(rows),
        "labels": {},
    }
    del about["counts"]
    about["guarantee"]["model"] = model
    folder = tmp_path / "release"
    folder.mkdir()
    write(folder / about["file"], "".join(f"{line}\n" for line in ["row,item", *rows] if rows))
    for wrong, expected in (({}, 0), ({"empty_rows": 3}, 4), ({"rows": number + 0.5}, 4), ({"rows": 1}, 4)):
        write(folder / "about.json", json.dumps(about | columns | wrong))
        code, answer = checked(check_module(), folder)
        assert code == expected, answer
        if not expected:
            fewest = 2 if rows else number if model == "k-anonymity" else None
            assert (answer["violations"], answer["greatest_k"]) == (0, fewest)


# --- adding the checker to a release


def test_anonymize_puts_it_beside_the_data(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.csv", "tea,milk\ntea,milk\ntea\nmilk\n")
    out = tmp_path / "out"
    words = ["anonymize", rows, "--format", "basket", "--k", "2", "--m", "2", "--out", out]
    setveil(*words, cwd=tmp_path).ok()
    plain = {file.name: file.read_bytes() for file in (out / "published").iterdir()}
    assert not {*FILES} & {*plain}
    setveil(*words, "--checker", "--force", cwd=tmp_path).ok()
    beside = {file.name: file.read_bytes() for file in (out / "published").iterdir()}
    assert beside.pop("check.py") == CHECK.read_bytes()
    assert beside.pop("check.html") == PAGE.read_bytes()
    assert beside == plain
    setveil(*words, "--force", cwd=tmp_path).ok()  # a folder with the two is one of setveil's own
    assert {file.name for file in (out / "published").iterdir()} == {*plain}


def test_the_command_puts_it_beside_a_release(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(small, folder)
    for name in FILES:
        (folder / "published" / name).unlink()
    done = setveil("checker", folder).ok()
    assert [Path(line).name for line in done.out.splitlines()] == [*FILES]
    assert run(folder / "published" / "check.py").returncode == 0
    setveil("checker", folder / "published").ok()
    assert setveil("checker", "--print").ok().out == CHECK.read_text("utf-8")
    assert [file.name for file in sv.checker(folder)] == [*FILES]
    assert sv.verify(folder, k=2, m=2).holds


def test_what_it_does_not_check_is_said(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.csv", "tea,milk\ntea,milk\ntea\nmilk\n")
    words = ["anonymize", rows, "--format", "basket", "--k", "2", "--m", "2", "--out", tmp_path / "out"]
    done = setveil(*words, "--output-format", "parquet", "--checker", cwd=tmp_path)
    refused(done, 2, "Parquet", "--output-format jsonl")
    assert not (tmp_path / "out").exists()
    setveil(*words, "--output-format", "parquet", cwd=tmp_path).ok()
    refused(setveil("checker", tmp_path / "out"), 2, "reads one text file")
    assert checked(check_module(), tmp_path / "out")[0] == 2
    refused(setveil("checker"), 2, "Name the folder")
    refused(setveil("checker", tmp_path, "--print"), 2, "not both")
    refused(setveil("checker", tmp_path / "nowhere"), 4, "does not exist")
    refused(setveil("checker", tmp_path), 4, "folder without published data")
    (tmp_path / "alone").mkdir()
    write(tmp_path / "alone" / "data.csv", "tea\n")
    refused(setveil("checker", tmp_path / "alone"), 4, "no about.json")
    with pytest.raises(sv.RequestError, match="must be a path"):
        sv.checker(5)  # type: ignore[arg-type]
    promise = sv.Coherence(h=0.5, k=2, p=1, private=["milk"])
    release = sv.anonymize([["tea"], ["tea"], ["milk", "tea"], ["tea"]], promise)
    with pytest.raises(sv.RequestError, match="does not support this release, which guarantees coherence"):
        release.write(tmp_path / "c", checker=True)
    assert not (tmp_path / "c").exists()
