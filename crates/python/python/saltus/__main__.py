"""``python -m saltus`` is the command line."""

from ._cli import main

raise SystemExit(main())
