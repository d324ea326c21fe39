"""How far a run or a sweep is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Protocol


class Progress(Protocol):
    """Is told how far it is, and when it is over."""

    def at(self, place: float) -> None: ...

    def close(self) -> None: ...


class _Called:
    def __init__(self, function: Callable[[float, float], object], first: float, last: float) -> None:
        self._function, self._first, self._last = function, first, last

    def at(self, place: float) -> None:
        span = self._last - self._first
        self._function(place, min(1.0, (place - self._first) / span) if span > 0 else 1.0)

    def close(self) -> None:
        pass


class _Bar:
    def __init__(self, first: float, last: float) -> None:
        from tqdm.auto import tqdm

        self._bar: Any = tqdm(total=last - first, unit="s", bar_format="{l_bar}{bar}| {n:.4g}/{total:.4g} s")
        self._first = first

    def at(self, place: float) -> None:
        self._bar.update(place - self._first - self._bar.n)

    def close(self) -> None:
        self._bar.close()


class _Line:
    """Without tqdm: one line on standard error that is drawn again and again."""

    def __init__(self, first: float, last: float) -> None:
        self._first, self._last, self._drawn = first, last, 0.0

    def at(self, place: float) -> None:
        now = time.monotonic()
        if now - self._drawn > 0.2:
            self._drawn = now
            print(f"\r\033[K{place:.6g} of {self._last:.6g}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._drawn:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def reporter(progress: bool | Callable[[float, float], object], first: float, last: float) -> Progress:
    """Who is told."""
    if callable(progress):
        return _Called(progress, first, last)
    if progress is not True:
        raise TypeError("progress is True, False, or a function of time and the fraction done")
    try:
        return _Bar(first, last)
    except ImportError:
        return _Line(first, last)
