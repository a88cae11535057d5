"""``setveil`` and ``python -m setveil``."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported is answered like any other."""
    try:
        from setveil.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
