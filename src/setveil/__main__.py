"""``python -m setveil``."""

from setveil.cli.app import main

main()
