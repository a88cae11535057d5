"""Protection of the studio: it answers only its own pages, in the browser that it opened.

Every request passes here first. The rules, in this order:

- The Host header must name the studio's own address, so that no other name can be made to lead here.
- No websockets.
- A request that changes something must come from a page of the studio: its Origin must be the studio's,
  and the browser must call it ``same-origin`` (another port here is ``same-site``, which is not enough). A
  request that changes nothing may also be an address typed by hand.
- Beyond the way in, every address begins with a secret and needs a cookie that is sent to such addresses
  only: cookies are not bound to a port, so other servers here would get one with a common path.

Connections by which nothing was let in are few and short (`setveil.studio.limits`).
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HOST = "127.0.0.1"
COOKIE = "setveil"
CODE_SECONDS = 60
WAY_IN = {"/again", "/enter", "/enter.js", "/icon.svg", "/studio.css"}  # answered without the cookie
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'none'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
FRAMED_POLICY = (  # a report, shown in a frame of ours: it has its own styles, and no rights
    "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)
_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "same-origin",  # with no-referrer browsers send `Origin: null` with forms
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_SAFE = {"GET", "HEAD"}


@dataclass
class Keys:
    """The one-time code that opens the studio: new for every start."""

    port: int
    clock: Callable[[], float] = time.monotonic  # seconds that only grow
    path: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    again: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    _codes: dict[str, float] = field(default_factory=dict)

    @property
    def host(self) -> str:
        """The only Host header that is answered."""
        return f"{HOST}:{self.port}"

    @property
    def origin(self) -> str:
        """The only Origin that may change something."""
        return f"http://{self.host}"

    @property
    def prefix(self) -> str:
        """Return the beginning of every address except the entrance."""
        return f"/s/{self.path}"

    def new_code(self) -> str:
        """Make a code that lets one browser in, once and for a minute."""
        code = secrets.token_urlsafe(32)
        self._codes[code] = self.clock() + CODE_SECONDS
        return code

    @property
    def waits(self) -> bool:
        """Return whether a code is still good for coming in."""
        return any(self.clock() <= until for until in self._codes.values())

    def use_code(self, code: str) -> bool:
        """Use up a code; tell whether it was good."""
        good = False
        for known, until in list(self._codes.items()):
            if equal(known, code):
                del self._codes[known]
                good = self.clock() <= until
        return good

    def set_cookie(self) -> str:
        """Write the header that gives a browser the cookie."""
        return f"{COOKIE}={self.cookie}; Path={self.prefix}/; HttpOnly; SameSite=Strict"


def signed(key: str, *words: str) -> str:
    """Sign words with a key, which the signature does not tell."""
    return hmac.new(key.encode(), "\n".join(words).encode("utf-8", "replace"), "sha256").hexdigest()


def equal(one: str, other: str) -> bool:
    """Compare two secrets in a time that does not depend on where they differ."""
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


class Guard:
    """The rules above, around the application; `refuse` makes the application that answers a refusal."""

    def __init__(self, app: App, keys: Keys, refuse: Callable[[int, str, str], App]) -> None:
        self.app = app
        self.keys = keys
        self.refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        else:
            refusal, path = self._refusal(scope), scope["path"]
            app = self.app if refusal is None else self.refuse(*refusal)
            scope.setdefault("state", {})["let_in"] = refusal is None and path not in WAY_IN
            # What strangers go on sending is not listened to.
            ends = scope["method"] not in _SAFE and not scope["state"]["let_in"]
            await app(scope, receive, _with_headers(send, ends=ends))

    def _refusal(self, scope: Scope) -> tuple[int, str, str] | None:
        """Say why a request is not answered, if so: status, title, sentence."""
        headers = [
            (key.decode("latin-1").lower(), value.decode("latin-1")) for key, value in scope["headers"]
        ]
        if _all(headers, "host") != [self.keys.host]:
            return (
                421,
                "Wrong address",
                f"setveil studio answers at {self.keys.origin} alone, on the computer that it runs on.",
            )
        path = scope["path"]
        origins, sites = _all(headers, "origin"), _all(headers, "sec-fetch-site")
        foreign = (
            403,
            "Not from here",
            "The request came from a page that is not setveil's own, so it was not answered.",
        )
        if scope["method"] not in _SAFE:
            if origins != [self.keys.origin] or sites != ["same-origin"]:
                return foreign
        elif path not in WAY_IN and (
            any(site not in {"same-origin", "none"} for site in sites)
            or any(origin != self.keys.origin for origin in origins)
        ):
            return foreign
        if path in WAY_IN:
            return None
        begins, _, rest = path.removeprefix("/s/").partition("/")
        known = path.startswith("/s/") and equal(begins, self.keys.path)
        if not (known and (rest or path.endswith("/")) and self._has_cookie(headers)):
            return (
                403,
                "Please come in again",
                "This address is not open in this browser. Run setveil studio: it opens a new page. "
                "All your projects are still there.",
            )
        return None

    def _has_cookie(self, headers: Iterable[tuple[str, str]]) -> bool:
        good = False
        for value in _all(headers, "cookie"):
            for part in value.split(";"):
                try:
                    found = SimpleCookie(part.strip()).get(COOKIE)
                except CookieError:
                    continue
                good |= found is not None and equal(found.value, self.keys.cookie)
        return good


def _all(headers: Iterable[tuple[str, str]], name: str) -> list[str]:
    return [value for key, value in headers if key == name]


def _with_headers(send: Send, *, ends: bool) -> Send:
    """Give every answer the headers; a framed report may have its own policy; `ends` its connection."""

    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", []))
            framed = (b"content-security-policy", FRAMED_POLICY.encode()) in headers
            ours = _HEADERS | (
                {"content-security-policy": FRAMED_POLICY, "x-frame-options": "SAMEORIGIN"} if framed else {}
            )
            ours |= {"connection": "close"} if ends else {}
            kept = [(key, value) for key, value in headers if key.decode().lower() not in ours]
            message = {**message, "headers": kept + [(k.encode(), v.encode()) for k, v in ours.items()]}
        await send(message)

    return sent
