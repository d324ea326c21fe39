"""The command line."""

from __future__ import annotations

import signal
import sys

from . import _native


def main(arguments: list[str] | None = None) -> int:
    """Does what a command line asks for, without the name of the program, and returns the exit status."""
    # Python's own handler would wait for the end of the command.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["saltus", *(sys.argv[1:] if arguments is None else arguments)])


if __name__ == "__main__":
    raise SystemExit(main())
