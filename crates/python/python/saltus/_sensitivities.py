"""Derivatives of results with respect to parameters."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from . import _native
from ._errors import SimulationError
from ._inputs import given
from ._result import Floats, Result
from ._values import Settings, names_in

if TYPE_CHECKING:
    from ._model import Model


@dataclasses.dataclass(frozen=True)
class Sensitivities:
    """Derivatives of outputs with respect to parameters at given times, and of the times of events.

    ``sensitivities["w", "J"]`` are the derivatives of ``w`` with respect to ``J`` at the times. NaN where there is none:
    ``problems`` says why.
    """

    times: Floats
    parameters: list[str]
    outputs: list[str]
    #: Values by output.
    values: dict[str, Floats]
    #: Derivatives by output and parameter.
    derivatives: dict[tuple[str, str], Floats]
    #: Estimates of the errors of derivatives that are differences; empty for the others.
    errors: dict[tuple[str, str], Floats]
    #: Times of the events.
    event_times: Floats
    #: Derivatives of the times of the events by parameter.
    event_derivatives: dict[str, Floats]
    #: Why derivatives are missing, by parameter.
    problems: dict[str, str]

    def __getitem__(self, key: tuple[str, str]) -> Floats:
        return self.derivatives[key]

    def __repr__(self) -> str:
        missing = f", problems with {', '.join(self.problems)}" if self.problems else ""
        return (
            f"<saltus.Sensitivities of {', '.join(self.outputs)} with respect to {', '.join(self.parameters)}"
            f" at {len(self.times)} times{missing}>"
        )


def sensitivities(
    model: Model,
    parameters: str | Iterable[str],
    outputs: str | Iterable[str],
    *,
    at: ArrayLike | None = None,
    stop: float | None = None,
    start: float | None = None,
    set: Settings | None = None,
    inputs: Any = None,
    tolerance: float = 1e-10,
    solver: str | None = None,
    method: str | None = None,
    steps: Mapping[str, float] | None = None,
    on_problem: str = "record",
) -> Sensitivities:
    """Derivatives of outputs at times ``at`` (the end if not given), and of the times of events, with respect to parameters.

    They are right across jumps, impulses and mode changes as long as the events come in the same order for nearby values; where
    they do not, there is no derivative: NaN, and ``problems`` says why (or an exception, with ``on_problem="raise"``). At the time
    of an event itself what jumps there has no derivative either.

    method: ``"variational"``: within a mode the variational equations with exact partial derivatives, at an event the
            derivative of its time and of all that happens there. ``"differences"``: central differences of fourth order of whole
            runs, with ``errors`` as estimates and ``steps`` by parameter; these know start values (``"x.start"``), delays and
            sliding as well. If not given, the first, unless start values or steps are named.

    >>> model = saltus.loads('''
    ... model Reset "u' = 1, back to zero when it reaches p: u(1) = 1 - p"
    ...   parameter Real p = 0.6;
    ...   Real u(start = 0, fixed = true);
    ... equation
    ...   der(u) = 1;
    ...   when u >= p then
    ...     reinit(u, 0);
    ...   end when;
    ... end Reset;''')
    >>> s = model.sensitivities(["p"], "u", stop=1)
    >>> s["u", "p"].round(6), s.event_derivatives["p"].round(6)
    (array([-1.]), array([0., 1.]))
    """
    if on_problem not in ("record", "raise"):
        raise ValueError(f'on_problem is "record" or "raise", not {on_problem!r}')
    names, chosen = names_in(parameters), names_in(outputs)
    if method is None:
        by_differences = steps is not None or any(name.endswith(".start") for name in names)
        method = "differences" if by_differences else "variational"
    settings: dict[str, Any] = dict(at=at, stop=stop, start=start, set=set, inputs=inputs, tolerance=tolerance, solver=solver)
    if method == "variational":
        if steps is not None:
            raise ValueError('steps are for method="differences": variational equations have none')
        found = _variational(model, names, chosen, **settings)
    elif method == "differences":
        found = _differences(model, names, chosen, steps=steps, **settings)
    else:
        raise ValueError(f'method is "variational" or "differences", not {method!r}')
    if on_problem == "raise" and found.problems:
        raise SimulationError(next(iter(found.problems.values())))
    return found


def _variational(
    model: Model,
    names: list[str],
    chosen: list[str],
    *,
    at: ArrayLike | None,
    stop: float | None,
    start: float | None,
    set: Settings | None,
    inputs: Any,
    tolerance: float,
    solver: str | None,
) -> Sensitivities:
    options = _native.RunOptions(start=start, stop=stop, tolerance=tolerance, solver=solver)
    shaped, values = model._resolved(set, None)
    arrays, file = given(inputs, model) if inputs is not None else ([], None)

    def ask(times: list[float]) -> _native.Sensitivities:
        native, error = shaped._native.sensitivities(options, list(values), arrays, file, names, chosen, times)
        if error is not None:
            raise error
        return native

    if at is None:
        asked = [float(model._span(start, stop)[1])]
        native = ask(asked)
        if native.end < asked[0]:
            native = ask([native.end])
        wanted = np.asarray(native.times)
    else:
        wanted = np.atleast_1d(np.asarray(at, dtype=np.float64))
        native = ask([float(time) for time in np.unique(wanted)])
        if len(wanted) and wanted.max() > native.end:
            raise ValueError(f"t = {wanted.max()} lies outside the run, which ended at {native.end}")
    order = np.searchsorted(np.asarray(native.times), wanted)
    each = list(enumerate(names))
    return Sensitivities(
        wanted,
        names,
        chosen,
        {output: np.asarray(native.values(k))[order] for k, output in enumerate(chosen)},
        {
            (output, name): np.asarray(native.derivatives(k, parameter))[order]
            for k, output in enumerate(chosen)
            for parameter, name in each
        },
        {},
        np.asarray(native.event_times),
        {name: np.asarray(native.event_derivatives(parameter)) for parameter, name in each},
        {name: problem for (_, name), problem in zip(each, native.problems) if problem is not None},
    )


def _differences(
    model: Model,
    names: list[str],
    chosen: list[str],
    *,
    at: ArrayLike | None,
    stop: float | None,
    start: float | None,
    set: Settings | None,
    inputs: Any,
    tolerance: float,
    solver: str | None,
    steps: Mapping[str, float] | None,
) -> Sensitivities:
    """Central differences of fourth order of whole runs, on all cores."""
    fixed = dict(set or {})
    here = {name: _value(model, name, fixed) for name in names}
    width = {name: _step(name, here[name], tolerance, steps) for name in names}

    def run(moved: Mapping[str, float]) -> Result:
        return model.simulate(
            stop, start=start, set={**fixed, **moved}, inputs=inputs, outputs=chosen, tolerance=tolerance, solver=solver,
            interval=None,
        )  # fmt: skip

    def value(result: Result) -> dict[str, Floats]:
        return _at(result, chosen, grid)

    middle = run(here)
    grid = np.atleast_1d(np.asarray(middle.time[-1] if at is None else at, dtype=np.float64))
    multiples = (1.0, -1.0, 2.0, -2.0)
    moves = [(name, k, {name: here[name] + k * width[name]}) for name in names for k in multiples]
    runs: dict[tuple[str, float], Result | SimulationError] = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        tasks = {pool.submit(_tried, run, moved): (name, k) for name, k, moved in moves}
        for task in concurrent.futures.as_completed(tasks):
            runs[tasks[task]] = task.result()

    derivatives: dict[tuple[str, str], Floats] = {}
    errors: dict[tuple[str, str], Floats] = {}
    event_derivatives: dict[str, Floats] = {}
    problems: dict[str, str] = {}
    base = value(middle)
    for name in names:
        around = [runs[name, k] for k in multiples]
        problem = _problem(name, middle, around)
        results = [result for result in around if isinstance(result, Result)]
        if problem is None:
            shifts = np.array([result.events.times for result in results])
            event_derivatives[name] = _slope(shifts, width[name])[0]
            blurred = _within_events(grid, np.vstack([shifts, middle.events.times]))
            if blurred.any():
                problem = f"at t = {grid[blurred][0]:g} there is an event, whose time depends on `{name}`"
        else:
            event_derivatives[name] = np.full(len(middle.events), np.nan)
            blurred = np.ones(len(grid), dtype=bool)
        if problem is not None:
            problems[name] = problem
        samples = [value(result) for result in results] if not blurred.all() else []
        for output in chosen:
            if samples:
                slope, error = _slope(np.array([sample[output] for sample in samples]), width[name])
            else:
                slope = error = np.full(len(grid), np.nan)
            derivatives[output, name] = np.where(blurred, np.nan, slope)
            errors[output, name] = np.where(blurred, np.nan, error)
    return Sensitivities(
        grid, names, chosen, base, derivatives, errors, middle.events.times, event_derivatives, problems
    )


def _tried(run: Any, moved: Mapping[str, float]) -> Result | SimulationError:
    try:
        result: Result = run(moved)
        return result
    except SimulationError as error:
        return error


def _value(model: Model, name: str, fixed: Mapping[str, Any]) -> float:
    value = fixed.get(name)
    if value is None and not name.endswith(".start"):
        value = dict(model._values).get(name, model.parameters[name].value)
    if value is None or isinstance(value, bool):
        raise ValueError(f"`{name}` is no number that can be varied: give its value with `set`")
    return float(value)


def _step(name: str, value: float, tolerance: float, steps: Mapping[str, float] | None) -> float:
    if steps is not None and name in steps:
        step = float(steps[name])
        if not (np.isfinite(step) and step > 0):
            raise ValueError(f"the step of `{name}` is {step}: give a positive number")
        return step
    # What the tolerance leaves open and what the fifth derivative brings are then about equal.
    return float(max(tolerance, 1e-13) ** 0.2) * 0.3 * (abs(value) if value else 1.0)


def _slope(moved: Floats, step: float) -> tuple[Floats, Floats]:
    """The derivative from values at +h, -h, +2h, -2h, and an estimate of its error."""
    near = (moved[0] - moved[1]) / (2 * step)
    far = (moved[2] - moved[3]) / (4 * step)
    return (4 * near - far) / 3, np.abs(near - far) / 3


def _order(result: Result) -> list[tuple[int, int, tuple[str, ...]]]:
    conditions = {number: tuple(mode.conditions.items()) for number, mode in result.modes.items()}
    return [
        (
            hash(conditions.get(event.from_mode)),
            hash(conditions.get(event.to_mode)),
            tuple(sorted(trigger.condition for trigger in event.triggers)),
        )
        for event in result.events
    ]


def _problem(name: str, middle: Result, around: list[Result | SimulationError]) -> str | None:
    for result in around:
        if isinstance(result, SimulationError):
            return f"a run for a nearby value of `{name}` fails: {result.message.splitlines()[0]}"
        if _order(result) != _order(middle):
            return (
                f"the events come in another order, or in another number, for nearby values of `{name}`: there is no derivative"
            )
    return None


def _within_events(grid: Floats, times: Floats) -> np.ndarray[Any, Any]:
    low, high = times.min(axis=0), times.max(axis=0)
    # At an event whose time stays, the right limits have derivatives.
    inside = (grid[:, None] >= low) & (grid[:, None] <= high) & (high > low)
    return np.asarray(inside.any(axis=1))


def _at(result: Result, names: list[str], grid: Floats) -> dict[str, Floats]:
    return {name: _smooth(result, name, grid) for name in names}


def _smooth(result: Result, name: str, grid: Floats) -> Floats:
    """Values at times by polynomials through the rows around them, on one side of every event: lines between rows are too coarse
    for differences."""
    times, values = result.time, result[name]
    out = np.empty(len(grid))
    for at, time in enumerate(grid):
        if not times[0] <= time <= times[-1]:
            raise ValueError(f"t = {time} lies outside the run, which goes from {times[0]} to {times[-1]}")
        right = int(np.searchsorted(times, time, side="right"))
        if times[right - 1] == time:
            out[at] = values[right - 1]
            continue
        low = high = right
        # Rows of the same stretch between events, as many on both sides as there are.
        while low > 0 and right - low < 4 and (low == right or times[low - 1] < times[low]):
            low -= 1
        while high < len(times) and high - right < 4 and (high == right or times[high] > times[high - 1]):
            high += 1
        out[at] = _lagrange(times[low:high], values[low:high], time)
    return out


def _lagrange(times: Floats, values: Floats, time: float) -> float:
    total = 0.0
    for k, value in enumerate(values):
        others = np.delete(times, k)
        total += value * float(np.prod((time - others) / (times[k] - others)))
    return total
