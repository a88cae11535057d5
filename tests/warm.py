"""Interpreters that have imported all and fork for each command: starting one takes longer than most of them.

A request runs as in a process of its own: with its arguments, environment, folder, streams and exit code. It
shares only what precedes the first line of a command, and the random choices of Python at its start (the seed
of hashes). Tests of these start real processes.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds")
CAN_END_TOGETHER = CAN_FORK and hasattr(os, "pidfd_open")

# Replaces the command in a shell; uses only modules of every Python, so that it starts at once.
_CLIENT = """
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as to:
    to.connect({address!r})
    asked = json.dumps([{script!r}, sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(to, [len(asked).to_bytes(8)], [0, 1, 2])
    to.sendall(asked)
    code = int(to.makefile().read())
sys.exit(code if code >= 0 else 128 - code)
"""

# The replacement of Python forwards everything that a process has from its parent, and its own number.
_INHERITED = """
import json, os, sys
sys.argv[1:] = [json.dumps([sys.argv, dict(os.environ), os.umask(0), os.getpid()])]
"""

# Does in a fork what Python does with -m or -c, and ends with the process that replaces it.
_AS_PYTHON = """
import json, os, runpy, select, signal, sys, threading
(python, *words), environment, mask, client = json.loads(sys.argv.pop())
asking = os.pidfd_open(client)
def end_together():
    select.select([asking], [], [])
    os.kill(os.getpid(), signal.SIGKILL)
threading.Thread(target=end_together, daemon=True).start()
os.setsid()
os.umask(mask)
os.environ.clear()
os.environ.update(environment)
if words[0] == "-c":
    sys.argv = ["-c", *words[2:]]
    exec(words[1], {"__name__": "__main__"})
    sys.exit()
sys.argv = words[words.index("-m") + 1:]
sys.modules.pop("setveil.work.studies.compare.worker", None)  # which may be what is run
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


class Interpreter:
    """A process that forks for each requested script.

    Parameters
    ----------
    address : str, optional
        The address of one that another process has started; by default, a new one is started.
    """

    def __init__(self, address: str | None = None) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        if address is not None:
            self.address = address
            return
        self.address = str(Path(tempfile.mkdtemp(prefix="warm")) / "socket")
        first, client = self.command(_AS_PYTHON).split("\n", 1)
        Path(self.python).write_text(first + _INHERITED + client)
        Path(self.python).chmod(0o700)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.address)
            listener.listen(64)
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(listener.fileno()), self.address],
                env={**os.environ, "PYTHONUTF8": "1"},
                stdin=subprocess.PIPE,
                pass_fds=[listener.fileno()],
            )

    def run(
        self,
        script: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        cwd: Path | None = None,
        stdin: bytes = b"",
    ) -> tuple[int, bytes, bytes]:
        """Run a script and return its exit code, standard output and standard error."""
        requests = json.dumps([script, arguments, str(cwd or Path.cwd()), dict(environment)]).encode()
        with contextlib.ExitStack() as stack:
            to = stack.enter_context(socket.socket(socket.AF_UNIX))
            fed, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
            fed.write(stdin)
            fed.seek(0)
            to.connect(self.address)
            socket.send_fds(to, [len(requests).to_bytes(8)], [fed.fileno(), out.fileno(), err.fileno()])
            to.sendall(requests)
            code = int(to.makefile().read())
            out.seek(0)
            err.seek(0)
            return code, out.read(), err.read()

    def command(self, script: str) -> str:
        """Return a Python program that runs a script there, with its own arguments, folder and streams."""
        return f"#!{sys.executable} -SI\n" + _CLIENT.format(address=self.address, script=script)

    @property
    def python(self) -> str:
        """The path of a replacement of Python, for running a module of setveil or a script."""
        return _python_at(self.address)

    def close(self) -> None:
        """End it, as does the end of this process, if it was started here."""
        if self._process is not None:
            self._process.communicate()


def _python_at(address: str) -> str:
    """Return the path of the replacement of Python, which is removed with the interpreter."""
    return str(Path(address).with_name("python"))


def _fork_workers(python: str) -> None:
    """Let commands fork the workers of their studies too."""
    from setveil.work.studies.compare import sweep

    for study in (sweep.run_all, sweep.sweep):
        defaults = study.__kwdefaults__
        assert defaults is not None
        defaults["worker"] = (python, *sweep.WORKER[1:])


def _import_all() -> None:
    """Import the modules of commands, and do once the first work of each."""
    import gc
    import importlib
    import pkgutil

    import highspy  # noqa: F401
    import numpy.ma  # noqa: F401  (numpy does, when it first looks for what is unique)

    import setveil

    for module in pkgutil.walk_packages(setveil.__path__, "setveil."):
        needs_pyspark = "spark" in module.name and not module.name.startswith("setveil.cli.")
        if not module.name.endswith("__main__") and not needs_pyspark:
            importlib.import_module(module.name)
    call_compiled()
    _load_compiled()
    gc.freeze()


def call_compiled() -> None:
    """Call a compiled function once, with nothing: what numba does at the first call of all is done then."""
    import numpy as np

    from setveil.kernels.rows import frozen, recode_rows

    nothing = frozen([], np.int32)
    recode_rows(frozen([0], np.int64), nothing, nothing)


def _load_compiled() -> None:
    """Load all that is kept of compiled functions as they are now, which commands would do one by one."""
    import setveil.base.compiling
    from setveil.base.jit import Kernel, calls

    for one in setveil.base.compiling.listed():
        with contextlib.suppress(Exception):  # a list that is out of date
            kernel = calls.named(one.kernel)
            if isinstance(kernel, Kernel):
                kernel.load(one.types)


def _serve(listener: socket.socket) -> None:
    """Answer each request in a process of its own, until standard input ends."""
    import select
    import signal

    running: dict[int, socket.socket] = {}
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wake)
    while True:
        readable, _, _ = select.select([0, listener.fileno(), woken], [], [])
        if 0 in readable:
            return
        if woken in readable:
            os.read(woken, 1 << 16)
            for pid in list(running):
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    with running.pop(pid) as asking, contextlib.suppress(OSError):  # nobody waits for it
                        asking.sendall(str(os.waitstatus_to_exitcode(status)).encode())
        if listener.fileno() in readable:
            connection, _ = listener.accept()
            pid = os.fork()
            if pid:
                running[pid] = connection
                continue
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.close(woken)
            os.close(wake)
            for other in (listener, *running.values()):  # the client waits until all have closed them
                other.close()
            _answer(connection)


def _answer(connection: socket.socket) -> NoReturn:
    """Run the request in the process that was forked for it."""
    length, streams, _, _ = socket.recv_fds(connection, 8, 3)
    with connection, connection.makefile("rb") as asking:
        script, arguments, folder, environment = json.loads(asking.read(int.from_bytes(length)))
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        os.dup2(streams[number], number)
        os.close(streams[number])
        before, lines = getattr(sys, name), 1 if name == "stderr" else -1
        stream = open(number, mode, lines, before.encoding, before.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
    os.environ.clear()
    os.environ.update(environment)
    _run(script, arguments, folder)


def _run(script: str, arguments: list[str], folder: str) -> NoReturn:
    """Be the process that runs a script."""
    code: object = 0
    try:
        os.chdir(folder)
        sys.argv = ["setveil", *arguments]
        exec(script, {"__name__": "__main__"})  # noqa: S102
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    _import_all()
    if CAN_END_TOGETHER:
        _fork_workers(_python_at(sys.argv[2]))
    _serve(socket.socket(fileno=int(sys.argv[1])))
    shutil.rmtree(Path(sys.argv[2]).parent)
