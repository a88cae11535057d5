"""Requests that no page makes: odd methods, values, bodies and paths on every address.

None ends in a failure of the studio, and none reads, writes or removes anything outside of its projects.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote, quote_from_bytes, urlencode

import pytest
from starlette.routing import Mount, Route

import studio_shop
from cli_helpers import setveil
from setveil.base.jit import files
from setveil.studio import requests
from setveil.studio.app import make_app
from setveil.studio.guard import COOKIE
from setveil.studio.jobs import Jobs
from setveil.studio.projects import Project
from strategies import many
from studio_client import PORT, Client

INTERNAL_TEXT = "nobody outside may see this"
NAMES = (
    "action", "add", "at", "back", "by", "class-size", "column-1", "column-2", "delimiter", "edit",
    "encoding", "fanout", "file", "find", "first", "form", "format", "h", "id-column", "in", "item-column",
    "items", "job", "k", "keep", "kind-1", "label", "large", "left_out", "lengths", "limit", "m", "methods",
    "model", "name", "next", "node", "objective", "p", "path", "privacy", "private", "query", "rho",
    "role-1", "role-2",
    "row", "run", "second", "sensitive", "separator", "share", "show", "spare", "step", "study", "sure",
    "text", "time-limit", "title", "typed", "under", "verify", "version", "way", "why",
)  # fmt: skip
GOOD = (
    "one",
    "two",
    "5",
    "2",
    "yes",
    "tea",
    "drinks",
    "basket",
    "set",
    "qi",
    "co-occurrence",
    "prefix",
    "exact",
    "csv",
)
ODD: tuple[str, ...] = (
    "", "\0", "a\0b", "..", "../..", "../../home", "HOME/secret.txt", "HOME", "/etc/passwd", "/dev/zero",
    "-", "--out=HOME", "~", "~nobody", "~/secret.txt", "*", "[", "[[", "{", "{}", "[]", "null", "9" * 5000,
    "-1", "1e999", "nan", "inf", "0x10", "1/0", "0/0", "%", "٣", "²", "1" * 13, "[" * 1000, "[" * 100_000,
    '{"a":' * 1000, '{"do": "start", "file": "HOME/secret.txt"}', '{"format": "' + "x" * 3000 + '"}',
    '{"separator": "\\u0000"}', '{"encoding": "\\ud800"}', '{"format": [[]]}', "<script>",
    "'\"><img onerror=x>", "x" * 10_000, "\r\nX-Forged: yes", "\u202e", "\ufeff", "\U0001f600", "/" * 300,
    "http://evil.example", "con", "CON.csv", "a\\b", ".", "one/../two", "one\n", " one",
)  # fmt: skip
EDITS = (
    "move", "rename", "merge", "dissolve", "group", "add", "remove", "sort", "undo", "redo", "start",
    "place", "x",
)  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a home with a file that no answer may show, and that stays as it is."""
    folder = tmp_path / "home"
    (folder / "more").mkdir(parents=True)
    (folder / "secret.txt").write_text(f"{INTERNAL_TEXT},tea\n" * 5)
    (folder / "more" / "project.toml").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(files._caches()))  # nothing is compiled into the new home
    monkeypatch.setenv("HOME", str(folder))
    before = {path: path.is_file() and path.read_bytes() for path in sorted(folder.rglob("*"))}
    yield folder
    assert {path: path.is_file() and path.read_bytes() for path in sorted(folder.rglob("*"))} == before


@pytest.fixture
def client(tmp_path: Path, home: Path) -> Client:
    client = Client(tmp_path / "setveil")
    client.studio.jobs = Jobs(("false",))  # a command that says nothing
    return client


def filled(client: Client, title: str = "Shop") -> Project:
    project = client.studio.projects.create(title)
    studio_shop.fill(project, 60)
    project.save(k=3, m="2")
    return project


