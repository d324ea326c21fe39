"""Values of parameters from data."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import SimulationError
from ._result import Floats, Result
from ._values import Settings

if TYPE_CHECKING:
    from ._model import Model

#: The residual of a run that fails, in parts of the size of the data: large, but finite.
_FAILED = 1e3


@dataclasses.dataclass(frozen=True)
class Fit:
    """Values of parameters that make runs agree with data."""

    #: The values found.
    values: dict[str, float]
    #: Their standard errors, if the model is right and the errors of the data are independent.
    errors: dict[str, float]
    #: Their covariances, in the order of ``values``.
    covariance: Floats
    #: Root of the mean square of what remains, in the units of the weights.
    rms: float
    #: Whether the search came to an end, and what it said.
    success: bool
    message: str
    #: Runs that were made, and those of them that failed.
    runs: int
    failed: int
    #: The run with the values found.
    result: Result
    #: What the optimiser of scipy returned.
    optimum: Any

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    def __repr__(self) -> str:
        values = ", ".join(f"{name} = {value:.6g} ± {self.errors[name]:.2g}" for name, value in self.values.items())
        return f"<saltus.Fit {values}; rms {self.rms:.3g}, {self.runs} runs>"


def fit(
    model: Model,
    parameters: Mapping[str, Any],
    data: Any,
    *,
    compare: Mapping[str, str] | Iterable[str] | None = None,
    weights: Mapping[str, float] | None = None,
    set: Settings | None = None,
    inputs: Any = None,
    start: float | None = None,
    tolerance: float = 1e-8,
    solver: str | None = None,
    method: str = "least_squares",
    **settings: Any,
) -> Fit:
    """Values of parameters that make runs agree with data in the sense of least squares.

    parameters: ``{"J1": (guess, low, high)}``, or ``{"J1": guess}`` without bounds
    data:       a data frame or dictionary with ``time`` and columns of measured values; NaN where there is none
    compare:    ``{"w1": "speed"}``: which variable is measured by which column; equal names if not given
    weights:    by variable; one over the spread of its column if not given
    method:     ``least_squares`` (from the guess) or ``differential_evolution`` (everywhere within the bounds); ``settings`` go to
                the function of that name in ``scipy.optimize``

    At the time of an event the right limits count. A run that fails has a large residual, and is counted.

    >>> model = saltus.loads("model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;")
    >>> t = np.linspace(0, 2, 21)
    >>> model.fit({"k": (1, 0.1, 10)}, {"time": t, "x": np.exp(-2.5*t)})["k"].__round__(4)
    2.5
    """
    import scipy.optimize

    if not parameters:
        raise ValueError("no parameters are fitted: name some")
    problem = _Problem(model, parameters, data, compare, weights, set, inputs, start, tolerance, solver)
    if method == "least_squares":
        optimum = scipy.optimize.least_squares(
            problem.residuals, problem.guess, jac=problem.jacobian, bounds=(problem.low, problem.high),
            x_scale=settings.pop("x_scale", "jac"), **settings,
        )  # fmt: skip
        found, jacobian = optimum.x, optimum.jac
    elif method == "differential_evolution":
        if not (np.isfinite(problem.low).all() and np.isfinite(problem.high).all()):
            raise ValueError("differential_evolution looks everywhere within bounds: give (guess, low, high)")
        optimum = scipy.optimize.differential_evolution(
            lambda x: float(np.sum(problem.residuals(x) ** 2)), list(zip(problem.low, problem.high)),
            x0=problem.guess, **settings,
        )  # fmt: skip
        found = optimum.x
        jacobian = problem.jacobian(found)
    else:
        raise ValueError(f'method is "least_squares" or "differential_evolution", not {method!r}')
    residuals = problem.residuals(found)
    return problem.report(found, residuals, jacobian, optimum)


class _Problem:
    def __init__(
        self,
        model: Model,
        parameters: Mapping[str, Any],
        data: Any,
        compare: Mapping[str, str] | Iterable[str] | None,
        weights: Mapping[str, float] | None,
        set: Settings | None,
        inputs: Any,
        start: float | None,
        tolerance: float,
        solver: str | None,
    ) -> None:
        self.model, self.fixed, self.inputs = model, dict(set or {}), inputs
        self.start, self.tolerance, self.solver = start, tolerance, solver
        self.names = list(parameters)
        bounds = [_bounds(name, value) for name, value in parameters.items()]
        self.guess, self.low, self.high = (np.array(column, dtype=np.float64) for column in zip(*bounds))
        self.times = _column(data, "time")
        if len(self.times) == 0:
            raise ValueError("the data have no rows")
        if not (np.isfinite(self.times).all() and (np.diff(self.times) >= 0).all()):
            raise ValueError("the times of the data must be finite and ascend")
        pairs = _pairs(model, data, compare)
        self.outputs = list(pairs)
        self.measured = {name: _column(data, column) for name, column in pairs.items()}
        for name, values in self.measured.items():
            if len(values) != len(self.times):
                raise ValueError(f"`{name}` has {len(values)} values for {len(self.times)} times")
        self.weights = {name: _weight(values, (weights or {}).get(name)) for name, values in self.measured.items()}
        self.valid = {name: np.isfinite(values) for name, values in self.measured.items()}
        self.runs = self.failed = 0
        self._by_differences = any(name.endswith(".start") for name in self.names)
        self._last: tuple[bytes, Floats] | None = None

    def run(self, x: Floats) -> Result:
        moved = {name: float(value) for name, value in zip(self.names, x)}
        return self.model.simulate(
            float(self.times[-1]), start=self.start, set={**self.fixed, **moved}, inputs=self.inputs,
            outputs=self.outputs, tolerance=self.tolerance, solver=self.solver,
        )  # fmt: skip

    def residuals(self, x: Floats) -> Floats:
        key = np.asarray(x).tobytes()
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        self.runs += 1
        try:
            result = self.run(x)
            values = self._compare(result)
        except SimulationError:
            self.failed += 1
            values = np.full(sum(int(valid.sum()) for valid in self.valid.values()), _FAILED)
        self._last = (key, values)
        return values

    def _compare(self, result: Result) -> Floats:
        from ._sensitivities import _smooth

        parts = []
        for name in self.outputs:
            valid = self.valid[name]
            found = _smooth(result, name, self.times[valid])
            parts.append(self.weights[name] * (found - self.measured[name][valid]))
        return np.concatenate(parts)

    def jacobian(self, x: Floats) -> Floats:
        """The derivatives of the residuals: by variational equations; where these do not exist or are not to be had, by
        differences."""
        x = np.asarray(x, dtype=np.float64)
        exact = None if self._by_differences else self._variational(x)
        return self._differences(x) if exact is None else exact

    def _variational(self, x: Floats) -> Floats | None:
        moved = {name: float(value) for name, value in zip(self.names, x)}
        try:
            found = self.model.sensitivities(
                self.names, self.outputs, at=self.times, stop=float(self.times[-1]), start=self.start,
                set={**self.fixed, **moved}, inputs=self.inputs, tolerance=self.tolerance, solver=self.solver,
                method="variational",
            )  # fmt: skip
        except (SimulationError, ValueError):
            # A parameter that shapes the equations, a start value, a delay, or a run that fails.
            self._by_differences = True
            return None
        self.runs += 1
        columns = [
            np.concatenate([self.weights[output] * found[output, name][self.valid[output]] for output in self.outputs])
            for name in self.names
        ]
        jacobian = np.column_stack(columns)
        return jacobian if np.isfinite(jacobian).all() else None

    def _differences(self, x: Floats) -> Floats:
        """Central differences, with steps that the tolerance of the runs allows; one-sided at bounds."""
        steps = self.tolerance ** (1 / 3) * np.maximum(np.abs(x), 1e-3 * np.maximum(np.abs(self.guess), 1e-12))
        points = []
        for at, step in enumerate(steps):
            upper, lower = x.copy(), x.copy()
            upper[at] = min(x[at] + step, self.high[at])
            lower[at] = max(x[at] - step, self.low[at])
            points.append((upper, lower, upper[at] - lower[at]))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            moved = list(pool.map(self._tried, [point for upper, lower, _ in points for point in (upper, lower)]))
        self.runs += len(moved)
        columns = [(moved[2 * k] - moved[2 * k + 1]) / points[k][2] for k in range(len(points))]
        return np.column_stack(columns)

    def _tried(self, x: Floats) -> Floats:
        try:
            return self._compare(self.run(x))
        except SimulationError:
            self.failed += 1
            return np.full(sum(int(valid.sum()) for valid in self.valid.values()), _FAILED)

    def report(self, found: Floats, residuals: Floats, jacobian: Floats, optimum: Any) -> Fit:
        degrees = max(1, len(residuals) - len(found))
        variance = float(residuals @ residuals) / degrees
        covariance: Floats = np.asarray(np.linalg.pinv(jacobian.T @ jacobian) * variance, dtype=np.float64)
        spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        return Fit(
            {name: float(value) for name, value in zip(self.names, found)},
            {name: float(value) for name, value in zip(self.names, spread)},
            covariance,
            float(np.sqrt(np.mean(residuals**2))),
            bool(optimum.success),
            str(optimum.message),
            self.runs,
            self.failed,
            self.run(found),
            optimum,
        )


def _bounds(name: str, value: Any) -> tuple[float, float, float]:
    if isinstance(value, (tuple, list)):
        if len(value) != 3:
            raise ValueError(f"`{name}`: give (guess, low, high), or a guess")
        guess, low, high = (float(each) for each in value)
        if not low < high or not low <= guess <= high:
            raise ValueError(f"`{name}`: the guess {guess} does not lie between {low} and {high}")
        return guess, low, high
    return float(value), -np.inf, np.inf


def _column(data: Any, name: str) -> Floats:
    if name == "time" and hasattr(data, "columns") and "time" not in data.columns and hasattr(data, "index"):
        return np.asarray(data.index, dtype=np.float64)
    try:
        return np.asarray(data[name], dtype=np.float64)
    except KeyError:
        raise ValueError(f"the data have no column `{name}`") from None


def _pairs(model: Model, data: Any, compare: Mapping[str, str] | Iterable[str] | None) -> dict[str, str]:
    if isinstance(compare, Mapping):
        return dict(compare)
    if compare is not None:
        return {name: name for name in ([compare] if isinstance(compare, str) else compare)}
    known = model.variables
    names = [str(name) for name in (data.columns if hasattr(data, "columns") else data)]
    found = {name: name for name in names if name != "time" and name in known}
    if not found:
        raise ValueError("no column of the data is a variable of the model: say with `compare` which is which")
    return found


def _weight(values: Floats, given: float | None) -> float:
    if given is not None:
        if not (np.isfinite(given) and given > 0):
            raise ValueError(f"a weight is {given}: give positive numbers")
        return float(given)
    finite = values[np.isfinite(values)]
    spread = float(np.std(finite)) if len(finite) else 0.0
    size = float(np.max(np.abs(finite), initial=0.0))
    return 1.0 / (spread or size or 1.0)


