"""Accepted and rejected requests: each row of the table of threats that needs no browser."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import socket
import stat
import subprocess
import sys
import time
from collections.abc import MutableMapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import uvicorn
from starlette.routing import Mount, Route
from uvicorn.server import ServerState

from cli_helpers import COMMAND, needs_proc, posix_only
from setveil.studio import limits, running
from setveil.studio.app import make_app
from setveil.studio.guard import CODE_SECONDS, COOKIE, FRAMED_POLICY, Keys, signed
from setveil.studio.render import framed
from setveil.studio.running import ask_running, word_for
from studio_browser import home, serve
from studio_client import PORT, Client

HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path)


# --- Host


@pytest.mark.parametrize(
    "host",
    [
        "localhost", f"localhost:{PORT}", f"localhost.evil:{PORT}", f"evil.example:{PORT}", "127.0.0.1",
        f"127.0.0.1:{PORT + 1}", f"127.0.0.1.evil.example:{PORT}", f"127.1:{PORT}", f"[::1]:{PORT}",
        f"0.0.0.0:{PORT}", f"{HOST}.", f"user@{HOST}", f" {HOST}x", "", f"{HOST},evil.example",
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/enter", "/studio.css", "/", "inside"])
def test_another_host_is_not_answered(client: Client, host: str, path: str) -> None:
    answer = client.raw("GET", client.at("") if path == "inside" else path, client.headers() | {"host": host})
    assert answer.status_code == 421
    assert client.keys.path not in answer.text


def test_two_hosts_or_none_are_not_answered(client: Client) -> None:
    for headers in ([], [(b"host", HOST.encode()), (b"host", HOST.encode())]):
        assert response(client, "GET", "/enter", headers)[0] == 421


def test_another_host_may_not_enter(client: Client) -> None:
    code = client.keys.new_code()
    headers = client.headers(post=True) | {"host": "evil.example"}
    assert client.raw("POST", "/enter", headers, content=code).status_code == 421
    assert client.keys.use_code(code)  # it was not used up


# --- pages of others


@pytest.mark.parametrize("path", ["inside", "/enter", "/again"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": ORIGIN},
        {"sec-fetch-site": "same-origin"},
        *(
            {"origin": origin, "sec-fetch-site": "same-origin"}
            for origin in (
                "null", "", "http://127.0.0.1", f"http://127.0.0.1:{PORT + 1}", f"https://{HOST}",
                f"http://localhost:{PORT}", "http://evil.example", f"{ORIGIN}/", f"{ORIGIN}.evil.example",
                ORIGIN.upper(),
            )
        ),
        *(
            {"origin": ORIGIN, "sec-fetch-site": site}
            for site in ("same-site", "cross-site", "none", "", "same-origin, same-site", "SAME-ORIGIN")
        ),
    ],
    ids=str,
)  # fmt: skip
def test_what_changes_something_comes_from_a_page_of_the_studio(
    client: Client, path: str, headers: dict[str, str]
) -> None:
    cookie = {"cookie": f"{COOKIE}={client.keys.cookie}"}
    address = client.at("new") if path == "inside" else path
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert client.raw(method, address, cookie | headers).status_code == 403
    assert client.studio.projects.all() == []


def test_two_origins_or_sites_are_none(client: Client) -> None:
    cookie = (b"cookie", f"{COOKIE}={client.keys.cookie}".encode())
    host, origin = (b"host", HOST.encode()), (b"origin", ORIGIN.encode())
    site = (b"sec-fetch-site", b"same-origin")
    for doubled in ((b"origin", ORIGIN.encode()), (b"sec-fetch-site", b"same-site")):
        status, _ = response(client, "POST", client.at("new"), [host, cookie, origin, site, doubled])
        assert status == 403


@pytest.mark.parametrize("site", ["same-site", "cross-site", "", "same-origin, none"])
def test_pages_of_others_see_nothing(client: Client, site: str) -> None:
    answer = client.raw("GET", client.at(""), client.headers() | {"sec-fetch-site": site})
    assert answer.status_code == 403


def test_a_foreign_origin_sees_nothing(client: Client) -> None:
    answer = client.raw("GET", client.at(""), client.headers() | {"origin": "http://evil.example"})
    assert answer.status_code == 403


@pytest.mark.parametrize("site", ["same-origin", "none", None])
def test_own_pages_and_typed_addresses_are_answered(client: Client, site: str | None) -> None:
    headers = client.headers() | ({"sec-fetch-site": site} if site else {})
    if site is None:
        del headers["sec-fetch-site"]  # a browser that does not say it: the cookie is SameSite=Strict
    assert client.raw("GET", client.at(""), headers).status_code == 200


def test_getting_changes_nothing(client: Client, tmp_path: Path) -> None:
    for path in ("new", "close", "try"):
        assert client.get(path).status_code in {404, 405}
    assert client.studio.projects.all() == []
    assert not client.closed


def test_websockets_are_closed(client: Client) -> None:
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "websocket.connect"}

    headers = [(b"host", HOST.encode()), (b"origin", ORIGIN.encode())]
    scope = {"type": "websocket", "path": client.at(""), "headers": headers}
    run(client.app(scope, receive, send))
    assert [message["type"] for message in sent] == ["websocket.close"]


# --- the key


@pytest.mark.parametrize(
    "cookie",
    [
        None, "", COOKIE, f"{COOKIE}=", f"{COOKIE}=x", "other=KEY", f"{COOKIE}=KEYx", f"{COOKIE}=\x7f",
        f"x{COOKIE}=KEY", f"{COOKIE}=PATH",
    ],
)  # fmt: skip
def test_without_the_cookie_there_is_nothing(client: Client, cookie: str | None) -> None:
    headers = {"sec-fetch-site": "same-origin", "origin": ORIGIN}
    if cookie is not None:
        value = cookie.replace("KEY", client.keys.cookie).replace("PATH", client.keys.path)
        headers["cookie"] = value
    for method, path in (("GET", ""), ("GET", "static/studio.css"), ("GET", "p/x/data"), ("POST", "new")):
        answer = client.raw(method, client.at(path), headers)
        assert answer.status_code == 403
        assert client.keys.path not in answer.text
    assert client.studio.projects.all() == []


@pytest.mark.parametrize(
    "path", ["", "/", "/s", "/s/", "/s/x/", "/s/KEY", "/S/KEY/", "/s/KEYx/", "/p/x/data"]
)
def test_another_path_leads_nowhere(client: Client, path: str) -> None:
    address = path.replace("KEY", client.keys.path) or "/"
    assert client.raw("GET", address, client.headers()).status_code == 403


def test_other_cookies_are_no_harm(client: Client) -> None:
    headers = client.headers()
    headers["cookie"] = f"a=b; {COOKIE}=old; c[=d; {headers['cookie']}"
    assert client.raw("GET", client.at(""), headers).status_code == 200


def test_each_start_has_new_keys() -> None:
    one, other = Keys(PORT), Keys(PORT)
    assert len({one.path, one.cookie, one.again, other.path, other.cookie, other.again}) == 6
    assert min(map(len, (one.path, one.cookie, one.again, one.new_code()))) >= 43  # 256 bits


# --- the way in


def enter(client: Client, code: str) -> httpx.Response:
    headers = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}
    return client.raw("POST", "/enter", headers, content=code)


def test_a_code_is_good_once(client: Client) -> None:
    code = client.keys.new_code()
    answer = enter(client, code)
    assert answer.json() == {"go": f"{client.keys.prefix}/"}
    cookie = answer.headers["set-cookie"]
    assert cookie == f"{COOKIE}={client.keys.cookie}; Path={client.keys.prefix}/; HttpOnly; SameSite=Strict"
    again = enter(client, code)
    assert again.status_code == 403
    assert "set-cookie" not in again.headers
    assert client.keys.path not in again.text


def test_a_code_is_good_for_a_minute(tmp_path: Path) -> None:
    client = Client(tmp_path)
    now = [1000.0]
    client.keys.clock = lambda: now[0]
    in_time, late = client.keys.new_code(), client.keys.new_code()
    now[0] += CODE_SECONDS
    assert enter(client, in_time).status_code == 200
    now[0] += 1
    assert enter(client, late).status_code == 403
    now[0] -= 1
    assert enter(client, late).status_code == 403  # it was used up


@pytest.mark.parametrize("code", ["", "x", "KEY", "\u00e9" * 20, "x" * 100_000, "\0"])
def test_a_guess_is_no_code(client: Client, code: str) -> None:
    client.keys.new_code()
    assert enter(client, code.replace("KEY", client.keys.cookie)).status_code == 403


def test_a_second_start_asks_for_a_code(client: Client) -> None:
    def ask(sign: str, once: str = "once") -> httpx.Response:
        headers = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}
        return client.raw("POST", "/again", headers, content=f"{once} {sign}")

    key = client.keys.again
    for wrong in ("", "x", key, signed("other key", "ask", "once"), signed(key, "ask", "twice")):
        assert ask(wrong).status_code == 403
    found = ask(signed(key, "ask", "once")).json()
    assert found["signed"] == signed(key, "code", "once", found["code"])
    assert enter(client, found["code"]).status_code == 200


def leave_word(folder: Path, content: object, mode: int = 0o600) -> Path:
    """Write the word by which a second start finds the first, for projects in this very folder."""
    folder.chmod(0o700)
    word = word_for(folder, folder)
    word.write_text(content if isinstance(content, str) else json.dumps(content))
    word.chmod(mode)
    return word


@pytest.mark.parametrize("answer", [b'{"code": "x", "signed": "y"}', b'{"code": "x"}', b"[]", b"<html>"])
def test_what_answers_in_place_of_a_studio_is_not_opened(answer: bytes, tmp_path: Path) -> None:
    requests = []

    class Other(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Other) as server:
        Thread(target=server.handle_request, daemon=True).start()
        leave_word(tmp_path, {"origin": f"http://127.0.0.1:{server.server_port}", "again": "the key"})
        assert ask_running(tmp_path, tmp_path) is None
    assert len(requests) == 1
    assert b"the key" not in requests[0]


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:", "http://127.0.0.1:0", "https://127.0.0.1:PORT",
        "http://127.0.0.1:99999", "http://127.0.0.1:PORT/", "http://127.0.0.1:PORT@evil.example:80",
        "http://evil.example:80#http://127.0.0.1:PORT", "http://localhost:PORT", "http://127.1:PORT", "file:///etc",
        "http://127.0.0.1:PORT\n", " http://127.0.0.1:PORT", "http://127.0.0.1:\u0661", "http://127.0.0.1:0PORT",
        "http://127.0.0.1:" + "9" * 5000, "", 7, None, ["http://127.0.0.1:PORT"],
    ],
    ids=lambda one: str(one)[:40],
)  # fmt: skip
def test_no_other_address_is_requested(
    origin: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http.client, "HTTPConnection", lambda *_, **__: pytest.fail("it was asked"))
    leave_word(tmp_path, {"origin": str_or(origin, "PORT", "8765"), "again": "the key"})
    assert ask_running(tmp_path, tmp_path) is None


def str_or(value: object, old: str, new: str) -> object:
    return value.replace(old, new) if isinstance(value, str) else value


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "7", "[" * 100_000, "9" * 5000, '{"origin": "x"}', '{"again": 7}', "\0" * 10_000],
)
def test_a_damaged_word_is_none(content: str, tmp_path: Path) -> None:
    leave_word(tmp_path, content)
    assert ask_running(tmp_path, tmp_path) is None


@posix_only
@pytest.mark.parametrize(
    "spoilt", ["others write", "group writes", "open folder", "link", "pipe", "folder", "others'"]
)
def test_a_word_that_others_could_have_left_is_none(
    spoilt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http.client, "HTTPConnection", lambda *_, **__: pytest.fail("it was asked"))
    answer = {"origin": "http://127.0.0.1:8765", "again": "the key"}
    word = leave_word(tmp_path, answer, {"others write": 0o602, "group writes": 0o620}.get(spoilt, 0o600))
    if spoilt == "open folder":
        tmp_path.chmod(0o777)
    if spoilt in {"link", "pipe", "folder"}:
        word.rename(tmp_path / "other")
    if spoilt == "link":
        word.symlink_to("other")
    if spoilt == "pipe":
        os.mkfifo(word)
    if spoilt == "folder":
        word.mkdir()
    if spoilt == "others'":
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert ask_running(tmp_path, tmp_path) is None


@posix_only
def test_where_word_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the place: the system's runtime folder if it is private to the user, else the user's own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    own = tmp_path / ".local" / "state" / "setveil"
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    for state, mode, expected in (
        (str(runtime), 0o700, runtime / "setveil"), (str(runtime), 0o755, own),
        (str(tmp_path / "none"), 0o700, own), ("run", 0o700, own), ("", 0o700, own),
    ):  # fmt: skip
        runtime.chmod(mode)
        monkeypatch.setenv("XDG_RUNTIME_DIR", state)
        assert running.runtime_folder() == expected
    monkeypatch.setattr(sys, "platform", "darwin")
    assert running.runtime_folder() == tmp_path / "Library" / "Caches" / "setveil"


def test_who_answers_with_another_address_is_not_followed(tmp_path: Path) -> None:
    """A redirect leads nowhere."""
    requests = []

    class Other(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.append(self.path)
            self.send_response(307)
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")  # type: ignore[attr-defined]
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Other) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        leave_word(tmp_path, {"origin": f"http://127.0.0.1:{server.server_port}", "again": "the key"})
        assert ask_running(tmp_path, tmp_path) is None
        server.shutdown()
    assert requests == ["/again"]


@pytest.mark.parametrize("path", ["/enter", "/again", "/nowhere", "/studio.css"])
def test_strangers_are_not_listened_to_for_long(client: Client, path: str) -> None:
    """Check that a request of 600 MB is rejected: it was read before any part was checked."""
    read = 0

    async def receive() -> MutableMapping[str, Any]:
        nonlocal read
        read += 1
        assert read < 10
        return {"type": "http.request", "body": b"x" * 65_536, "more_body": True}

    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    headers = [(b"host", HOST.encode()), (b"origin", ORIGIN.encode()), (b"sec-fetch-site", b"same-origin")]
    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": headers, "scheme": "http", "server": ("127.0.0.1", PORT), "root_path": "",
        "http_version": "1.1",
    }  # fmt: skip
    run(client.app(scope, receive, send))
    assert sent[0]["status"] in {403, 405}
    assert (b"connection", b"close") in sent[0]["headers"]
    assert read <= 1


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH"])
@pytest.mark.parametrize("path", ["/enter", "/again", "/studio.css", "/enter.js", "/x", "/s/x/", "/p/x/data"])
def test_the_secret_path_is_not_revealed(client: Client, method: str, path: str) -> None:
    """An address that knows another method answered with a page of the studio, and its links."""
    answer = client.raw(method, path, {"origin": ORIGIN, "sec-fetch-site": "same-origin"})
    assert client.keys.path not in answer.text + str(answer.headers)


@posix_only
def test_idle_connections_shut_nobody_out(tmp_path: Path) -> None:
    """Each takes one of the files that the studio may have open: 200 here, and some it needs itself."""
    server = serve(tmp_path, by=("sh", "-c", 'ulimit -n 200; exec "$@"', "sh"))
    port = int(server.origin.rpartition(":")[2])
    held = []
    try:
        for number in range(600):
            held.append(socket.create_connection(("127.0.0.1", port), timeout=60))
            if number % 3 == 1:
                held[-1].sendall(b"POST /enter HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")  # and nothing more
            if number % 3 == 2:
                head = f"Host: 127.0.0.1:{port}\r\nOrigin: {server.origin}\r\nSec-Fetch-Site: same-origin\r\n"
                held[-1].sendall(f"POST /enter HTTP/1.1\r\n{head}Content-Length: 99\r\n\r\n".encode())
        headers = {"origin": server.origin, "sec-fetch-site": "same-origin"}
        code = server.first.partition("#")[2]
        answer = httpx.post(f"{server.origin}/enter", content=code, headers=headers, timeout=60)
        assert answer.status_code == 200
        headers["cookie"] = answer.headers["set-cookie"].partition(";")[0]
        page = httpx.get(f"{server.origin}{answer.json()['go']}", headers=headers, timeout=60)
        assert "Your projects" in page.text
        assert len(list(Path(f"/proc/{server.process.pid}/fd").iterdir())) < 200
    finally:
        for one in held:
            one.close()
        server.stop()


def test_a_connection_by_which_nobody_comes_in_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that authorized connections stay, and the oldest others make room; none stays for long."""

    class Transport(asyncio.Transport):
        closed = False

        def abort(self) -> None:
            self.closed = True

        def close(self) -> None:
            pass

    async def connect() -> None:
        config = uvicorn.Config(lambda: None, http=limits.Connection, loop="asyncio")
        config.load()
        state = ServerState()
        made = [limits.Connection(config, state, {}) for _ in range(limits.STRANGERS + 3)]
        transports = [Transport() for _ in made]
        for at, (one, transport) in enumerate(zip(made, transports, strict=True)):
            one.connection_made(transport)
            one.made = float(at)
            if at == 0:
                one.scope = {"state": {"let_in": True}}  # type: ignore[typeddict-item]
        assert [at for at, one in enumerate(transports) if one.closed] == [1, 2]
        assert made[0].known()
        for one in made:
            one._close_unless_let_in()
            one.connection_lost(None)
        assert [at for at, one in enumerate(transports) if not one.closed] == [0]

    run(connect())


