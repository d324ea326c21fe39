"""From values of Python to values as they are written in a model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

import numpy as np

Scalar = Union[float, int, bool, str, np.number, np.bool_]
Value = Union[Scalar, Sequence[Any], np.ndarray]
Settings = Mapping[str, Value]


def text(value: Any, name: str = "the value") -> str:
    """A value as it is written in a model: ``1.5``, ``true``, ``{1, 2}``, or the literal of an enumeration."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return _real(float(value), name)
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return text(value.item(), name)
    if isinstance(value, (Sequence, np.ndarray)):
        return "{" + ", ".join(text(item, name) for item in value) + "}"
    raise TypeError(
        f"{name} is a {type(value).__name__}: give a number, True or False, a text, or a list or array of these"
    )


def _real(value: float, name: str) -> str:
    if not math.isfinite(value):
        raise ValueError(f"{name} is {value}: give a finite number")
    # A whole number is one, also for parameters that are Integer.
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)


def is_array(value: Any) -> bool:
    """Whether a value has elements."""
    return isinstance(value, np.ndarray) and value.ndim > 0 or isinstance(value, (list, tuple))


def elements(name: str, value: Any) -> dict[str, Any]:
    """The elements of an array by their names: ``k[1]``, ``k[2]``, … or ``k[1,1]``, …"""
    array = np.asarray(value, dtype=object)
    if isinstance(value, np.ndarray):
        array = value
    names = {}
    for index in np.ndindex(array.shape):
        names[f"{name}[{','.join(str(i + 1) for i in index)}]"] = array[index]
    return names


def names_in(value: str | Iterable[str] | None) -> list[str]:
    """One name or several."""
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    names = list(value)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{name!r} is a {type(name).__name__}: names are texts")
    return names
