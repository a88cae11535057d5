"""Information for recipients, officers and outsiders, on the page Release and in its files."""

from __future__ import annotations

import html
import json
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from cli_helpers import setveil
from setveil.report.evidence.questions import QUESTIONS
from setveil.report.evidence.standards import EU, questions_of
from setveil.studio.jobs import Job
from setveil.studio.projects import Project
from studio_browser import Screen, expect, framed, looks
from studio_client import Client
from test_studio_kinds import chunks, classes, groups, rows, table


def local(project: Project, folder: Path) -> None:
    """An item may be published under several labels."""
    rows(project, folder)
    project.save(algorithm="lra", hierarchy=None)


def facts(project: Project, folder: Path) -> None:
    rows(project, folder)
    lines = [
        f"{at},2024-0{1 + at % 3}-11,{code}" for at in range(60) for code in ("I50", "E11")[: 1 + at % 2]
    ]
    (folder / "log.csv").write_text("\n".join(["id,day,code", *lines]) + "\n")
    options = {"id-column": "id", "set": "code", "when": "day:month", "hierarchy": None, "format": None}
    project.save(input=str(folder / "log.csv"), k=5, m="1", **options)


def lacking(project: Project, folder: Path) -> None:
    """Something is promised of absent items, too."""
    rows(project, folder)
    project.save(absent=1)


KINDS: dict[str, Callable[[Project, Path], None]] = {
    "rows": rows, "groups": groups, "chunks": chunks, "classes": classes, "table": table, "local": local,
    "facts": facts, "lacking": lacking,
}  # fmt: skip
HOSTILE = '</textarea><script>alert("x")</script>'


