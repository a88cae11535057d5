"""Connections of those who are not let in: few, and short.

Any program on the computer can connect. uvicorn lets a connection wait for ever before its first request, and
its limit of connections refuses anyone who comes last, which would be the owner.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

STRANGERS = 64  # connections at the same time that nothing was let in by; then the oldest makes room
SECONDS = 20.0  # that such a connection may take
HEAD_BYTES = 65_536  # of a request without its body
BACKLOG = 64  # connections that are taken before those open are looked at


class Connection(H11Protocol):
    """A connection that is closed where the guard lets nothing in by it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.let_in = False
        self.made = 0.0
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, and make room where there are many that are not let in."""
        super().connection_made(transport)
        self.made = self.loop.time()
        self._late = self.loop.call_later(SECONDS, self._close_unless_let_in)
        strangers = [one for one in self.connections if isinstance(one, Connection) and not one.known()]
        for one in sorted(strangers, key=lambda one: one.made)[:-STRANGERS]:
            one.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take more of a request, or the next."""
        self.known()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self._late is not None:
            self._late.cancel()
        super().connection_lost(exc)

    def known(self) -> bool:
        """Return whether the guard has let a request of this connection in (see `setveil.studio.guard`)."""
        self.let_in |= self.scope is not None and bool(self.scope.get("state", {}).get("let_in"))
        return self.let_in

    def _close_unless_let_in(self) -> None:
        if not self.known():
            self.transport.abort()
