"""Projects that another user made, or changed by hand: no file in them is trusted."""

from __future__ import annotations

import builtins
import io
import json
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import studio_shop
from cli_helpers import posix_only, setveil
from setveil.base.errors import DataError
from setveil.studio import commands, places
from setveil.studio.places import MADE, UNDER_WAY
from setveil.studio.projects import Project, Projects
from studio_browser import serve
from studio_client import Client

PAGES = (
    "data", "data/file", "data/reading", "data/pages", "hierarchy", "hierarchy/tree", "promise",
    "promise/front", "promise/words?k=5&m=2", "run", "release", "release?run=one", "release/report",
    "release/cut?run=one", "compare", "compare?first=one&second=two", "compare/results?study=study-1",
)  # fmt: skip
DEEP = {
    mark: left * 100_000 + right * 100_000
    for mark, left, right in (("list", "[", "]"), ("table", '{"a":', "}"))
}
JSON: dict[str, str] = {
    "nothing": "", "no json": "{", "a number": "7", "a list": "[]", "a table": "{}", "null": "null",
    "a list in a list": "[[], {}, 7]", "deep": "[" * 1000 + "]" * 1000, "deeper": DEEP["list"],
    "deep tables": '{"a":' * 1000 + "7" + "}" * 1000, "digits": "9" * 5000, "no number": "NaN",
    "digits in a table": '{"out": ' + "9" * 5000 + "}", "no text": '{"key": "\\ud800", "found": "\\ud800"}',
}  # fmt: skip


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path / "setveil")


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """Give a folder next to the projects, and check that nothing in it changes."""
    folder = tmp_path / "home"
    (folder / "internal").mkdir(parents=True)
    for name in (".bashrc.local", ".bashrc", "keep", "internal/report.json", "study.toml", "project.toml"):
        (folder / name).write_text('{"mine": 1}\n')

    def content() -> dict[str, object]:
        return {str(path): path.is_file() and path.read_bytes() for path in folder.rglob("*")}

    before = content()
    yield folder
    assert content() == before


@pytest.fixture
def project(client: Client) -> Project:
    project = client.studio.projects.create("Shop")
    studio_shop.fill(project, 60)
    project.save(k=3, m="2")
    return project


def statuses(client: Client, project: Project, paths: Sequence[str] = PAGES) -> list[int]:
    """Request the first page, and every page or the named ones."""
    answers = [client.get("p", project.name, page) for page in paths]
    return [answer.status_code for answer in [client.get(""), *answers]]


def readers(client: Client, project: Project, place: Path) -> list[str]:
    """Name the pages that open a file of this name: its contents do not matter to other pages."""
    opened: set[str] = set()

    def noting(of: Any, name: str) -> None:
        original = getattr(of, name)

        def noted(file: Any, *args: Any, **more: Any) -> Any:
            opened.add("" if isinstance(file, int) else Path(os.fsdecode(file)).name)
            return original(file, *args, **more)

        noticed.setattr(of, name, noted)

    found = []
    with pytest.MonkeyPatch.context() as noticed:
        for of in (builtins, io, os):
            noting(of, "open")
        for page in PAGES:
            client.studio.jobs._lanes.clear()
            opened.clear()
            client.get("p", project.name, page)
            found += [page] * (place.name in opened)
    return found


# --- written and removed files


@pytest.mark.parametrize(
    "out",
    [
        "HOME/.bashrc", "HOME/keep", "../../home/.bashrc", "PROJECT/runs/../../../home/.bashrc",
        "PROJECT/runs/*", "PROJECT/runs/", "PROJECT/runs/..", "PROJECT/*", "*", "",
        "PROJECT/runs/[!x]", "PROJECT/runs/?",
    ],
)  # fmt: skip
def test_the_note_of_work_under_way_removes_nothing_elsewhere(
    client: Client, project: Project, outside: Path, out: str
) -> None:
    """`~/.bashrc.local` was removed for `out` = `~/x.bashrc` and the like when the start page was shown."""
    for mine in (".mine.csv", ".bashrc.local"):
        (project.folder / mine).write_text("mine")
    project.runs.mkdir()
    (project.runs / ".mine.csv").write_text("mine")
    out = out.replace("HOME", str(outside)).replace("PROJECT", str(project.folder))
    for odd in (out, [out], {"a": out}, 7):
        note = {"kind": "anonymize", "argv": [], "label": "the run", "out": odd, "server": 2**22 + 1}
        (project.folder / UNDER_WAY).write_text(json.dumps(note))
        assert client.get("").status_code == 200
        client.studio.jobs._lanes.clear()
    assert (project.folder / ".mine.csv").read_text() == "mine"
    assert (project.folder / ".bashrc.local").read_text() == "mine"
    assert (project.runs / ".mine.csv").read_text() == "mine"


