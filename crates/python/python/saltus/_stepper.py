"""Runs in your hands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from . import _native
from ._result import Floats, Result
from ._values import names_in

if TYPE_CHECKING:
    from ._model import Model


class Stepper:
    """A run that goes on as far as it is told: for co-simulation, controllers in Python, learning.

    >>> model = saltus.loads('''
    ... model Tank
    ...   input Real inflow;
    ...   Real level(start = 0, fixed = true);
    ...   Boolean full = level > 1;
    ... equation
    ...   der(level) = inflow - 0.1*level;
    ... end Tank;''')
    >>> run = model.stepper()
    >>> run.set("inflow", 0.2)
    >>> run.step(1.0)
    'time'
    >>> saved = run.save()
    >>> run.advance(100.0)            # to the next event
    'event'
    >>> run["full"], round(run.time, 3)
    (1.0, 6.931)
    >>> run.restore(saved)
    >>> run.time
    1.0
    """

    def __init__(self, native: _native.Stepper, model: Model) -> None:
        self._native = native
        self._model = model

    @property
    def time(self) -> float:
        """The present time."""
        return self._native.time

    @property
    def mode(self) -> str:
        """The present mode in words."""
        return self._native.mode

    @property
    def inputs(self) -> list[str]:
        """The names of the inputs."""
        return self._native.inputs

    def step(self, duration: float) -> str:
        """Goes on for a time, through the events on the way. Returns ``"time"``, or ``"end"`` if the run is over."""
        if not duration >= 0:
            raise ValueError(f"a step takes time: {duration} is no duration")
        return self._native.advance(self.time + duration, True)

    def run_to(self, time: float) -> str:
        """Goes on to a time, through the events on the way. Returns ``"time"``, or ``"end"`` if the run is over."""
        return self._native.advance(time, True)

    def advance(self, until: float) -> str:
        """Goes on to a time or to the next event before it, which is over when this returns. Returns ``"time"``,
        ``"event"`` or ``"end"``."""
        return self._native.advance(until, False)

    def set(self, name: str | Mapping[str, float], value: float | None = None) -> None:
        """Gives an input a value from now on; a jump is an event with the next step."""
        if isinstance(name, Mapping):
            for each, number in name.items():
                self._native.set_input(each, float(number))
        elif value is None:
            raise TypeError("give the value of the input")
        else:
            self._native.set_input(name, float(value))

    def __getitem__(self, name: str) -> float:
        return self._native.values([name])[0]

    def values(self, names: str | Iterable[str]) -> Floats:
        """The present values of variables, as an array."""
        return np.array(self._native.values(names_in(names)), dtype=np.float64)

    def rates(self) -> dict[str, float]:
        """The derivatives of the states of the present mode."""
        return {name: rate for name, _, rate in self._native.rates()}

    def save(self) -> _native.SavedRun:
        """The run as it is now, with its results so far."""
        return self._native.save()

    def restore(self, saved: _native.SavedRun) -> None:
        """Goes back, or on, to what was saved of this run or of another of the same model."""
        self._native.restore(saved)

    @property
    def result(self) -> Result:
        """Rows and events so far, as a copy. There is a row at every time that was gone to and on both sides of events;
        an ``interval`` for ``Model.stepper`` adds others."""
        return Result(self._native.results(), self._model)

    def __repr__(self) -> str:
        return f"<saltus.Stepper of {self._model.name} at t = {self.time:g}>"
