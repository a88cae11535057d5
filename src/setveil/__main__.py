"""``setveil`` and ``python -m setveil``."""

import gc
import os
import sys

from setveil.base.errors import SetveilError
from setveil.cli.ctrlc import end, leave_on_signal
from setveil.cli.printing import print_or_fail
from setveil.cli.watched import be_steered, is_watched


def main() -> None:
    """Run the command line, and answer Ctrl-C and the like from here to the end of the process."""
    leave_on_signal()
    print_or_fail()
    if is_watched():
        be_steered()
    for unused in ("scipy", "coverage", "yaml"):
        # numba imports them where they are installed, which takes a quarter of a second: scipy for np.dot and
        # the like in compiled code, which we have none of, coverage in case that it is measuring (then it is
        # here already), yaml for a file of settings. Only a command may hide them, as only a process of our
        # own compiles nothing else.
        sys.modules.setdefault(unused, None)  # type: ignore[arg-type]
    # numpy's library of matrices starts threads that keep processors busy, and adds up in another order with
    # each number of them. What we ask of it is little, and must not depend on the machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(500_000)  # what is imported and read stays: to search it for garbage takes long
    code: object = 0
    try:
        try:
            from setveil.cli.app import main as run

            run()
        finally:
            sys.stdout.flush()
    except SystemExit as done:
        code = done.code
    except SetveilError as error:
        from setveil.cli.drawing import tell

        tell(f"Error: {error}")
        code = error.exit_code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    end(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    main()