def test_the_page_of_the_way_in_gives_nothing_away(client: Client) -> None:
    for site in ("cross-site", "none", "same-origin", "same-site"):
        answer = client.raw("GET", "/enter", {"sec-fetch-site": site})
        assert answer.status_code == 200
        assert not {client.keys.path, client.keys.cookie, client.keys.again} & {*answer.text.split('"')}
        assert "set-cookie" not in answer.headers


def test_a_second_start_needs_its_key(client: Client) -> None:
    headers = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}
    for key in ("", "x", client.keys.cookie, client.keys.path):
        assert client.raw("POST", "/again", headers, content=key).status_code == 403
    content = f"once {signed(client.keys.again, 'ask', 'once')}"
    answer = client.raw("POST", "/again", headers, content=content)
    assert enter(client, answer.json()["code"]).status_code == 200


# --- headers


def addresses(client: Client) -> list[str]:
    """List every address that the application has, with names filled in."""

    def of(routes: Any, prefix: str) -> list[str]:
        found = []
        for route in routes:
            if isinstance(route, Mount):
                found += of(route.routes, prefix + route.path.replace("{project}", "pharmacy"))
            else:
                assert isinstance(route, Route)
                found.append(prefix + route.path)
        return found

    guard: Any = make_app(client.studio)
    return of(guard.app.routes, "")