def test_what_a_killed_run_left_is_removed(client: Client, project: Project) -> None:
    out = project.runs / "2026-01-01-120000"
    left = project.runs / f".{out.name}.abcdefgh"
    left.mkdir(parents=True)
    (left / "rows.csv").write_text("tea\n")
    note = {"kind": "anonymize", "argv": [], "label": "the run", "out": str(out), "server": 2**22 + 1}
    (project.folder / UNDER_WAY).write_text(json.dumps(note))
    assert "the last run ended without a release" in client.get("").text
    assert not left.exists()
    assert not (project.folder / UNDER_WAY).exists()


@posix_only
@pytest.mark.parametrize("name", MADE)
def test_a_link_is_not_followed(client: Client, project: Project, outside: Path, name: str) -> None:
    to = ("folder", "file", "nowhere")[MADE.index(name) % 3]
    place = project.folder / name
    if place.is_file():
        place.unlink()
    place.symlink_to({"folder": outside, "file": outside / ".bashrc", "nowhere": outside / "none"}[to])
    found = client.get("")
    assert found.status_code == 200
    assert f"{name} is a link" in found.text
    assert {*statuses(client, project)[1:]} == {400}
    form = {"run": "internal", "sure": "yes", "k": "3", "name": "tea", "row": "x", "study": "internal"}
    for do in (
        "release/delete",
        "data/keep",
        "run/start",
        "compare/study",
        "release/leave-out",
        "hierarchy/build",
    ):
        assert client.post("p", project.name, do, data=form).status_code == 400
    assert client.post("p", project.name, "data/upload?name=x.csv", content=b"tea\n").status_code == 400
    # Deleting the project removes the link, and not its target.
    title = project.title
    assert client.post("delete", data={"name": project.name, "typed": title}).status_code == 303
    assert not os.path.lexists(place)


@posix_only
@pytest.mark.parametrize(
    "place", ["runs/one", "runs/one/published", "runs/one/internal/report.json", "studies/study-1", "input/x"]
)
def test_a_link_further_in_is_not_followed(
    client: Client, project: Project, outside: Path, place: str
) -> None:
    (project.folder / place).parent.mkdir(parents=True)
    (project.folder / place).symlink_to(outside)
    assert client.get("").status_code == 200
    answer = client.get("p", project.name, "release")
    assert answer.status_code == 400
    assert f"{place} is a link, a pipe or a device" in answer.text
    form = {"run": "one", "sure": "yes"}
    assert client.post("p", project.name, "release/delete", data=form).status_code == 400


@posix_only
@pytest.mark.parametrize("name", [UNDER_WAY, "project.toml", "risk.json", "edits.jsonl"])
def test_a_pipe_is_not_waited_for(client: Client, project: Project, name: str) -> None:
    (project.folder / name).unlink(missing_ok=True)
    os.mkfifo(project.folder / name)
    assert client.get("").status_code == 200
    assert client.get("p", project.name, "data").status_code == 400


def test_deleting_a_project_leaves_what_others_put_in_its_folder(client: Client, project: Project) -> None:
    own = project.folder / "thesis.txt"
    own.write_text("mine")
    (project.folder / "data").mkdir()
    (project.folder / "data" / "rows.csv").write_text("mine")
    client.post("delete", data={"name": project.name, "typed": "Shop"})
    left = sorted(path.name for path in project.folder.iterdir())
    assert left == ["data", "groups.csv", "rows.csv", "thesis.txt"]
    assert client.studio.projects.all() == []


# --- the arguments of commands


@pytest.mark.parametrize(
    "settings",
    [
        'input = "--plot-band=HOME/.bashrc"', 'input = ["-", "--out=HOME"]', 'plot-band = "HOME/.bashrc"',
        'out = "HOME"\nforce = true', 'config = "HOME/keep"', '"plot-band=HOME/.bashrc" = true',
        '"k 5 --out" = "HOME"', "purpose = '--out=HOME'",
        "query = 'DROP TABLE visits'\nconnection = 'postgresql://db/shop'",
    ],
)  # fmt: skip
def test_settings_write_nowhere_else(project: Project, outside: Path, settings: str) -> None:
    project.toml.write_text(settings.replace("HOME", str(outside)) + "\n[studio]\ntitle = 'Shop'\n")
    for name in ("anonymize", "risk"):
        try:
            argv = (
                commands.anonymize(project, "runs/new")
                if name == "anonymize"
                else commands.risk(project, [1])
            )
        except DataError:  # it is no name of an option
            continue
        other = ("--out", "--plot-band", "--trace", "--config", "--force", "--query", "--connection")
        written = [word for word in argv if word.startswith(other)]
        assert written in ([], ["--out"])
        assert "-" not in argv
        assert argv[-1] in {"runs/new", "--json"}


