"""The cell magic ``%%modelica``."""

from __future__ import annotations

import shlex
from typing import Any

from ._errors import Error
from ._model import loads


def register(ipython: Any) -> None:
    """Adds the magic to a notebook or shell."""
    ipython.register_magic_function(_modelica, magic_kind="cell", magic_name="modelica")


def _modelica(line: str, cell: str) -> Any:
    """``%%modelica [name] [--model Full.Name]``: compiles the text of the cell and binds the model to a name, that of the model
    if none is given."""
    from IPython import get_ipython

    words = shlex.split(line)
    wanted = None
    if "--model" in words:
        at = words.index("--model")
        wanted = words[at + 1] if at + 1 < len(words) else None
        del words[at : at + 2]
    try:
        model = loads(cell, wanted)
    except Error as error:
        # The trace of the calls says nothing about the text of the cell.
        print(error)
        return None
    name = words[0] if words else model.name.rsplit(".", 1)[-1]
    get_ipython().user_ns[name] = model
    return model
