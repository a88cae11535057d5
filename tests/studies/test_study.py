"""Study files: their contents, errors, and the names of runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import HIERARCHY, dump, sample_rows, write
from setveil.base.errors import DataError, RequestError
from setveil.base.values.kinds import Flag, Integer, Reference
from setveil.work.studies.compare import plan, settings
from setveil.work.studies.compare.plan import Run, data_set, plan_run
from setveil.work.studies.compare.study import Study, read_study

HEAD = 'name = "s"\ndata = [{path = "rows.dat", hierarchy = "tree.csv"}]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "rows.dat", dump(sample_rows(), "fimi"))
    write(tmp_path / "tree.csv", HIERARCHY)
    write(tmp_path / "private.txt", "101 103\n")
    return tmp_path


def study(folder: Path, text: str, head: str = HEAD) -> Study:
    return read_study(write(folder / "study.toml", head + text))


def runs(folder: Path, text: str, head: str = HEAD) -> list[dict[str, Any]]:
    planned = study(folder, text, head).runs
    assert len({run.id for run in planned}) == len(planned)
    return [
        {"data": run.data.name, "algorithm": run.algorithm, "seed": run.seed}
        | {name: getattr(value, "path", value) for name, value in {**run.promise, **run.parameters}.items()}
        for run in planned
    ]


def test_values_lists_and_ranges(folder: Path) -> None:
    found = runs(
        folder, 'algorithms = ["aa", "lg"]\nk = {from = 2, to = 7, step = 2}\nm = [1, "inf"]\nseeds = [3, 4]'
    )
    assert found == [
        {"data": "rows", "algorithm": "aa", "k": k, "m": m, "seed": seed}
        for k in (2, 4, 6)
        for m in (1, "inf")
        for seed in (3, 4)
    ] + [
        {"data": "rows", "algorithm": "lg", "k": k, "seed": seed} for k in (2, 4, 6) for seed in (3, 4)
    ]  # fmt: skip  (k-anonymity of whole rows has no m: its equal runs are one)


def test_ranges_are_exact_in_decimals(folder: Path) -> None:
    found = runs(
        folder, 'algorithms = ["mm"]\nk = 2\np = 2\nprivate = "101"\nh = {from = 0.1, to = 0.7, step = 0.2}'
    )
    assert [run["h"] for run in found] == [0.1, 0.3, 0.5, 0.7]
    assert [run["k"] for run in runs(folder, 'algorithms = ["lg"]\nk = {from = 3, to = 5}')] == [3, 4, 5]


def test_grids_inherit_override_and_share_runs(folder: Path) -> None:
    found = runs(
        folder,
        'algorithms = ["aa"]\nk = 5\nm = 2\n[[runs]]\nk = [2, 5]\n[[runs]]\nm = [1, 2, 3]\n'
        '[[runs]]\nalgorithms = ["lg"]\nk = 7\nseeds = [1]\n',
    )
    assert [(run["algorithm"], run["k"], run.get("m"), run["seed"]) for run in found] == [
        ("aa", 2, 2, 0),
        ("aa", 5, 2, 0),
        ("aa", 5, 1, 0),
        ("aa", 5, 3, 0),
        ("lg", 7, None, 1),
    ]


def test_algorithms_take_what_they_know(folder: Path) -> None:
    found = runs(
        folder,
        'algorithms = ["exact", "aa", "coat", "cahd", "border"]\nk = 5\nm = 2\np = 3\nh = "2/5"\n'
        'private = "private.txt"\nsensitive_random = 2\nprivacy = "pgen"\nsuppress = [true, false]\n'
        'alpha = 2\nrounds = 3\nsolver_time_limit = 9\np_nugget = 2\nmax_suppressed_items = "5%"\n',
    )
    of = {algorithm: [run for run in found if run["algorithm"] == algorithm] for algorithm in
          ("exact", "aa", "coat", "cahd", "border")}  # fmt: skip
    assert [run.get("suppress", True) for run in of["exact"]] == [True, False]
    assert all(run["solver_time_limit"] == 9 for run in of["exact"])
    rest = {"data": "rows", "seed": 0}
    assert of["aa"] == [{**rest, "algorithm": "aa", "k": 5, "m": 2}]
    assert of["coat"] == [
        {**rest, "algorithm": "coat", "k": 5, "privacy": "pgen", "max_suppressed_items": 0.05}
    ]
    assert of["cahd"] == [{**rest, "algorithm": "cahd", "p": 3, "sensitive_random": 2, "alpha": 2}]
    assert of["border"] == [
        {
            **rest,
            "algorithm": "border",
            "h": 0.4,
            "k": 5,
            "p": 3,
            "p_nugget": 2,
            "private": folder / "private.txt",
        }
    ]


RHO = 'm = 2\nk = 5\nrho = [0.5, "1/3", "20%"]\nsensitive = "101, 103"\n'


def models_of(folder: Path, text: str) -> list[tuple[str, str, Any]]:
    return [(run.algorithm, run.model, run.promise.get("rho")) for run in study(folder, text).runs]


def test_models_that_are_described(folder: Path) -> None:
    found = models_of(folder, RHO + 'algorithms = ["exact", "lg", "aa", "suppress-control"]\n')
    rhos = [0.5, "1/3", 0.2]
    assert found == [
        *(("exact", "km-rho", rho) for rho in rhos),
        *(("lg", "km-rho", rho) for rho in rhos),
        ("aa", "km-anonymity", None),
        *(("suppress-control", "rho-uncertainty", rho) for rho in rhos),
    ]
    bare = RHO.replace("m = 2\nk = 5\n", "") + 'algorithms = ["exact", "partial"]\n'
    assert {model for _, model, _ in models_of(folder, bare)} == {"rho-uncertainty"}
    (first, *_) = study(folder, RHO + 'algorithms = ["exact"]\n').runs
    assert dict(first.promise) == {"m": 2, "k": 5, "rho": 0.5, "sensitive": "101, 103"}
    assert first.shown()["sensitive"] == "2 items"


def test_models_that_are_named(folder: Path) -> None:
    both = RHO + 'algorithms = ["exact", "partial"]\nmodel = ["km-rho", "rho-uncertainty"]\n'
    found = study(folder, both).runs
    assert len({run.id for run in found}) == len(found) == 12
    assert [run.model for run in found] == 2 * [*["km-rho"] * 3, *["rho-uncertainty"] * 3]
    assert not any("k" in run.promise for run in found if run.model == "rho-uncertainty")
    coherent = 'algorithms = ["exact", "mm", "border"]\nmodel = "coherence"\nh = 0.4\nk = 2\np = 2\n'
    planned = study(folder, coherent + 'private = "101"\nsuppress = true\n').runs
    assert [(run.algorithm, run.model) for run in planned] == [
        (name, "coherence") for name in ("exact", "mm", "border")
    ]
    grids = 'k = 2\nm = 2\nalgorithms = ["exact"]\n[[runs]]\n[[runs]]\nmodel = "km-rho"\n'
    assert models_of(folder, grids + 'rho = "1/4"\nsensitive = "101"\nknows = "any"\n') == [
        ("exact", "km-anonymity", None), ("exact", "km-rho", 0.25)
    ]  # fmt: skip
    kept = 'algorithms = ["exact"]\nk = 2\nm = 2\nrho = 0.5\nsensitive = "101"\nmodel = "km-anonymity"\n'
    with pytest.raises(RequestError, match="no algorithm here knows rho") as refused:
        study(folder, kept)
    assert "km-rho" in refused.value.hint


def test_bounds_are_looked_for_where_cuts_compare(folder: Path) -> None:
    planned = study(folder, RHO + 'algorithms = ["exact", "lg", "suppress-control"]\nbound = 3\n').runs
    assert {run.algorithm for run in planned if "bound" in run.measuring} == {"exact", "suppress-control"}


def test_settings_of_the_measures(folder: Path) -> None:
    planned = study(
        folder,
        'algorithms = ["aa", "cahd"]\nk = 5\nm = 2\np = 3\nsensitive = "101"\nqueries = 50\nitemsets = "5%"\n'
        "query_size = [1, 3]\ngroup_by = [2, 4]\nbound = 3\nrisk_m = 2\n",
    ).runs
    rows, groups = planned[:2], planned[2:]
    assert [dict(run.measuring) for run in rows] == [
        {"queries": 50, "query_size": size, "itemsets": "0.05", "itemset_length": 3, "risk_m": 2, "bound": 3}
        for size in (1, 3)
    ]
    assert [dict(run.measuring) for run in groups] == [
        {"queries": 50, "group_by": number, "risk_m": 2} for number in (2, 4)
    ]


def test_limits_of_grids(folder: Path) -> None:
    planned = study(
        folder,
        'algorithms = ["lg"]\ntime_limit = 60\nmemory_limit = 500\nk = 2\n'
        "[[runs]]\n[[runs]]\nk = 3\ntime_limit = 1.5",
    )
    assert [(run.time_limit, run.memory_limit) for run in planned.runs] == [(60, 500), (1.5, 500)]
    assert (planned.time_limit, planned.memory_limit) == (60, 500)


def test_folder_of_the_data(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    file = write(elsewhere / "study.toml", HEAD + 'algorithms = ["lg"]\nk = 2\n')
    with pytest.raises(DataError, match=r"data\[1\]: There is no file .*rows.dat"):
        read_study(file)
    (run,) = read_study(file, folder).runs
    assert run.id == study(folder, 'algorithms = ["lg"]\nk = 2\n').runs[0].id


def test_data_sets_by_name(folder: Path) -> None:
    write(folder / "more.dat", "1 2\n1 2\n")
    head = 'name = "s"\ndata = [{path = "rows.dat", name = "A"}, {path = "more.dat"}]\n'
    head += 'algorithms = ["lg"]\nk = 2\n'
    found = runs(folder, '[[runs]]\n[[runs]]\ndata = ["more"]\nk = 3\n', head)
    assert [(run["data"], run["k"]) for run in found] == [("A", 2), ("more", 2), ("more", 3)]
    with pytest.raises(RequestError, match="the file's data are A, more"):
        runs(folder, '[[runs]]\ndata = ["rows"]\n', head)
    with pytest.raises(RequestError, match="is called A as another data set is"):
        runs(folder, '[[runs]]\ndata = [{path = "more.dat", name = "A"}]\n', head)
    same = '[[runs]]\n[[runs]]\ndata = [{path = "rows.dat", name = "A", hierarchy = "tree.csv"}]\n'
    assert len(runs(folder, same, head)) == 3  # the same rows, also with a hierarchy


def test_how_files_are_read(folder: Path) -> None:
    write(folder / "a.csv", "id;item\n1;x\n")
    write(folder / "b.csv", "id;item\n2;x\n")
    head = 'name = "s"\nalgorithms = ["lg"]\nk = 2\n'
    both = 'data = [{path = ["a.csv", "b.csv"], separator = ";", id_column = "id", item_column = "item"}]\n'
    (run,) = study(folder, both, head).runs
    assert run.data.name == "a"
    assert run.data.files == (folder / "a.csv", folder / "b.csv")
    assert run.task()["data"]["files"] == [str(folder / "a.csv"), str(folder / "b.csv")]
    assert run.task()["data"]["reading"] == {"id_column": "id", "item_column": "item", "separator": ";"}
    (other,) = study(folder, both.replace('"a.csv", "b.csv"', '"b.csv", "a.csv"'), head).runs
    (one,) = study(folder, both.replace('["a.csv", "b.csv"]', '"a.csv"'), head).runs
    assert len({run.id, other.id, one.id}) == 3
    (folder / "all").mkdir()
    with pytest.raises(DataError, match="There is no file in the folder"):
        study(folder, both.replace('["a.csv", "b.csv"]', '"all"'), head)
    write(folder / "all" / "a.csv", "id;item\n1;x\n")
    write(folder / "all" / "b.csv", "id;item\n2;x\n")
    (held,) = study(folder, both.replace('["a.csv", "b.csv"]', '"all"'), head).runs
    assert held.id == run.id  # the same contents
    for wrong in ("path = []", 'path = ["a.csv", 3]', "path = 3", 'path = ""'):
        with pytest.raises(RequestError, match=r"data\[1\]\.path must be text"):
            study(folder, f"data = [{{{wrong}}}]\n", head)
    with pytest.raises(RequestError, match=r"data\[1\] has no key query"):
        study(folder, 'data = [{path = "a.csv", query = "select 1"}]\n', head)


def test_every_option_on_reading_may_stand_in_a_study(folder: Path) -> None:
    for name, option in settings.READING.items():
        word = getattr(option.kind, "words", ("fimi",))[0]
        value = {Flag: "true", Integer: "2"}.get(type(option.kind), f'"{word}"')
        head = f'name = "s"\nalgorithms = ["lg"]\nk = 2\ndata = [{{path = "rows.dat", {name} = {value}}}]\n'
        (run,) = study(folder, "", head).runs
        assert list(run.data.options) == [name]
        with pytest.raises(RequestError, match=rf"data\[1\]\.{name} must be"):
            study(folder, "", head.replace(f"= {value}}}", "= 3.5}"))


@pytest.mark.usefixtures("command_line")
def test_a_study_says_how_its_data_are_made(folder: Path) -> None:
    head = 'name = "s"\nalgorithms = ["lg"]\nk = 2\ndata_note = "Run make data."\ndata = [{path = "gone"}]\n'
    with pytest.raises(DataError) as refused:
        study(folder, "", head)
    assert refused.value.hint == "Run make data. Name their folder with --data."
    with pytest.raises(RequestError, match="data_note must be text"):
        study(folder, "", head.replace('"Run make data."', "3"))


def test_what_decides_the_name_of_a_run(folder: Path) -> None:
    def ids(text: str) -> list[str]:
        return [run.id for run in study(folder, text).runs]

    base = 'algorithms = ["border"]\nh = 0.4\nk = 2\np = 2\nprivate = "private.txt"\n'
    (first,) = ids(base)
    assert ids(base + "time_limit = 5\nmemory_limit = 100\n") == [first]
    assert ids(base + 'queries = 1000\np_nugget = "inf"\n') == [first]  # as by default
    assert ids(base + "group_by = 3\n") == [first]  # for other models
    assert ids(base + "bound = 4\n") != [first]
    for more in ("queries = 999\n", "p_nugget = 3\n", "seeds = [1]\n", "risk_m = 2\n", "itemsets = 5\n"):
        assert ids(base + more) != [first]
    write(folder / "other.txt", "101 103\n")
    assert ids(base.replace("private.txt", "other.txt")) == [first]  # the content counts, not the place
    write(folder / "private.txt", "101 104\n")
    assert ids(base) != [first]
    write(folder / "private.txt", "101 103\n")
    write(folder / "tree.csv", HIERARCHY.replace("small", "tiny"))
    assert ids(base) == [first]  # border does not use a hierarchy
    write(folder / "rows.dat", "101 103\n" * 5)
    assert ids(base) != [first]


def test_an_other_hierarchy_or_version_is_an_other_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def one() -> str:
        return study(folder, 'algorithms = ["aa"]\nk = 2\nm = 1\n').runs[0].id

    first = one()
    assert one() == first
    assert len(first) == 16
    assert int(first, 16) >= 0
    monkeypatch.setattr(plan, "__version__", "99")
    assert one() != first
    monkeypatch.undo()
    write(folder / "tree.csv", HIERARCHY.replace("small", "tiny"))
    assert one() != first


def test_the_risk_before_is_shared(folder: Path) -> None:
    def risks(text: str) -> set[str | None]:
        return {run.risk_id for run in study(folder, text).runs}

    plain = risks('algorithms = ["aa", "lg", "exact"]\nk = [2, 3]\nm = [1, 2]\nseeds = [0, 1]\n')
    assert len(plain) == 1
    assert risks('algorithms = ["aa"]\nk = 2\nm = 2\nrisk_m = 0\n') == {None}
    hidden = 'algorithms = ["mm", "border"]\nh = 0.4\nk = [2, 3]\np = [2, 3]\nseeds = [0, 1]\n'
    listed = risks(hidden + 'private = "private.txt"\n')
    assert len(listed) == 1
    assert listed != plain
    assert len(risks(hidden + "private_share = 0.1\n")) == 2  # drawn by seed
    assert len(risks('algorithms = ["cahd"]\np = [2, 3]\nsensitive_random = 2\nseeds = [0, 1]\n')) == 4


def test_methods_and_columns(folder: Path) -> None:
    planned = study(
        folder,
        'algorithms = ["exact", "border", "cahd"]\nk = 5\nm = 2\nsuppress = [true, false]\nh = 0.4\np = 3\n'
        'private = "101, 102"\nsensitive = "private.txt"\nrounds = 0\nkeep = "private.txt"\n',
    ).runs
    assert [run.method for run in planned] == [
        "exact keep=private",
        "exact suppress=false keep=private",
        "border",
        "cahd rounds=0",
    ]
    shown = [run.shown() for run in planned]
    assert shown[0]["suppress"] is True
    assert shown[2]["private"] == "2 items"  # no labels
    assert shown[3]["sensitive"] == "private"
    assert (shown[3]["rounds"], shown[3]["alpha"]) == (0, 3)
    assert "rounds" not in shown[0]


def test_what_improves_on_a_paper_is_in_the_name(folder: Path) -> None:
    keys = 'algorithms = ["cahd", "aa"]\nk = 5\nm = 2\np = 3\nsensitive = "101"\n'
    assert [run.method for run in study(folder, keys).runs] == ["cahd (improved: rounds=3)", "aa"]
    grid = study(folder, keys + "rounds = [0, 1, 3]\nalpha = [2, 3]\n").runs
    assert {run.method for run in grid} == {
        *("cahd alpha=2 rounds=0", "cahd rounds=0", "aa"),
        *("cahd (improved: rounds=1) alpha=2", "cahd (improved: rounds=1)"),
        *("cahd (improved: rounds=3) alpha=2", "cahd (improved: rounds=3)"),
    }


def test_a_task_is_json_with_absolute_paths(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    data = data_set(Path("rows.dat"), hierarchy=Path("tree.csv"), reading={"format": "fimi"})
    run = plan_run(data, "exact", {"k": 2, "m": 2, "keep": Reference(Path("private.txt"), "0")})
    task = json.loads(json.dumps(run.task()))
    assert task["data"] == {
        "files": [str(folder / "rows.dat")],
        "reading": {"format": "fimi"},
        "roles": None,
        "hierarchy": {"path": str(folder / "tree.csv")},
    }
    assert task["parameters"] == {"keep": {"path": str(folder / "private.txt")}}
    assert isinstance(run, Run)


AA = 'algorithms = ["aa"]\nk = 2\nm = 2\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('algorithms = ["aa"]\nm = 2\n', "aa needs k for km-anonymity."),
        ('algorithms = ["aaa"]\nk = 2\n', "names 'aaa'; there are aa, .*Did you mean aa?"),
        ("k = 2\nm = 2\n", "algorithms must be a list that is not empty, got nothing"),
        ("[[algorithms]]\nname = 'aa'\n", "algorithms must be a list of names, got"),
        (AA + "model = [{name = 'k'}]\n", "model must be among"),
        ("algorithms = []\n", r"algorithms must be a list that is not empty, got '\[\]'"),
        (AA + "kk = 3\n", "there is no key kk.*Did you mean k?"),
        (AA + "alhpa = 3\n", "there is no key alhpa.*Did you mean alpha?"),
        (AA + "alpha = 3\n", "no algorithm here knows alpha; cahd would"),
        (AA + "[[runs]]\nalpha = 3\n", r"no algorithm here knows runs\[1\].alpha; cahd would"),
        (AA + "[[runs]]\nname = 'x'\n", r"name stands at the top of the file, not in \[\[runs\]\]"),
        (AA + "runs = 3\n", r"runs must be tables, each written \[\[runs\]\], got '3'"),
        (AA.replace("k = 2", "k = 0"), "k must be an integer of at least 1, got '0'"),
        (AA.replace("k = 2", "k = true"), "k must be an integer of at least 1, got 'True'"),
        (AA.replace("k = 2", "k = [2, 2.5]"), "k must be an integer of at least 1, got '2.5'"),
        (AA.replace("k = 2", "k = []"), "k is an empty list"),
        (
            AA.replace("m = 2", 'm = "two"'),
            'm must be an integer of at least 1, or "inf", or one number for each column, '
            "such as \"code=2,drug=1\", got 'two'",
        ),
        (AA + "refine = 1\n", "refine must be true or false, got '1'"),
        (AA + "seeds = 3\n", r"seeds must be a list of integers of at least 0, such as \[0, 1, 2\], got '3'"),
        (AA + "seeds = [-1]\n", "seeds must be a list"),
        (AA + "seeds = []\n", "seeds must be a list"),
        (AA + "time_limit = 0\n", "time_limit must be a positive number of seconds, got '0'"),
        (AA + "memory_limit = 'much'\n", "memory_limit must be a positive number of MB, got 'much'"),
        (AA + "queries = -1\n", "queries must be an integer of at least 0, got '-1'"),
        (AA + "estimator = 'best'\n", 'estimator must be "entropy" or "uniform", got'),
        (AA + "itemsets = 1.5\n", "itemsets must be a number of rows, or a share"),
        (AA + "queries_file = 'private.txt'\nqueries = 5\n", "queries are either read .* or drawn"),
        (AA + "[[runs]]\nk = {from = 5, to = 2}\n", r"runs\[1\].k: a range goes up"),
        (AA.replace("k = 2", "k = {from = 2, to = 5, step = 0}"), "k: a range goes up"),
        (
            AA.replace("k = 2", "k = {from = 2, to = 100002}"),
            "k: the range has 100,001 values, expected at most 100,000.\n.*greater step",
        ),
        (AA.replace("k = 2", "k = {from = 2, to = 3, step = 0.5}"), "k must be an integer .* got '2.5'"),
        (AA.replace("k = 2", "k = {from = 2}"), "k must be a value, a list, or a range"),
        (AA.replace("k = 2", "k = {from = 2, to = 'x'}"), "k must be a value, a list, or a range"),
        (AA.replace("k = 2", "k = {from = 1, to = 99999}") + "seeds = [0, 1]\n", "for 199,998 runs of aa"),
        ('algorithms = ["cahd"]\np = 2\n', "cahd needs one of sensitive and sensitive_random, got neither"),
        (
            'algorithms = ["cahd"]\np = 2\nsensitive = "101"\nsensitive_random = 2\n',
            "cahd needs one of sensitive and sensitive_random, got both",
        ),
        (
            'algorithms = ["mm"]\nh = 0.5\nk = 2\np = 2\nprivate = "101"\nprivate_share = 0.1\n',
            "mm needs one of private and private_share, got both",
        ),
        ('algorithms = ["mm"]\nh = 2\nk = 2\np = 2\n', "h must be a number above 0 and at most 1, got '2'"),
        ('algorithms = ["mm"]\nh = "1/0"\nk = 2\np = 2\n', "h must be a number .*, got '1/0'"),
        ('algorithms = ["coat"]\nk = 2\nprivacy = "all"\n', "coat needs m for constraints."),
        (AA + 'model = "km"\n', "model must be among km-anonymity, .*, got 'km'"),
        (AA + 'model = 3\n', "model must be among"),
        (AA + 'model = "km-rho"\n', r"aa gives no model that is named \(km-rho\), but km-anonymity"),
        (AA + 'model = ["km-anonymity", "km-rho"]\n', "model names km-rho, which no .* lg, partial would"),
        (AA + '[[runs]]\nmodel = "km-rho"\n', r"aa gives no runs\[1\].model that is named"),
        (AA + "rho = 0.5\n", "no algorithm here knows rho; classes, disassociation, exact, lg"),
        ('algorithms = ["exact"]\nrho = 2\n', "rho must be a number above 0 and at most 1, got '2'"),
        ('algorithms = ["exact"]\nm = 2\nrho = 0.5\nsensitive = "1"\n', "exact needs k for km-rho"),
        ('algorithms = ["coat"]\nk = 2\n[[runs]]\nseeds = [1]\n', r"runs\[1\].coat needs privacy."),
    ],
)  # fmt: skip
def test_refused(folder: Path, text: str, words: str) -> None:
    with pytest.raises(RequestError, match=f"(?s)study.toml: .*{words}"):
        study(folder, text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('algorithms = ["mm"]\nh = 0.5\nk = 2\np = 2\nprivate = "secret.txt"\n', "private: There is no file"),
        ('algorithms = ["coat"]\nk = 2\nprivacy = "pgenn"\n', "privacy: There is no file"),
        (AA + 'queries_file = "q.txt"\n', "queries_file: There is no file"),
        ('algorithms = ["exact"]\nk = 2\nm = 2\nkeep = "keep.txt"\n', "keep: There is no file"),
    ],
)
def test_missing_files(folder: Path, text: str, words: str) -> None:
    with pytest.raises(DataError, match=f"study.toml: {words}"):
        study(folder, text)


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ('data = [{path = "rows.dat"}]\n', "name must be text, got nothing"),
        ('name = ""\ndata = [{path = "rows.dat"}]\n', "name must be text"),
        ('name = "s"\ndescription = 3\n', "description must be text, got '3'"),
        ('name = "s"\n', "data must be a list that is not empty, got nothing"),
        ('name = "s"\ndata = "rows.dat"\n', "data must be a list that is not empty, got 'rows.dat'"),
        ('name = "s"\ndata = ["rows.dat"]\n', r"data\[1\] must be a table such as"),
        ('name = "s"\ndata = [{path = "x", hierarhcy = "t"}]\n', "no key hierarhcy.*Did you mean hierarchy?"),
        ('name = "s"\ndata = [{path = "x", format = "xls"}]\n', r"data\[1\].format must be one of fimi"),
        ('name = "s"\ndata = [{path = "x", separator = 3}]\n', r"data\[1\].separator must be text, got '3'"),
    ],
)  # fmt: skip
def test_refused_heads(folder: Path, head: str, words: str) -> None:
    with pytest.raises(RequestError, match=f"(?s)study.toml: .*{words}"):
        study(folder, AA, head)


def test_the_mark_that_an_editor_puts_first_is_no_part_of_a_study(folder: Path) -> None:
    text = 'name = "s"\ndata = [{path = "rows.dat"}]\n' + AA
    plain = read_study(write(folder / "study.toml", text))
    marked = read_study(write(folder / "study.toml", "\ufeff" + text.replace("\n", "\r\n")))
    assert [str(run) for run in marked.runs] == [str(run) for run in plain.runs]


def test_files_that_are_no_study(folder: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_study(folder / "nothing.toml")
    with pytest.raises(DataError, match=r"study.toml is no TOML: .*line 1"):
        study(folder, "", "name = \n")
    with pytest.raises(DataError, match="is no TOML"):
        read_study(write(folder / "study.toml", b"\xff\xfe"))
    with pytest.raises(DataError, match=r"data\[1\]: There is no file .*gone.csv"):
        study(folder, AA, 'name = "s"\ndata = [{path = "rows.dat", hierarchy = "gone.csv"}]\n')


def repeated(folder: Path, text: str) -> list[tuple[int, Any]]:
    return [
        (run.seed, run.sample) for run in study(folder, f'algorithms = ["aa"]\nk = 2\nm = 1\n{text}').runs
    ]


def test_repetition_means_data(folder: Path) -> None:
    assert repeated(folder, "repeat = 3") == [(0, 0.8), (1, 0.8), (2, 0.8)]
    assert repeated(folder, 'repeat = 2\nsample = "50%"') == [(0, 0.5), (1, 0.5)]
    assert repeated(folder, 'repeat = 2\nsample = "bootstrap"') == [(0, "bootstrap"), (1, "bootstrap")]
    assert repeated(folder, "repeat = 2\nsample = 1") == [(0, None), (1, None)]  # queries only
    assert repeated(folder, "seeds = [4, 7]") == [(4, None), (7, None)]
    assert repeated(folder, "seeds = [4, 7]\nsample = 0.9") == [(4, 0.9), (7, 0.9)]
    assert repeated(folder, "repeat = 1") == [(0, None)]
    assert repeated(folder, "repeat = 2\n[[runs]]\nseeds = [5]\n[[runs]]\nrepeat = 1\nsample = 0.5") == [
        (5, None),
        (0, 0.5),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("repeat = 0", "repeat must be an integer of at least 1, got '0'"),
        ('repeat = "ten"', "repeat must be an integer of at least 1, got 'ten'"),
        ("repeat = true", "repeat must be an integer of at least 1, got 'True'"),
        ("sample = 0", 'sample must be a share of the rows above 0, such as 0.8, or "bootstrap"'),
        ("sample = 1.5", "sample must be a share of the rows above 0"),
        ('sample = "120%"', "sample must be a share of the rows above 0"),
        ('sample = "some"', "sample must be a share of the rows above 0"),
        ("repeat = 2\nseeds = [1]", "repeat and seeds both say how often runs are repeated"),
        ("label = 3", "label must be text, got '3'"),
        ('label = "{l}"', "label names {l}, expected one of algorithm, count_tree, refine, k, m"),
    ],
)
def test_repetition_that_is_refused(folder: Path, text: str, message: str) -> None:
    with pytest.raises(RequestError, match=re.escape(message)):
        repeated(folder, text)


def test_runs_that_are_solved_once(folder: Path) -> None:
    """Check that a seed changes the release only if it draws rows or items."""

    def solutions(text: str, algorithm: str = "aa") -> int:
        promise = {"aa": "k = 2\nm = 1", "mm": "k = 2\nh = 0.8\np = 2"}[algorithm]
        planned = study(folder, f'algorithms = ["{algorithm}"]\n{promise}\nseeds = [0, 1, 2]\n{text}').runs
        assert len({run.id for run in planned}) == 3
        return len({run.solution for run in planned})

    assert solutions("") == 1
    assert solutions("sample = 0.8") == 3
    assert solutions('private = "101"', "mm") == 1
    assert solutions("private_share = 0.2", "mm") == 3
    risks = study(folder, 'algorithms = ["aa"]\nk = 2\nm = 1\nrepeat = 3').runs
    assert len({run.risk_id for run in risks}) == 3  # of the rows that were drawn


def test_labels_name_methods(folder: Path) -> None:
    text = 'k = 2\nm = 1\n[[runs]]\nalgorithms = ["aa"]\nrefine = [true, false]\nlabel = "AA {refine}"\n'
    text += '[[runs]]\nalgorithms = ["exact"]'
    found = study(folder, text).runs
    assert {run.method: run.label for run in found} == {
        "aa": "AA false",
        "aa refine=true": "AA true",
        "exact": "",
    }
    again = {run.id for run in study(folder, text.replace("AA {refine}", "{algorithm}, {refine}")).runs}
    assert again == {run.id for run in found}  # the name of a method changes no run
    with pytest.raises(RequestError, match=r"'one' would be the label of aa.* and of"):
        study(folder, text.replace("AA {refine}", "one"))
    with pytest.raises(RequestError, match="aa would be called 'a' and 'b'"):
        study(
            folder, 'algorithms = ["aa"]\nm = 1\n[[runs]]\nk = 2\nlabel = "a"\n[[runs]]\nk = 3\nlabel = "b"'
        )
    private = 'algorithms = ["mm"]\nh = 0.8\nk = 2\np = 2\nprivate = "101"\nlabel = "{private}"'
    with pytest.raises(RequestError, match=r"label names \{private\}"):
        study(folder, private)


def test_a_promise_of_nothing_is_refused_before_any_run(folder: Path) -> None:
    with pytest.raises(RequestError, match="aa for km-anonymity: k must be an integer of at least 2, got 1"):
        study(folder, 'algorithms = ["aa"]\nk = [1, 5]\nm = 1')