def addresses(client: Client) -> list[str]:
    """List every address that the application has, but the one that is answered for ever."""

    def of(routes: Any, prefix: str) -> list[str]:
        found = []
        for route in routes:
            if isinstance(route, Mount):
                found += of(route.routes, prefix + route.path)
            else:
                assert isinstance(route, Route)
                found.append(prefix + route.path)
        return found

    guard: Any = make_app(client.studio)
    return [path for path in of(guard.app.routes, "") if not path.endswith("/events")]


class Forger:
    """Makes requests, always the same from the same numbers."""

    def __init__(self, client: Client, home: Path, seed: int) -> None:
        self.client, self.home, self.rng = client, home, Random(seed)
        self.addresses = addresses(client)

    def value(self) -> str:
        text = self.rng.choice(GOOD if self.rng.random() < 0.5 else ODD)
        return text.replace("HOME", str(self.home))

    def pairs(self) -> list[tuple[str, str]]:
        names = self.rng.choices(NAMES, k=self.rng.randint(0, 8))
        return [(name, self.value()) for name in names] * self.rng.choice([1, 1, 1, 50])

    def path(self) -> str:
        rng = self.rng
        path = rng.choice(self.addresses)
        name = "shop" if rng.random() < 0.85 else self.value()
        path = path.replace("{project}", name).replace(
            "{name}", rng.choice(["rows.js", "../app.py", self.value()])
        )
        if rng.random() < 0.1:
            path += rng.choice(["/", "/..", "/../../home", "%00", "//", "\0", "/.", ";x=y"])
        return path

    def body(self) -> tuple[bytes, str]:
        rng = self.rng
        kind = rng.choice(["form", "form", "form", "json", "json", "parts", "bytes", "nothing"])
        if kind == "form":
            return urlencode(self.pairs()).encode(), "application/x-www-form-urlencoded"
        if kind == "json":
            return self.json(), "application/json"
        if kind == "parts":
            file = rng.choice(["groups.csv", "../../x.csv", "x\0.json", "", "x" * 3000 + ".txt"])
            content = rng.choice(
                [b"", b"\xff\xfe\0", studio_shop.hierarchy().encode(), b"[" * 100_000, rng.randbytes(99)]
            )
            bound = rng.choice(["edge", "edge", ""])
            head = f'Content-Disposition: form-data; name="file"; filename="{file}"\r\n\r\n'.encode()
            return (
                b"--edge\r\n" + head + content + b"\r\n--edge--\r\n",
                f"multipart/form-data; boundary={bound}; charset={rng.choice(['utf-8', 'none', 'utf-7'])}",
            )
        return (
            (rng.randbytes(rng.randint(0, 2000)), rng.choice(["", "text/plain", "x" * 999]))
            if kind == "bytes"
            else (b"", "")
        )

    def json(self) -> bytes:
        rng = self.rng
        deep = rng.choice(
            [b"[" * 100_000, b"[" * 990 + b"]" * 990, b'{"edit":' * 995 + b"1" + b"}" * 995, b"9" * 5000]
        )
        if rng.random() < 0.3:
            return deep
        parts = ["nodes", "under", "node", "name", "group", "items", "into", "before", "file", "places"]
        names: list[Any] = [
            self.value(),
            [self.value()],
            [],
            None,
            7,
            {},
            [[]],
            [[[self.value()]]],
            "\ud800",
            True,
        ]
        edit = {"do": rng.choice(EDITS), **{one: rng.choice(names) for one in rng.sample(parts, 3)}}
        sent = {
            "edit": rng.choice([edit, edit, edit, None, 7, []]),
            "version": rng.choice(names),
            "under": rng.choice(names),
        }
        return json.dumps(sent).encode()

    def request(self) -> dict[str, Any]:
        rng, keys = self.rng, self.client.keys
        method = rng.choice(
            [
                "GET",
                "GET",
                "GET",
                "POST",
                "POST",
                "POST",
                "POST",
                "PUT",
                "DELETE",
                "HEAD",
                "OPTIONS",
                "PATCH",
                "X",
            ]
        )
        path = self.path()
        content, kind = self.body() if method != "GET" or rng.random() < 0.1 else (b"", "")
        if path.endswith(("/close", "/try")) and method == "POST":
            method = "GET"  # these have tests of their own
        headers = [(b"host", keys.host.encode()), (b"cookie", f"{COOKIE}={keys.cookie}".encode())]
        headers += [(b"origin", keys.origin.encode()), (b"sec-fetch-site", b"same-origin")]
        if kind:
            headers.append((b"content-type", kind.encode("latin-1")))
        if rng.random() < 0.5:
            headers.append((b"accept", b"application/json"))
        query = (
            urlencode(self.pairs()).encode()
            if rng.random() < 0.8
            else quote_from_bytes(rng.randbytes(40)).encode()
        )
        return {"method": method, "path": path, "query": query, "headers": headers, "content": content}


