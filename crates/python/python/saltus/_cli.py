"""The command line."""

from __future__ import annotations

import os
import pathlib
import signal
import sys

from . import _native


def main(arguments: list[str] | None = None) -> int:
    """Does what a command line asks for, without the name of the program, and returns the exit status."""
    # Python's own handler would wait for the end of the command.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The program is Python here: what goes into units is not beside it but in this package.
    for runtime in (pathlib.Path(__file__).parent / "lib").glob("*saltus_fmi_runtime.*"):
        os.environ.setdefault("SALTUS_FMI_RUNTIME", str(runtime))
    return _native.main(["saltus", *(sys.argv[1:] if arguments is None else arguments)])


if __name__ == "__main__":
    raise SystemExit(main())
