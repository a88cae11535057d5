"""The compliance record: every fact once and as the record has it, standards that cite it, open questions."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from cli_helpers import refused, setveil
from setveil.report.evidence.facts import EvidenceFact
from setveil.report.evidence.page import row_and_word
from setveil.report.evidence.questions import GROUPS, QUESTIONS
from setveil.report.evidence.standards import ALL, questions_of, sections

ROWS = 8 * [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee", "rum"]]
OTHERS = 5 * [["tea", "milk"], ["coffee"], ["rum"]]
FRAMES = {"ISO/IEC 27559", "WP216", "EMA Policy 0070", "HIPAA 164.514(b)(1)", "NIST SP 800-188"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("evidence") / "run"
    release = sv.anonymize(ROWS, k=4, m=2, details=True)
    release.write(out, record={"about": {"purpose": "Study <7>", "responsible": "A. & B."}})
    return out


@pytest.fixture(scope="module")
def attacks(run: Path) -> dict[str, Any]:
    return sv.attack(run, ROWS, OTHERS)


def at_path(record: Any, path: str) -> Any:
    """Return the value at a path with dots in a record, whose keys may contain dots themselves."""
    if not path:
        return record
    if isinstance(record, list):
        number, _, rest = path.partition(".")
        return at_path(record[int(number)], rest)
    key = next(key for key in record if path == key or path.startswith(f"{key}."))
    return at_path(record[key], path[len(key) + 1 :])


def test_every_section_is_there_and_every_figure_is_the_records(
    run: Path, attacks: dict[str, Any], tmp_path: Path
) -> None:
    found = sv.evidence(run, out=tmp_path / "page.html", attack=attacks, fraction="5%")
    record = json.loads((run / "internal" / "report.json").read_text())
    page = (tmp_path / "page.html").read_text()
    shown = html.unescape(re.sub("<[^>]*>", "\n", page))
    assert {section["frame"] for section in found["sections"]} == FRAMES
    assert len(found["sections"]) == len(sections("all")) == 14
    population = sv.risk(run, m=(1, 2, 3), fraction="5%")["population"]
    estimates = [population["fraction"], *(entry["estimate"] for entry in population["entries"])]
    looked_at = set()
    for section in found["sections"]:
        assert section["heading"] in shown
        assert section["facts"]
        for fact in section["facts"]:
            row, word = row_and_word(EvidenceFact(**fact))
            (said,) = re.findall(f"<th>{re.escape(html.escape(row))}</th><td>(.*?)</td>", page)
            text = f"{word} {fact['text']}".strip()
            assert html.unescape(said).split("; ").count(text) == 1 or html.unescape(said) == text
            source = fact["source"]
            if source == "setveil risk --fraction":
                assert fact["value"] in estimates
            elif source == "sha256sum":
                assert re.fullmatch("[0-9a-f]{64}", fact["value"])
            elif source.startswith("attack: "):
                assert fact["value"] == at_path(attacks, source[8:])
                assert f"{fact['value']:,} of" in fact["text"]
            else:
                assert fact["value"] == at_path(record, source), fact
            looked_at.add(source.split(".")[0])
            if isinstance(fact["value"], int) and not isinstance(fact["value"], bool):
                assert f"{fact['value']:,}" in fact["text"]
    assert {"guarantee", "risk", "utility", "input", "setveil", "versions", "about", "sha256sum"} <= looked_at
    assert "k^m-anonymity does not bound inference" in shown
    assert "proves nothing" in shown
    assert "assumes a simple random sample" in shown
    assert "Study <7>" in shown
    assert "Study <7>" not in page
    for outside in ("http://", "https://", "<script", "src="):
        assert outside not in page


def test_open_questions_are_counted_until_they_are_answered(run: Path, tmp_path: Path) -> None:
    cited = dict.fromkeys(name for section in sections("all") for name in section.questions)
    assert {*cited} == {*QUESTIONS} == questions_of(ALL)
    assert (len(QUESTIONS), len(GROUPS)) == (19, 6)
    assert sum(len(group) for group in GROUPS.values()) == 19
    left = [name for name in cited if name != "owner"]  # the run says who is responsible
    found = sv.evidence(run, out=tmp_path / "a.html")
    assert [entry["field"] for entry in found["open"]] == left
    page = (tmp_path / "a.html").read_text()
    assert page.count('class="field"') == 18
    assert "18 questions are open" in page
    assert '<p class="answer">A. &amp; B.</p>' in page
    answers = {name: f"Answer <{at}>" for at, name in enumerate(left)}
    found = sv.evidence(run, out=tmp_path / "b.html", answers=dict(list(answers.items())[:3]))
    assert [entry["field"] for entry in found["open"]] == left[3:]
    assert "Answer &lt;0&gt;" in (tmp_path / "b.html").read_text()
    assert sv.evidence(run, out=tmp_path / "c.html", answers=answers)["open"] == []
    assert 'class="field"' not in (tmp_path / "c.html").read_text()
    own = sv.evidence(run, out=tmp_path / "d.html", answers={"owner": "The board"})
    assert "The board" in (tmp_path / "d.html").read_text()
    assert len(own["open"]) == 18


def test_every_link_of_a_standard_leads_to_a_fact_or_a_question(
    run: Path, attacks: dict[str, Any], tmp_path: Path
) -> None:
    for frame in ("all", "eu", "us"):
        sv.evidence(run, out=tmp_path / f"{frame}.html", attack=attacks, fraction="5%", frame=frame)
        page = (tmp_path / f"{frame}.html").read_text()
        links = re.findall('href="#([FQ][0-9]+)"', page)
        named = re.findall('id="([FQ][0-9]+)"', page)
        assert len(named) == len(set(named))
        assert set(links) <= set(named)
        ends = re.findall(r'href="#Q([0-9]+)">Q[0-9]+</a>(?:-<a href="#Q([0-9]+)")?', page)
        cited = {f"Q{number}" for low, high in ends for number in range(int(low), int(high or low) + 1)}
        assert cited == {name for name in named if name[0] == "Q"}


def test_the_page_is_short(run: Path, tmp_path: Path) -> None:
    sv.evidence(run, out=tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    page = re.sub('<style.*?</style>|<td class="from">.*?</td>|<a .*?</a>|<[^>]*>', " ", page, flags=re.S)
    assert len(html.unescape(page).split()) < 740  # 1,758 when each standard repeated its facts


def test_frames_choose_the_headings(run: Path) -> None:
    eu, us = (
        {section["frame"] for section in sv.evidence(run, frame=frame)["sections"]} for frame in ("eu", "us")
    )
    assert eu == {"ISO/IEC 27559", "WP216", "EMA Policy 0070"}
    assert us == {"ISO/IEC 27559", "HIPAA 164.514(b)(1)", "NIST SP 800-188"}


def test_the_command_writes_the_same_page(run: Path, attacks: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "attack.json").write_text(json.dumps(attacks))
    (tmp_path / "ours.toml").write_text('owner = "The data office"\n')
    more = ("--attack", tmp_path / "attack.json", "--answers", tmp_path / "ours.toml", "--frame", "us")
    done = setveil("evidence", run, "--out", tmp_path / "x.html", *more, "--strict", "--json")
    assert done.code == 3
    found = sv.evidence(
        run, out=tmp_path / "y.html", attack=attacks, answers={"owner": "The data office"}, frame="us"
    )
    assert json.loads(done.out) == found
    assert (tmp_path / "x.html").read_bytes() == (tmp_path / "y.html").read_bytes()
    done = setveil("evidence", run, "--out", tmp_path / "z.html")
    assert "18 questions are open" in done.out
    assert done.code == 0


def test_releases_of_all_kinds_have_a_page() -> None:
    rows = 5 * [["a", "s"], ["b"], ["a"], ["b", "c"]]
    promised = sv.evidence(sv.anonymize(rows, sv.KmRho(k=5, m=1, rho=0.5, sensitive=["s"])))
    notes = {section["heading"]: section["note"] for section in promised["sections"]}
    assert notes["Inference"].startswith("Met in part: published rows reveal the sensitive items")
    bare = sv.evidence(sv.anonymize(rows, sv.TransactionalKAnonymity(k=5)))
    notes = {section["heading"]: section["note"] for section in bare["sections"]}
    assert "does not bound inference" in notes["Inference"]
    rho = sv.evidence(sv.anonymize(rows, sv.RhoUncertainty(rho=0.5, sensitive=["s"])))
    notes = {section["heading"]: section["note"] for section in rho["sections"]}
    assert "does not bound this" in notes["Singling out"]


def test_what_is_no_run_and_answers_no_field_is_refused(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    refused(setveil("evidence", tmp_path, "--out", out), 4, "no internal/report.json", out=out)
    refused(setveil("evidence", run / "published", "--out", out), 4, "no internal/report.json", out=out)
    answers = tmp_path / "a.toml"
    answers.write_text('ownr = "x"\n')
    refused(
        setveil("evidence", run, "--out", out, "--answers", answers),
        2,
        "no question 'ownr'",
        "mean owner",
        out=out,
    )
    answers.write_text("owner = 5\n")
    refused(setveil("evidence", run, "--out", out, "--answers", answers), 2, "owner must be a text", out=out)
    answers.write_text("owner")
    refused(setveil("evidence", run, "--out", out, "--answers", answers), 4, "cannot be read", out=out)
    attack = tmp_path / "attack.json"
    for text in ("", "{", "[]", '{"attacks": [{}]}', '{"attacks": 5}', "5"):
        attack.write_text(text)
        refused(setveil("evidence", run, "--out", out, "--attack", attack), 4, "attack.json", out=out)
    refused(setveil("evidence", run, "--out", out, "--fraction", "0"), 2, "--fraction must be", out=out)
    refused(setveil("evidence", run, "--out", tmp_path / "page.pdf"), 2, "--out must name a page")
    page = run / "published" / "page.html"
    refused(setveil("evidence", run, "--out", page), 2, "figures of the original", out=page)
    out.write_text("mine")
    refused(setveil("evidence", run, "--out", out), 2, "exists already")
    assert out.read_text() == "mine"
    with pytest.raises(sv.RequestError, match="frame"):
        sv.evidence(run, frame="uk")


def test_a_promise_that_only_some_data_need_keep_has_no_greatest_chance(tmp_path: Path) -> None:
    out = tmp_path / "run"
    sv.anonymize(ROWS, sv.Disassociated(4, 2), algorithm="disassociation", details=True).write(out)
    found = sv.evidence(out, out=tmp_path / "page.html")
    facts = [fact for section in found["sections"] for fact in section["facts"]]
    assert not [fact for fact in facts if fact["what"] == "Fewest rows of a known set"]
    assert "1/4" not in (tmp_path / "page.html").read_text("utf-8")
