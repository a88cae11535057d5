"""A process that compiles functions for another one, by lines of JSON, until its standard input ends."""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from typing import Any


def main() -> None:
    """Compile what is requested."""
    requests: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=[requests], daemon=True).start()
    for unused in ("scipy", "coverage", "yaml"):
        sys.modules.setdefault(unused, None)  # type: ignore[arg-type]  # as in the process that is compiled for
    from setveil.base.jit import calls

    while True:
        kernel, types = json.loads(requests.get())
        try:
            answer = "compiled" if calls.named(kernel).compile(types) else "there"
        except Exception:  # the list is out of date: the process that needs the function will compile it
            answer = "failed"
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


def _listen(requests: queue.Queue[Any]) -> None:
    for line in sys.stdin.buffer:
        requests.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