class Page:
    """A project's pages; what they ask is answered at once."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.client = Client(root / "studio")
        self.project = self.client.studio.projects.create("Evidence")
        self.jobs = self.client.studio.jobs
        monkeypatch.setattr(self.jobs, "start", self._start)

    def _start(self, project: Project, kind: str, argv: Sequence[str], **_more: Any) -> Job:
        done = setveil(*argv, cwd=project.folder)
        said = re.search(r"Error: (.*?)\n(?:Hint: (.*?)\n)?", done.err + "\n", re.DOTALL)
        error = None if said is None else {"kind": "x", "message": said[1], "hint": said[2] or ""}
        job = Job(len(self.jobs.of(project)) + 1, kind, list(argv), kind, output=done.out, error=error)
        job.state = "done" if done.code in (0, 1) else "failed"
        job.over.set()
        self.jobs._lane(project).jobs.append(job)
        return job

    def made(self, name: str = "one") -> Path:
        setveil("anonymize", "--config", self.project.toml, "--out", self.project.runs / name).ok()
        return self.project.runs / name

    def text(self, *parts: str) -> str:
        answer = self.client.get("p", self.project.name, *parts)
        assert answer.status_code == 200, answer.text
        return html.unescape(answer.text)

    def send(self, *parts: str, **form: str) -> str:
        """Send a form, and return the page that it leads to."""
        answer = self.client.post("p", self.project.name, *parts, data=form)
        assert answer.status_code == 303, answer.text
        went = self.client.raw("GET", answer.headers["location"], self.client.headers())
        assert went.status_code == 200
        return html.unescape(went.text)


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Page:
    return Page(tmp_path, monkeypatch)


def test_the_checker_is_downloaded_or_put_beside_the_data(page: Page, tmp_path: Path) -> None:
    rows(page.project, tmp_path)
    run = page.made()
    assert "Put them next to the data" in page.text("release")
    for name in ("check.py", "check.html"):
        sent = page.client.get("p", page.project.name, "release", "checker", name)
        assert sent.content == (Path(sv.__file__).parent / "releases" / "recipients" / name).read_bytes()
        assert sent.headers["content-disposition"] == f'attachment; filename="{name}"'
        assert not (run / "published" / name).exists()
    assert page.client.get("p", page.project.name, "release", "checker", "audit.py").status_code == 404
    shown = page.send("release", "checker", run="one")
    assert "They are next to the data, and go with them." in shown
    assert f"check.py ({(run / 'published' / 'check.py').stat().st_size:,} bytes)" in shown


def test_an_absent_item_is_promised_by_a_box(page: Page, tmp_path: Path) -> None:
    rows(page.project, tmp_path)
    form = {"model": "km-anonymity", "k": "5", "m": "2", "left_out": "any"}
    assert 'name="absent" value="1">' in page.text("promise")
    page.send("promise", **form, absent="1")
    assert page.project.settings()["absent"] == 1
    shown = page.text("promise")
    assert 'name="absent" value="1" checked>' in shown
    assert "and 1 item that is not in it, finds at least 5 rows that fit, or none." in shown
    assert shown.count("Knowing that an item is absent.") == 1
    record = page.client.get("p", page.project.name, "promise/words?k=5&m=2&absent=1").json()
    assert "1 item that is not in it" in record["promise"]
    assert json.loads((page.made() / "published" / "about.json").read_text())["guarantee"]["absent"] == 1
    page.send("promise", **form)
    assert "absent" not in page.project.settings()


def test_strangers_and_absent_items_are_counted_as_the_command_counts(page: Page, tmp_path: Path) -> None:
    rows(page.project, tmp_path)
    run = page.made()
    shown = page.send("release", "stranger", run="one", fraction="20%")
    report = json.loads((run / "internal" / "report.json").read_text())
    sizes = sorted({entry["m"] for entry in report["risk"]["after"]["risk"]})
    found = sv.risk(run, m=sizes, fraction="20%")["population"]["entries"]
    assert "and the rows are 20%" in shown
    assert shown.count("of the time (") == sum(entry["estimate"] is not None for entry in found) > 0
    assert "no random sample of a town" in shown
    assert 'value="20%"' in page.text("release")  # kept with the project
    assert page.project.studio["fraction"] == "20%"

    shown = page.send("release", "absent", run="one")
    for entry in sv.risk(run, m=[1, 2], absent=1)["absence"]["entries"]:
        for number in entry["rows_below"].values():
            assert f'<td class="number">{number:,} (' in shown
    assert "speaks of what a person has" in shown

    shown = page.send("release", "stranger", run="one", fraction="200%")
    assert "“Which share of a population are these rows?” must be above 0 and at most 1 (100%)" in shown
    assert "--fraction must" not in shown


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_done_is_said_as_the_commands_say_it(page: Page, tmp_path: Path, kind: str) -> None:
    KINDS[kind](page.project, tmp_path)
    run = page.made()
    shown = page.text("release")
    checked = setveil("checker", run)
    options = {
        "Put them next to the data": checked,
        "Estimate it": setveil("risk", run, "--fraction", "5%"),
        "Count the rows found in this way": setveil("risk", run, "--absent", "1"),
    }
    for button, done in options.items():
        assert (button in shown) == (done.code == 0), (button, done.err)
        if done.code:
            said = re.search(r"Error: (.*)", done.err)
            assert said is not None
            assert said[1] in shown
    form = page.text("release", "evidence?run=one")
    assert ('name="fraction"' in form) == (options["Estimate it"].code == 0)
    assert page.send("release", "evidence", run="one", frame="all", owner="Us").count("<iframe") == 1
    assert (run / "internal" / "evidence.html").is_file()


def test_the_compliance_record_is_filled_in_saved_and_made(page: Page, tmp_path: Path) -> None:
    rows(page.project, tmp_path)
    run = page.made()
    shown = page.text("release", "evidence?run=one")
    assert all(f'<textarea id="{one.name}"' in shown and one.text in shown for one in QUESTIONS.values())
    assert f"{len(QUESTIONS)} questions are open" in shown
    assert "The page does not exist yet" in shown
    assert "<iframe" not in shown

    answers = {"owner": HOSTILE, "contract": "Licence 7\r\nsigned", "review": '"""\\u0041 = 5'}
    shown = page.send("release", "evidence", run="one", frame="eu", fraction="5%", **answers)
    assert f"{len(questions_of(EU)) - 3} questions are open" in shown
    assert "&lt;/textarea" not in shown  # unescaped once: the visible part is text
    kept = tomllib.loads((run / "internal" / "answers.toml").read_text("utf-8"))
    assert kept == {name: text.replace("\r\n", "\n") for name, text in answers.items()}
    assert (run / "internal" / "answers.toml").stat().st_mode & 0o077 == 0
    made = page.client.get("p", page.project.name, "release", "evidence", "page?run=one")
    assert made.content == (run / "internal" / "evidence.html").read_bytes()
    assert "sandbox" in made.headers["content-security-policy"]
    assert HOSTILE not in made.text
    sent = page.client.get("p", page.project.name, "release", "evidence", "page?run=one&download=yes")
    assert sent.headers["content-disposition"] == 'attachment; filename="evidence.html"'
    assert sent.content == made.content
    assert "An attacker's only match" in html.unescape(made.text)
    assert not [path for path in (run / "published").iterdir() if "evidence" in path.name]

    # The command makes the same bytes. Answers in other frames stay; emptied answers are open again.
    again = tmp_path / "again.html"
    words = ["evidence", run, "--answers", run / "internal" / "answers.toml", "--frame", "eu"]
    setveil(*words, "--fraction", "5%", "--out", again).ok()
    assert again.read_bytes() == made.content
    page.send("release", "evidence", run="one", frame="us", owner="", expert="Ada")
    kept = tomllib.loads((run / "internal" / "answers.toml").read_text("utf-8"))
    assert {*kept} == {"contract", "review", "expert"}
    assert page.project.studio["frame"] == "us"