async def ask(
    client: Client, method: str, path: str, query: bytes, headers: Any, content: bytes
) -> tuple[int, bytes]:
    """Ask the application for exactly this."""
    sent: list[MutableMapping[str, Any]] = []
    pieces = [content[at : at + 65_536] for at in range(0, len(content), 65_536)] or [b""]

    async def receive() -> MutableMapping[str, Any]:
        if not pieces:
            return {"type": "http.disconnect"}
        piece = pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": method, "path": path, "raw_path": quote(path).encode(),
        "query_string": query,
        "headers": headers, "scheme": "http", "server": ("127.0.0.1", PORT), "root_path": "",
        "http_version": "1.1",
    }  # fmt: skip
    await client.app(scope, receive, send)
    return int(sent[0]["status"]), b"".join(message.get("body", b"") for message in sent)


def in_one_loop(work: Any) -> Any:
    with ThreadPoolExecutor(1) as thread:  # in this one a browser may have its loop
        return thread.submit(asyncio.run, work).result()


def test_no_request_is_too_odd(client: Client, home: Path) -> None:
    project = filled(client)
    for name in ("one", "two"):
        setveil("anonymize", "--config", project.toml, "--out", project.runs / name, "--algorithm", "aa").ok()
    kept = {path: path.read_bytes() for path in project.folder.iterdir() if path.is_file()}
    runs = {path: path.read_bytes() for path in project.runs.rglob("*") if path.is_file()}
    forger = Forger(client, home, seed=1)
    counted: dict[int, int] = {}

    async def forge() -> None:
        for number in range(many(150)):
            request = forger.request()
            status, body = await ask(client, **request)
            case_text = f"{number}: {[str(one)[:200] for one in request.values()]}"
            assert status < 500, case_text
            # The file may be read as data, the purpose of a page; nothing else shows it.
            if (
                not request["path"]
                .rstrip("/")
                .partition("/p/shop/")[2]
                .startswith(("data", "hierarchy/items", "hierarchy/problems"))
            ):
                assert INTERNAL_TEXT.encode() not in body, case_text
            counted[status] = counted.get(status, 0) + 1
            if number % 25 == 24:  # the allowed request has changed the project
                for path, content in {**kept, **runs}.items():
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
        await client.studio.jobs.close()

    in_one_loop(forge())
    assert {200, 400, 404} <= counted.keys()


@pytest.mark.parametrize("content", [b"", b"{}", b"%s", b"x=y"])
def test_every_form_may_lack_its_fields(client: Client, home: Path, content: bytes) -> None:
    project = filled(client)
    kept = {path: path.read_bytes() for path in project.folder.iterdir() if path.is_file()}
    keys = client.keys
    headers = [(b"host", keys.host.encode()), (b"cookie", f"{COOKIE}={keys.cookie}".encode())]
    headers += [(b"origin", keys.origin.encode()), (b"sec-fetch-site", b"same-origin")]
    kind = b"application/json" if content == b"{}" else b"application/x-www-form-urlencoded"
    if content == b"%s":  # all fields, empty
        content = urlencode([(name, "") for name in NAMES]).encode()

    async def forge() -> None:
        for address in addresses(client):
            path = address.replace("{project}", "shop").replace("{name}", "x").replace("{column}", "x")
            if path.endswith(("/close", "/try")):
                continue
            status, _ = await ask(client, "POST", path, b"", [*headers, (b"content-type", kind)], content)
            assert status < 500, path
            for place, before in kept.items():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(before)
        await client.studio.jobs.close()

    in_one_loop(forge())


