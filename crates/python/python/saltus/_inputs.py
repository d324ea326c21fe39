"""Inputs of a model, from whatever holds numbers over time."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._model import Model

Given = tuple[str, "np.ndarray[Any, Any]", "np.ndarray[Any, Any]", bool]


def given(inputs: Any, model: Model) -> tuple[list[Given], pathlib.Path | None]:
    """Arrays by input, or the file that holds them."""
    if isinstance(inputs, (str, os.PathLike)):
        return [], pathlib.Path(inputs).expanduser()
    if isinstance(inputs, Mapping):
        return [_one(name, value) for name, value in inputs.items()], None
    if hasattr(inputs, "columns") and hasattr(inputs, "__getitem__"):
        return _frame(inputs, model), None
    if hasattr(inputs, "resample") and hasattr(inputs, "time"):
        return [(name, _numbers(name, inputs.time), _numbers(name, inputs[name]), False)
                for name in model.inputs if name in inputs], None  # fmt: skip
    raise TypeError(
        f"inputs are a {type(inputs).__name__}: give a dictionary of arrays, a data frame, a result, or a file"
    )


def _frame(frame: Any, model: Model) -> list[Given]:
    columns = [str(column) for column in frame.columns]
    if "time" in columns:
        times = _numbers("time", frame["time"])
    elif hasattr(frame, "index") and not callable(frame.index):
        times = _numbers("time", frame.index)
    else:
        raise ValueError("the data frame has no column `time`")
    known = model.inputs
    found = [name for name in columns if name in known]
    if not found:
        raise ValueError(f"no column of the data frame is an input of the model: inputs are {', '.join(known) or 'none'}")
    return [(name, times, _numbers(name, frame[name]), False) for name in found]


def _one(name: Any, value: Any) -> Given:
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is a {type(name).__name__}: names are texts")
    if isinstance(value, tuple):
        if len(value) == 3 and value[2] in ("hold", "linear"):
            return name, _numbers(name, value[0]), _numbers(name, value[1]), value[2] == "hold"
        if len(value) == 2:
            return name, _numbers(name, value[0]), _numbers(name, value[1]), False
        raise ValueError(f'`{name}`: give (times, values), or (times, values, "hold")')
    if hasattr(value, "index") and not callable(value.index):
        return name, _numbers(name, value.index), _numbers(name, value), False
    if np.ndim(value) == 0:
        return name, np.zeros(1), _numbers(name, [value]), True
    raise TypeError(f"`{name}` has values without times: give (times, values)")


def _numbers(name: str, values: Any) -> np.ndarray[Any, Any]:
    try:
        array = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"`{name}`: these are no numbers: {error}") from None
    if array.ndim != 1:
        raise ValueError(f"`{name}` has {array.ndim} dimensions: give one value per time")
    return array