def test_every_answer_has_the_headers(client: Client) -> None:
    client.studio.projects.create("Pharmacy")
    client.studio.projects.find("pharmacy").save(input=str(client.studio.projects.root / "gone.csv"))
    every = [path for path in addresses(client) if not path.endswith("/events")]  # which never ends
    assert len(every) > 10
    for path in every:
        for method in ("GET", "POST"):
            for headers in (client.headers(post=True), {}, {"host": "evil"}):
                if method == "POST" and "cookie" in headers:
                    continue  # what they start has tests of its own
                check_headers(client.raw(method, path, headers))
    check_headers(client.post("new", data={"title": "Another"}))
    check_headers(client.post("p", "pharmacy", "data", "take", data={"path": "nowhere"}))


def check_headers(answer: httpx.Response) -> None:
    found = answer.headers
    policy = found["content-security-policy"]
    assert policy.startswith("default-src 'none'") or policy == FRAMED_POLICY
    assert "unsafe" not in policy or policy == FRAMED_POLICY
    if policy != FRAMED_POLICY:
        assert "frame-ancestors 'none'" in policy
        assert found["x-frame-options"] == "DENY"
    assert found["cache-control"] == "no-store"
    assert found["x-content-type-options"] == "nosniff"
    assert found["referrer-policy"] == "same-origin"
    assert found["cross-origin-opener-policy"] == "same-origin"
    assert found["cross-origin-resource-policy"] == "same-origin"
    assert not [name for name in found if name.startswith("access-control")]
    assert found.get_list("content-security-policy") == [policy]
    assert "server" not in found