@posix_only
@pytest.mark.parametrize("file", ["/dev/zero", "PIPE", "-", "/dev", "/proc/self/mem", "nowhere\0.csv"])
def test_no_device_is_read_because_settings_name_it(
    client: Client, project: Project, tmp_path: Path, file: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    file = file.replace("PIPE", str(tmp_path / "pipe"))
    project.toml.write_text(f"input = {json.dumps(file)}\n[studio]\nfile = {json.dumps(file)}\n")
    for page in ("data", "data/reading", "promise", "release", "compare"):
        assert client.get("p", project.name, page).status_code in {200, 400, 422}


# --- what pages read


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a project's folder with releases, as it would be handed on."""
    project = Projects(tmp_path_factory.mktemp("made")).create("Shop")
    studio_shop.fill(project, 60)
    project.save(k=3, m="2")
    for name in ("one", "two"):
        setveil("anonymize", "--config", project.toml, "--out", project.runs / name, "--algorithm", "aa").ok()
    return project.folder


FILES = (
    UNDER_WAY, "risk.json", "edits.jsonl", "fronts/FRONT", "runs/one/internal/report.json",
    "runs/one/internal/recoding.csv", "runs/one/published/counts.csv", "runs/one/published/about.json",
    "studies/recommended.json", "studies/study-1/plan.json", "studies/study-1/study.toml", "project.toml",
)  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize("file", FILES)
def test_no_file_of_a_project_breaks_a_page(client: Client, released: Path, file: str) -> None:
    from shutil import copytree

    from setveil.studio import fronts

    folder = client.studio.projects.root / "shop"
    copytree(released, folder)
    text = (folder / "project.toml").read_text().replace(str(released), str(folder))
    (folder / "project.toml").write_text(text)
    project = client.studio.projects.find("shop")
    place = folder / file.replace("FRONT", fronts._base(project).with_suffix(".few.json").name)
    place.parent.mkdir(parents=True, exist_ok=True)
    if "study-1" in file:
        (folder / "studies" / "study-1" / "study.toml").write_text("")
    good = place.read_text() if place.is_file() else "{}"
    place.write_text(good)
    paths = readers(client, project, place)
    assert paths or place.name in {"risk.json", "study.toml"}  # read when something is sent, or not at all
    for content in [*JSON.values(), *changed(good)]:
        place.write_text(content)
        found = statuses(client, project, paths if content else PAGES)
        assert found[0] == 200
        assert max(found) < 500, content[:200]
        client.studio.jobs._lanes.clear()


def changed(text: str) -> list[str]:
    """Change a file of JSON here and there: each part of the record is once another kind of thing."""
    try:
        found = json.loads(text)
    except ValueError:
        return [text[: len(text) // 2], text.replace(",", ""), text + "\0", "\ufeff" + text, '"' * 200_000]
    if not isinstance(found, dict):
        return []
    other: list[Any] = [None, "x", [], {}, [{}], -1, True, 1e308]
    return [
        json.dumps({**found, name: odd})
        for at, name in enumerate(found)
        for odd in (other[at % len(other)], other[(at + 3) % len(other)])
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "text",
    [
        "k = " + "9" * 5000, "k = 0x" + "f" * 5000, "k = [" + "[" * 1000 + "]" * 1001, "k = " + "[" * 100_000,
        "k = {a = 1}", "[k]\na = 1", "[[k]]\na = 1", "k = [[1]]", "studio = 5", "[studio]\nkept = 5",
        "[studio]\nkept = [5]", "[studio]\nsize = 'x'\nmtime_ns = 1", "[studio]\ntitle = []",
        "[studio]\nsensitive = 'x'", "[studio]\nsha256 = 7", "k = nan\nm = inf", "k = true\nm = [1]",
        "model = 'none'", "hierarchy = 7", "input = 7", "input = [7]", "input = 'a\\u0000b'",
        "\0", "k = 5\n= 7",
        "[studio]\nfile = 7", "[studio]\ntour = 'x'", "k = 1979-05-27", "[studio]\nchosen = []", "qi = 5",
        "time-limit = inf", "time-limit = 'x'", "rho = 5\nsensitive = 3", "max-suppressed = []",
    ],
    ids=lambda text: repr(text[:30]),
)  # fmt: skip
def test_no_settings_break_a_page(client: Client, project: Project, text: str) -> None:
    project.toml.write_text(text)
    found = statuses(client, project)
    assert found[0] == 200
    assert max(found) < 500
    form = {"k": "3", "m": "2", "title": "x", "row": "x", "keep": "yes", "run": "one"}
    for do in ("data/keep", "promise", "compare/choose", "data/again", "tour", "release/keep"):
        assert client.post("p", project.name, do, data=form).status_code < 500


def test_settings_outlive_being_saved(project: Project) -> None:
    """`m = inf` was written as `Infinity`, which is no TOML."""
    project.toml.write_text("m = inf\nk = 5\ndate = 2026-01-02\ngap = 1e-7\nsuppress = false\n")
    project.save(purpose="test")
    found = project.settings()
    assert (found["m"], found["k"], found["gap"]) == (float("inf"), 5, 1e-7)
    assert (str(found["date"]), found["suppress"]) == ("2026-01-02", False)


def test_settings_may_begin_with_the_mark_that_an_editor_puts_there(client: Client, project: Project) -> None:
    before = project.settings()
    project.toml.write_text("\ufeff" + project.toml.read_text("utf-8"), "utf-8")
    assert project.settings() == before
    for page in ("data", "hierarchy", "promise", "run", "release"):
        assert client.get("p", project.name, page).status_code == 200


# --- whose folders


@posix_only
def test_folders_of_others_are_no_projects_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    projects = Projects(tmp_path)
    for name in ("mine", "theirs", "named"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "project.toml").write_text("")
    monkeypatch.setattr(places, "is_ours", lambda folder: folder.name == "mine")
    assert [one.name for one in projects.all()] == ["mine"]
    projects.open(tmp_path / "named")
    assert [one.name for one in projects.all()] == ["mine", "named"]


@posix_only
@pytest.mark.parametrize(
    ("mode", "parent", "said"),
    [(0o755, 0o755, "everyone"), (0o711, 0o755, "everyone"), (0o700, 0o755, ""), (0o777, 0o700, "")],
)
def test_an_open_folder_is_said(tmp_path: Path, mode: int, parent: int, said: str) -> None:
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder.name.startswith(("test_", "popen-", "pytest-")):
            folder.chmod(0o755)
    folder = tmp_path / "all" / "shop"
    folder.mkdir(parents=True)
    folder.chmod(mode)
    folder.parent.chmod(parent)
    assert places.open_to_others(folder).startswith(said)
    assert bool(places.open_to_others(folder)) == bool(said)


@posix_only
def test_what_the_studio_writes_is_its_owners_alone(tmp_path: Path) -> None:
    """In a folder that others can read, whatever the umask is."""
    import httpx

    folder = tmp_path / "shop"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    server = serve(tmp_path, "--project", str(folder), by=("sh", "-c", 'umask 000; exec "$@"', "sh"))
    try:
        origin = server.origin
        sent = {"origin": origin, "sec-fetch-site": "same-origin"}
        with httpx.Client(base_url=origin, headers=sent, timeout=120) as browser:
            go = browser.post("/enter", content=server.first.partition("#")[2])
            at = f"{go.json()['go']}p/shop"
            browser.headers["cookie"] = go.headers["set-cookie"].partition(";")[0]
            rows = "".join(",".join(row) + "\n" for row in studio_shop.rows(60))
            assert browser.post(f"{at}/data/upload?name=rows.csv", content=rows.encode()).status_code == 200
            way = json.dumps({"format": "basket"})
            assert browser.post(f"{at}/data/read", data={"way": way}).status_code == 303
            assert browser.post(f"{at}/data/keep", data={"sensitive": "tea"}).status_code == 303
            groups = {"file": ("groups.csv", studio_shop.hierarchy().encode())}
            assert browser.post(f"{at}/hierarchy/upload", files=groups).status_code == 303
            edit = {"edit": {"do": "rename", "node": "drinks", "name": "to drink"}, "version": ""}
            assert browser.post(f"{at}/hierarchy/edit", json=edit).status_code == 200
            promise = {"k": "3", "m": "2", "keep": "milk", "left_out": "any"}
            assert browser.post(f"{at}/promise", data=promise).status_code == 303
    finally:
        server.stop()
    made = [path for path in folder.rglob("*") if path.name != ".DS_Store"]
    assert {"project.toml", "edits.jsonl", "hierarchy.csv", "rows.csv", "keep.csv"} <= {
        path.name for path in made
    }
    open_to_others = [str(path) for path in made if stat.S_IMODE(path.stat().st_mode) & 0o077]
    assert open_to_others == []
