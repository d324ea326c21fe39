"""Models around a point."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._errors import SimulationError
from ._result import Floats, Result
from ._stepper import Stepper
from ._values import Settings

if TYPE_CHECKING:
    from ._model import Model


@dataclasses.dataclass(frozen=True)
class Linear:
    """``der(x) = A x + B u``, ``y = C x + D u`` for small changes around a point, within its mode.

    >>> model = saltus.loads('''
    ... model Pendulum
    ...   input Real torque;
    ...   Real phi(start = 0, fixed = true), w(start = 0, fixed = true);
    ... equation
    ...   der(phi) = w;
    ...   der(w) = torque - 9.81*sin(phi);
    ... end Pendulum;''')
    >>> linear = model.linearize(outputs="phi")
    >>> linear.states, linear.inputs
    (['phi', 'w'], ['torque'])
    >>> linear.A.round(6).tolist(), linear.B.round(6).tolist()
    ([[0.0, 1.0], [-9.81, 0.0]], [[0.0], [1.0]])
    >>> linear.eigenvalues().imag.max().round(4)
    np.float64(3.1321)
    """

    time: float
    mode: str
    states: list[str]
    inputs: list[str]
    outputs: list[str]
    x: Floats
    dx: Floats
    u: Floats
    y: Floats
    A: Floats
    B: Floats
    C: Floats
    D: Floats

    def eigenvalues(self) -> np.ndarray[Any, Any]:
        """The eigenvalues of A."""
        return np.linalg.eigvals(self.A)

    def to_scipy(self) -> Any:
        """A ``scipy.signal.StateSpace``."""
        import scipy.signal

        return scipy.signal.StateSpace(self.A, self.B, self.C, self.D)

    def __repr__(self) -> str:
        mode = f", mode {self.mode}" if self.mode else ""
        return (
            f"<saltus.Linear at t = {self.time:g}{mode}: {len(self.states)} states, {len(self.inputs)} inputs,"
            f" {len(self.outputs)} outputs>"
        )


def linearize(stepper: Stepper, at: float | None, outputs: list[str]) -> Linear:
    """Goes to a time and linearises there."""
    if at is not None:
        stepper.run_to(at)
    return _linear(stepper._native.linearize(outputs))


def _linear(native: _native.Linear) -> Linear:
    states, inputs, outputs = native.names
    n, m, p = len(states), len(inputs), len(outputs)
    x, dx, u, y = (np.asarray(part) for part in native.point)
    a, b, c, d = (np.asarray(part) for part in native.matrices)
    return Linear(
        native.time, native.mode, states, inputs, outputs, x, dx, u, y,
        a.reshape(n, n), b.reshape(n, m), c.reshape(p, n), d.reshape(p, m),
    )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class SteadyState:
    """A state in which nothing changes any more, and when it was reached."""

    time: float
    mode: str
    values: dict[str, float]
    #: The greatest rate of a state there, in parts of its size per second.
    rate: float
    result: Result

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    def __repr__(self) -> str:
        return f"<saltus.SteadyState reached at t = {self.time:g}, rates below {self.rate:.2g}/s>"


def steady_state(
    model: Model,
    *,
    horizon: float = 1e6,
    first: float | None = None,
    relative_rate: float = 1e-8,
    set: Settings | None = None,
    start_values: Settings | None = None,
    inputs: Any = None,
    tolerance: float | None = None,
    solver: str | None = None,
    chattering: str = "stop",
    zeno: str = "stop",
) -> SteadyState:
    """The state in which nothing changes any more, found by going there, through all mode changes on the way. The run ends where
    every state ``x`` has ``|der(x)| < relative_rate * max(|x|, 1)`` twice in a row, with as much time in between as has passed; it is
    an error if that is not so before ``horizon``, as for oscillations.

    >>> model = saltus.loads("model M parameter Real k = 2; Real x(start = 1); equation der(x) = 3 - k*x; end M;")
    >>> round(model.steady_state(set={"k": 4})["x"], 6)
    0.75
    """
    if not horizon > 0:
        raise ValueError(f"the horizon is a time, not {horizon}")
    stepper = model.stepper(
        (model.experiment["start"] or 0.0) + horizon, start=model.experiment["start"], set=set, start_values=start_values, inputs=inputs, tolerance=tolerance, solver=solver, chattering=chattering,
        zeno=zeno,
    )  # fmt: skip
    begun = stepper.time
    duration = first if first is not None else 1.0
    calm, rate = 0, np.inf
    while True:
        reached = stepper.run_to(begun + min(duration, horizon))
        rate = _rate(stepper)
        calm = calm + 1 if rate < relative_rate else 0
        if calm == 2 or reached == "end" and calm:
            break
        if duration >= horizon or reached == "end":
            raise SimulationError(
                f"no steady state before t = {stepper.time:g}: a state still changes by {rate:.3g} of its size per second."
                " Oscillations have none; `horizon` and `relative_rate` give it more time or less accuracy",
                None,
                stepper.result,
            )
        duration *= 2
    result = stepper.result
    names = result.names()
    values = dict(zip(names, stepper.values(names).tolist()))
    return SteadyState(stepper.time, stepper.mode, values, float(rate), result)


def _rate(stepper: Stepper) -> float:
    rates = stepper._native.rates()
    return max((abs(dx) / max(abs(x), 1.0) for _, x, dx in rates), default=0.0)