def test_a_framed_report_has_no_rights() -> None:
    policy = framed("<p>").headers["content-security-policy"]
    assert policy.startswith("sandbox")
    assert "allow-scripts" not in policy
    assert "allow-same-origin" not in policy
    assert "frame-ancestors 'self'" in policy
    assert "script-src" not in policy
    assert "default-src 'none'" in policy


# --- paths

HOSTILE = [
    "..", ".", "../pharmacy", "..\\pharmacy", "pharmacy/..", "pharmacy\0", "\0", "/etc", "%2e%2e", "..%2f",
    "pharmacy/../../etc", "link", ".hidden", ".studio.json", "con", "x" * 5000, "\u202e", "pharmacy ",
    "PHARMACY", "~", "*",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_project_is_one_of_those_there_are(client: Client, name: str, tmp_path: Path) -> None:
    client.studio.projects.create("Pharmacy")
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    (elsewhere / "project.toml").write_text("")
    if os.name == "posix":
        (tmp_path / "link").symlink_to(elsewhere, target_is_directory=True)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "project.toml").write_text("")
    for path in (client.at("p", name, "data"), client.at("p", quote(name, safe=""), "data")):
        assert response(client, "GET", path, letting(client))[0] in {403, 404}
    with pytest.raises(LookupError):
        client.studio.projects.find(name)


