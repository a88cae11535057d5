"""Answer questions about a project: one JSON object a line, in and out.

The end of standard input ends the desk, so that a killed server leaves nothing behind. A question names a
function of `data`, `tree`, `release`, `series` or `before_after`, which is called with the desk and the rest
of the question.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from setveil.base.errors import SetveilError, on_command_line
from setveil.base.staging import give_up
from setveil.runs.memory import keep_to
from setveil.studio.desk import before_after, column_groups, columns, data, release, series, tree
from setveil.studio.desk.place import Desk

HANDLERS: dict[str, Callable[..., dict[str, Any]]] = {
    **before_after.HANDLERS,
    **columns.HANDLERS,
    **column_groups.HANDLERS,
    **data.HANDLERS,
    **tree.HANDLERS,
    **release.HANDLERS,
    **series.HANDLERS,
}
MEMORY = "SETVEIL_DESK_MEMORY"  # MB that it may take


def main() -> None:
    """Answer until there are no more questions."""
    os.umask(0o077)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no answer
    gc.set_threshold(500_000)  # what is read stays: to search it for garbage takes long
    questions: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(questions,), daemon=True).start()
    keep_to(float(os.environ.get(MEMORY, "inf")), lambda: os._exit(1))
    desk: Desk | None = None
    while True:
        question = questions.get()
        folder = Path(question["folder"])
        if desk is None or desk.folder != folder:
            os.chdir(folder)  # what lies in it is named from there
            desk = Desk(folder)
        answer = {"id": question["id"], **_answer(desk, question["do"], question["with"])}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


_SAID = {"_message", "_hint"}  # of an error; what else it has says where


@on_command_line()  # pages offer what a hint names
def _answer(desk: Desk, do: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"answer": HANDLERS[do](desk, **arguments)}
    except SetveilError as error:
        more = {key: value for key, value in vars(error).items() if key not in _SAID}
        where = {key: value for key, value in more.items() if _is_plain(value)}
        return _refused(type(error).__name__, error.message, error.hint, where)
    except MemoryError:
        desk.forget()
        return _refused(
            "MemoryError",
            "The computer has too little free memory for this.",
            "Close other programs, or take fewer rows.",
        )
    except Exception as error:
        traceback.print_exc()
        return _refused(
            "Defect",
            f"Setveil failed where it should not: {type(error).__name__}.",
            "This is a defect of setveil. The previous page is still valid.",
        )


def _refused(kind: str, message: str, hint: str, where: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"error": {"kind": kind, "message": message, "hint": hint, "where": where or {}}}


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def _listen(questions: queue.SimpleQueue[dict[str, Any]]) -> None:
    try:
        for line in sys.stdin.buffer:
            questions.put(json.loads(line))
    finally:  # without questions there is nothing to wait for
        give_up()
        os._exit(0)


if __name__ == "__main__":
    main()
