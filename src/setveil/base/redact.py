"""What is written down of a connection to a database: all but its secrets."""

from __future__ import annotations

import re

HIDDEN = "***"  # stands for a secret
_SECRET = re.compile(
    r"(?i)((?:password|passwd|passphrase|pwd|secret|token|key|credentials?|signature)\w*\s*=\s*)([^&;]*)"
)


_FILES = ("sqlite:", "duckdb:")  # databases that are opened for reading only


def is_server(connection: str) -> bool:
    """Return whether a connection leads to a server, which executes a query with the rights of who asks."""
    return not connection.lower().startswith(_FILES)


def redacted(connection: str) -> str:
    """Replace passwords and other secrets in a connection.

    >>> redacted("postgresql://ann:secret@db.example.org/shop?sslmode=require")
    'postgresql://ann:***@db.example.org/shop?sslmode=require'
    """
    scheme, mark, rest = connection.partition("://") if "://" in connection else ("", "", connection)
    user, at, host = rest.rpartition("@")  # the last one: a password may hold others
    name, colon, _ = user.partition(":")
    hidden = HIDDEN if colon else ""
    return _SECRET.sub(rf"\1{HIDDEN}", f"{scheme}{mark}{name}{colon}{hidden}{at}{host}")


def secrets_of(connection: str) -> list[str]:
    """List the secrets that `redacted` omits."""
    user = connection.partition("://")[2].rpartition("@")[0]
    return [user.partition(":")[2], *(value for _, value in _SECRET.findall(connection))]