@pytest.mark.parametrize(
    "name", ["../app.py", "..%2fapp.py", "app.py", "../templates/base.html", ".", "..", "\0"]
)
def test_static_files_are_from_a_list(client: Client, name: str) -> None:
    assert response(client, "GET", client.at("static", name), letting(client))[0] in {403, 404}


@pytest.mark.parametrize("title", ["../../etc", "..", "/", "\0", "a/b\\c", "\u202e", "CON", " ", "x" * 500])
def test_a_title_makes_a_plain_folder(client: Client, title: str, tmp_path: Path) -> None:
    project = client.studio.projects.create(title)
    assert project.folder.parent == tmp_path
    assert set(project.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert client.studio.projects.create(title).folder != project.folder


# --- the process


@posix_only
def test_what_is_made_is_its_owners_alone(tmp_path: Path) -> None:
    client = Client(tmp_path / "setveil")
    project = client.studio.projects.create("Pharmacy")
    for folder in (tmp_path / "setveil", project.folder):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@needs_proc
def test_it_listens_on_this_computer_alone(tmp_path: Path) -> None:
    server = serve(tmp_path)
    try:
        sockets = {
            str(path.readlink())
            for path in Path(f"/proc/{server.process.pid}/fd").iterdir()
            if path.is_symlink()
        }
        found = []
        for table in ("tcp", "tcp6", "udp", "udp6"):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                if f"socket:[{fields[9]}]" in sockets:
                    found.append((table, fields[1], fields[3]))
        port = int(server.origin.rpartition(":")[2])
        assert found == [("tcp", f"0100007F:{port:04X}", "0A")]
    finally:
        server.stop()


@posix_only
def test_no_key_is_left_or_shown(tmp_path: Path) -> None:
    server = serve(tmp_path)
    word = server.word
    try:
        assert stat.S_IMODE(word.stat().st_mode) == 0o600
        assert stat.S_IMODE(word.parent.stat().st_mode) == 0o700
        assert sorted((tmp_path / "setveil").iterdir()) == []
        key = json.loads(word.read_text())["again"]
        command = Path(f"/proc/{server.process.pid}/cmdline").read_bytes().decode()
        assert key not in command
        assert server.first.partition("#")[2] not in command
    finally:
        server.stop()
    assert not word.exists()


@posix_only
def test_the_browser_is_opened_on_a_file_that_goes_away(tmp_path: Path) -> None:
    """Neither the key nor the code is in a command line; the file with the code is its owner's alone."""
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(
        f"#!{sys.executable}\n"
        "import os, pathlib, sys, urllib.parse\n"
        "path = pathlib.Path(urllib.parse.urlsplit(sys.argv[1]).path)\n"
        "mode = path.stat().st_mode & 0o777\n"
        f"seen = pathlib.Path({str(seen)!r})\n"
        "seen.write_text(f'{path}\\n{mode:o}\\n' + path.read_text())\n"
    )
    browser.chmod(0o755)
    process = subprocess.Popen(
        [*COMMAND, "studio"],
        env=home(tmp_path) | {"BROWSER": str(browser), "DISPLAY": ""},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        while not (seen.exists() and "refresh" in seen.read_text()) and process.poll() is None:
            time.sleep(0.02)
        path, mode, content = seen.read_text().split("\n", 2)
        command = Path(f"/proc/{process.pid}/cmdline").read_bytes().decode()
        assert mode == "600"
        address = re.search(r"url=(http://127\.0\.0\.1:\d+)/enter#([\w-]{43})", content)
        assert address is not None
        assert address[2] not in command
        headers = {"origin": address[1], "sec-fetch-site": "same-origin"}
        assert httpx.post(f"{address[1]}/enter", content=address[2], headers=headers).status_code == 200
        while Path(path).exists():
            time.sleep(0.05)
        process.terminate()
        assert process.stdout is not None
        assert process.stdout.read() == ""


def test_no_browser_prints_one_line(tmp_path: Path) -> None:
    server = serve(tmp_path)
    assert server.first.startswith(f"{server.origin}/enter#")
    server.process.terminate()
    assert server.process.stdout is not None
    with server.process:
        assert server.process.stdout.read() == ""


def run(work: Any) -> Any:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def letting(client: Client) -> list[tuple[bytes, bytes]]:
    """Return the headers of a browser that was let in."""
    return [(b"host", HOST.encode()), (b"cookie", f"{COOKIE}={client.keys.cookie}".encode())]


def response(client: Client, method: str, path: str, headers: list[tuple[bytes, bytes]]) -> tuple[int, bytes]:
    """Ask with exactly these headers."""
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": headers, "scheme": "http", "server": ("127.0.0.1", PORT), "root_path": "",
        "http_version": "1.1",
    }  # fmt: skip
    run(client.app(scope, receive, send))
    return int(sent[0]["status"]), b"".join(message.get("body", b"") for message in sent)
