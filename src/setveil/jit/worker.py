"""A process that compiles functions for another one: a line of JSON for each, and a line when it is there.

It ends when the other one does, for then its standard input ends, whatever it is compiling.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from typing import Any


def main() -> None:
    """Compile what is asked for."""
    asked: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_listen, args=[asked], daemon=True).start()
    for unused in ("scipy", "coverage", "yaml"):
        sys.modules.setdefault(unused, None)  # type: ignore[arg-type]  # as in the process that is compiled for
    from setveil.jit.listed import kernel_named, of_json

    while True:
        kernel, types = json.loads(asked.get())
        try:
            function: Any = kernel_named(kernel)
            signature = of_json(types)
            known = signature in function.overloads  # one that was compiled for another function
            function.compile(signature)
            answer = "compiled" if function._cache_misses[signature] and not known else "there"
        except Exception:  # the list is out of date: who needs the function will compile it
            answer = "failed"
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


def _listen(asked: queue.Queue[bytes]) -> None:
    for line in sys.stdin.buffer:
        asked.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