@pytest.mark.parametrize("spoilt", ["host", "origin", "site", "cookie", "key", "nothing"])
def test_what_is_forged_is_still_refused(client: Client, home: Path, spoilt: str) -> None:
    filled(client)
    forger = Forger(client, home, seed=2)

    async def forge() -> None:
        for _ in range(many(20)):
            request = forger.request()
            headers = dict(request["headers"])
            path = request["path"]
            wrong = {
                "host": (b"host", b"evil.example"), "origin": (b"origin", b"http://evil.example"),
                "site": (b"sec-fetch-site", b"same-site"), "cookie": (b"cookie", b"setveil=x"),
                "key": (b"cookie", b""), "nothing": (b"x", b""),
            }[spoilt]  # fmt: skip
            if spoilt == "nothing":
                headers = {b"host": headers[b"host"]}
            elif spoilt == "key":
                path = path.replace(client.keys.path, "x" * len(client.keys.path))
            else:
                headers |= dict([wrong])
            if not path.startswith("/s/"):
                continue
            status, body = await ask(client, **{**request, "path": path, "headers": [*headers.items()]})
            assert status == (421 if spoilt == "host" else 403)
            assert client.keys.path.encode() not in body

    in_one_loop(forge())
    assert [project.name for project in client.studio.projects.all()] == ["shop"]


# --- forms


def test_ten_thousand_fields_are_taken(client: Client) -> None:
    """Starlette takes 1,000, and newer ones refuse more."""
    project = client.studio.projects.create("Wide")
    items = [f"item {number:05}" for number in range(10_000)]
    rows = project.folder / "rows.csv"
    rows.write_text("".join(",".join(items[at : at + 100]) + "\n" for at in range(0, 10_000, 100)) * 2)
    project.save(input=str(rows), format="basket")
    body = urlencode([("sensitive", item) for item in items]).encode()
    kind = {"content-type": "application/x-www-form-urlencoded"}
    headers = client.headers(post=True) | kind
    answer = client.raw("POST", client.at("p", project.name, "data/keep"), headers, content=body)
    assert answer.status_code == 303
    assert len(project.studio["sensitive"]) == 10_000


def test_every_column_of_a_wide_table_is_taken(client: Client) -> None:
    project = client.studio.projects.create("Wide")
    names = [f"c{number}" for number in range(3_000)]
    rows = project.folder / "rows.csv"
    lines = [",".join(["age", "items", *names])]
    lines += [",".join([str(20 + at % 3), "tea;milk", *("x" for _ in names)]) for at in range(30)]
    rows.write_text("\n".join(lines) + "\n")
    project.save(studio={"file": str(rows)})
    form = {"delimiter": ";"}
    for number, name in enumerate(["age", "items", *names], 1):
        role = {"age": "qi", "items": "set"}.get(name, "drop")
        form |= {f"column-{number}": name, f"role-{number}": role, f"kind-{number}": ""}
    answer = client.post("p", project.name, "data/roles", data=form)
    assert answer.status_code == 303, answer.text
    assert project.settings()["drop"].count(",") == len(names) - 1


def test_a_form_has_an_end(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MOST_BYTES", 10_000)
    project = filled(client)
    for sent in (
        {"data": {"row": "x" * 20_000}},
        {"content": b"x" * 20_000},
        {"json": {"edit": "x" * 20_000}},
    ):
        for place in ("data/keep", "hierarchy/edit"):
            answer = client.post("p", project.name, place, **sent)
            assert answer.status_code in {303, 400}
            assert answer.status_code == 400 or "data" not in sent
    assert (
        "more than 10,000 bytes"
        in client.post("p", project.name, "data/keep", data={"row": "x" * 20_000}).text
    )