def test_attacks_are_taken_from_the_runs_folder(page: Page, tmp_path: Path) -> None:
    rows(page.project, tmp_path)
    run = page.made()
    assert "No attacks were tried." in page.text("release", "evidence?run=one")
    people = sv.read(page.project.folder / "rows.csv", format="basket")
    found = sv.attack(run, people, [["tea", "coffee"], ["milk"], ["soap"]] * 60, attacks=50)
    (run / "internal" / "attack.json").write_text(json.dumps(found))
    assert "Attacks are read from" in page.text("release", "evidence?run=one")
    page.send("release", "evidence", run="one", frame="eu")
    assert "Singling out, by items known" in (run / "internal" / "evidence.html").read_text("utf-8")
    (run / "internal" / "attack.json").write_text("{")
    shown = page.send("release", "evidence", run="one", frame="eu")
    assert "attack.json cannot be read" in shown


def test_what_cannot_be_saved_is_said(page: Page, tmp_path: Path) -> None:
    rows(page.project, tmp_path)
    run = page.made()
    name = page.project.name
    answer = page.client.post("p", name, "release", "evidence", data={"run": "one", "owner": "x" * 10_001})
    assert answer.status_code == 400
    assert "An answer has at most 10,000 characters." in answer.text
    assert not (run / "internal" / "answers.toml").exists()
    assert page.client.get("p", name, "release", "evidence?run=none").status_code == 404
    assert page.client.get("p", name, "release", "evidence", "page?run=one").status_code == 404
    assert page.client.post("p", name, "release", "evidence", data={"run": "../one"}).status_code == 404
    (run / "internal" / "answers.toml").write_text("owner = [")
    answer = page.client.get("p", name, "release", "evidence?run=one")
    assert answer.status_code == 400
    assert "answers.toml cannot be read" in answer.text


@pytest.mark.exhaustive
@pytest.mark.browser
def test_the_compliance_record_in_a_browser(screen: Screen, tmp_path: Path) -> None:
    project = screen.server.project("For the board")
    rows(project, tmp_path)
    setveil("anonymize", "--config", project.toml, "--out", project.runs / "one").ok()
    shown = screen.enter()
    shown.goto(screen.at("p", project.name, "release") + "?run=one")
    shown.get_by_role("button", name="Put them next to the data").click()
    expect(shown.get_by_text("They are next to the data, and go with them.")).to_be_visible()
    shown.get_by_label("Which share of a population are these rows?").fill("5%")
    shown.get_by_role("button", name="Estimate it").click()
    expect(shown.locator("#stranger")).to_contain_text("and the rows are 5%")
    shown.get_by_role("button", name="Count the rows found in this way").click()
    expect(shown.locator("#absent")).to_contain_text("the person does not have")
    expect(shown.locator("#stranger")).to_contain_text("and the rows are 5%")  # still there
    looks(shown, "release-evidence")
    shown.get_by_role("link", name="Compliance record").click()
    expect(shown.get_by_label("Which share of a population are these rows?")).to_have_value("5%")
    shown.get_by_label("Who is responsible for the release?").fill("The data office")
    shown.get_by_role("button", name="Save and make the page").click()
    frame = framed(shown, "Compliance record")
    expect(frame.get_by_text("The data office")).to_be_visible()
    looks(shown, "evidence")
    with shown.expect_download() as download:
        shown.get_by_role("link", name="Download it").click()
    made = (project.runs / "one" / "internal" / "evidence.html").read_bytes()
    assert Path(download.value.path()).read_bytes() == made
