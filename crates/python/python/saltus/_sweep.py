"""Many runs of one model."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._engines import Engine, engine_of
from ._errors import SimulationError
from ._store import Store
from ._values import Settings, names_in
from ._worker import Chunk, Job, Missing, Row
from .design import Design, of

if TYPE_CHECKING:
    from ._model import Model

#: Seconds that a task should take: an empty one costs some milliseconds on a cluster.
_TASK_SECONDS = 1.0
#: Runs of a task at most: what is lost with a worker, and what is held in memory.
_MOST_RUNS = 4096


@dataclasses.dataclass(frozen=True)
class SweepFailure:
    """A run that failed: its number from 0, the values of its parameters, and why."""

    run: int
    values: dict[str, Any]
    code: str
    message: str


class Sweep:
    """What the runs of a sweep yielded, in the order of the design.

    ``sweep["max(tau)"]`` are the values of an output, NaN where a run failed; ``sweep["J1"]`` those of a parameter.
    """

    def __init__(self, model_name: str, design: Design, names: list[str], rows: list[Row]) -> None:
        self.model_name = model_name
        #: The values of the parameters.
        self.design = design
        #: The names of the outputs.
        self.outputs = names
        self._parameters: dict[str, NDArray[Any]] | None = None
        values = np.full((len(design), len(names)), np.nan)
        self._failed: dict[int, tuple[str, str]] = {}
        #: Whether a run was made.
        self.done = np.zeros(len(design), dtype=bool)
        for run, numbers, failed in rows:
            self.done[run] = True
            if failed is None:
                values[run] = numbers
            else:
                self._failed[run] = failed
        values.flags.writeable = False
        self._values = values

    @property
    def parameters(self) -> dict[str, NDArray[Any]]:
        """The values of the parameters by name."""
        if self._parameters is None:
            self._parameters = self.design.to_dict()
        return self._parameters

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name in self.outputs:
            return self._values[:, self.outputs.index(name)]
        if name in self.design.names:
            return self.parameters[name]
        raise KeyError(f"`{name}` is neither an output nor a parameter: there are {', '.join(self.outputs)}")

    def __len__(self) -> int:
        return len(self.design)

    @property
    def failures(self) -> list[SweepFailure]:
        """The runs that failed."""
        names = self.design.names
        found = []
        for run, (code, message) in sorted(self._failed.items()):
            values = {name: self.parameters[name][run] for name in names}
            found.append(SweepFailure(run, values, code, message))
        return found

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Parameters and outputs by name."""
        return {**self.parameters, **{name: self[name] for name in self.outputs}}

    def to_pandas(self) -> Any:
        """A data frame with one row per run: parameters, outputs, and code and message of the error if it failed."""
        import pandas

        frame = pandas.DataFrame(self.to_dict())
        frame.index.name = "run"
        frame["error"] = [self._failed.get(run, ("", ""))[0] for run in range(len(self))]
        frame["message"] = [self._failed.get(run, ("", ""))[1] for run in range(len(self))]
        return frame

    def to_polars(self) -> Any:
        """A polars data frame with one row per run."""
        import polars

        return polars.DataFrame(self.to_dict())

    def to_xarray(self) -> Any:
        """A data set of xarray; that of a grid has one dimension per parameter."""
        import xarray

        names, shape = self.design.names, self.design._shape
        if shape is None:
            coords: dict[str, Any] = {name: ("run", values) for name, values in self.parameters.items()}
            columns: dict[str, Any] = {name: ("run", self[name]) for name in self.outputs}
            return xarray.Dataset(columns, coords=coords, attrs={"model": self.model_name})
        coords = {}
        for axis, name in enumerate(names):
            # The values of an axis are those that change while the others stand still.
            along = np.moveaxis(self.parameters[name].reshape(shape), axis, 0)
            coords[name] = along.reshape(shape[axis], -1)[:, 0]
        columns = {name: (names, self[name].reshape(shape)) for name in self.outputs}
        return xarray.Dataset(columns, coords=coords, attrs={"model": self.model_name})

    def __repr__(self) -> str:
        failed = f", {len(self._failed)} failed" if self._failed else ""
        left = int(len(self) - self.done.sum())
        missing = f", {left} not made" if left else ""
        return f"<saltus.Sweep of {self.model_name}: {len(self)} runs{failed}{missing}, outputs {', '.join(self.outputs)}>"


def sweep(
    model: Model,
    design: Any,
    outputs: str | Iterable[str] | Mapping[str, str],
    *,
    options: dict[str, Any],
    set: Settings | None,
    engine: Any,
    threads: int | None,
    chunk: int | None,
    store: Any,
    resume: bool,
    on_failure: str,
    progress: bool | Callable[[int, int], object],
) -> Sweep:
    """Makes the runs of a design."""
    if on_failure not in ("record", "raise"):
        raise ValueError(f'on_failure is "record" or "raise", not {on_failure!r}')
    for name, count in (("threads", threads), ("chunk", chunk)):
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
            raise ValueError(f"{name} is a number of at least 1, not {count!r}")
    plan = of(design)
    named = dict(outputs) if isinstance(outputs, Mapping) else {text: text for text in names_in(outputs)}
    if not named:
        raise ValueError("nothing is kept of the runs: name outputs")
    base, fixed = model._resolved(set, None)
    job = _Sweeping(model, base, fixed, plan, list(named.values()), options, on_failure)
    job.check()
    if resume and store is None:
        raise ValueError("`resume` goes on with a store: name it")
    if store is not None:
        job.store = Store(store, plan._native, job.outputs, job.about(), resume)
        job.rows.extend(job.store.kept)
    job.report = _report(progress, len(plan))
    where = engine_of(engine)
    try:
        if len(job.rows) < len(plan):
            if where is None:
                job.run_here(threads)
            else:
                job.run_on(where, chunk)
    except BaseException as error:
        # What was made is not lost.
        error.sweep = Sweep(model.name, plan, list(named), job.rows)  # type: ignore[attr-defined]
        raise
    finally:
        if job.store is not None:
            job.store.close()
        if job.report is not None:
            job.report.close()
    return Sweep(model.name, plan, list(named), job.rows)


def default_threads() -> int | None:
    """As many as ``SALTUS_THREADS`` says; inside a worker of a cluster one, since it has other tasks at the same time."""
    text = os.environ.get("SALTUS_THREADS", "")
    if text:
        if not text.isdecimal() or int(text) < 1:
            raise ValueError(f"the environment variable SALTUS_THREADS is {text!r}: give a number of at least 1")
        return int(text)
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        try:
            distributed.get_worker()
            return 1
        except (ValueError, AttributeError):
            pass
    return None


class _Sweeping:
    """A sweep that goes on."""

    def __init__(
        self,
        model: Model,
        base: Model,
        fixed: tuple[tuple[str, str], ...],
        design: Design,
        outputs: list[str],
        options: dict[str, Any],
        on_failure: str,
    ) -> None:
        self.model, self.base, self.fixed = model, base, fixed
        self.design, self.outputs, self.options = design, outputs, options
        self.on_failure = on_failure
        self.rows: list[Row] = []
        self.store: Store | None = None
        self.report: _Report | None = None
        #: Rows that wait for those before them.
        self._early: dict[int, Row] = {}
        #: Whether a value of a parameter shapes the equations, as far as it has been asked.
        self._shapes: dict[tuple[str, str], bool] = {}

    def check(self) -> None:
        """What is wrong with outputs and settings is said before anything is written or started."""
        _native.RunOptions(**self.options)
        _native.Table(self.design._native, self.outputs)
        twice = [name for name, _ in self.fixed if name in self.design.names]
        self.fixed = tuple((name, value) for name, value in self.fixed if name not in twice)

    def about(self) -> dict[str, Any]:
        """What the rows depend on."""
        return {
            "program": f"saltus {_native.version}",
            "model": self.model.name,
            "sources": dict(self.base._native.sources),
            "compiled with": dict(self.base._compiled_with),
            "settings": dict(self.fixed),
            "parameters": self.design.names,
            "runs": len(self.design),
            "design": self.design._native.hash(),
            "outputs": self.outputs,
            "options": self.options,
        }

    # -- on this machine ---------------------------------------------------------------------------------------------

    def run_here(self, threads: int | None) -> None:
        """On the cores of this machine."""
        options = _native.RunOptions(**self.options)
        self.base._native.ensemble(
            self.design._native, self.outputs, options, list(self.fixed), self.base._session,
            threads if threads is not None else default_threads(), len(self.rows), self._take,
        )  # fmt: skip

    def _take(self, rows: list[Row]) -> None:
        """Rows in the order of the design."""
        failed = next((row for row in rows if row[2] is not None), None)
        if failed is not None and self.on_failure == "raise":
            rows = rows[: rows.index(failed)]
        if self.store is not None and rows:
            self.store.write(rows)
        self.rows.extend(rows)
        if self.report is not None:
            self.report.at(len(self.rows))
        if failed is not None and self.on_failure == "raise":
            run, _, told = failed
            values = dict(zip(self.design.names, self.design.points(run, 1)[0]))
            raise SimulationError(f"run {run} ({values}) failed: {told[1] if told else ''}")

    # -- elsewhere -------------------------------------------------------------------------------------------------------

    def run_on(self, engine: Engine, chunk: int | None) -> None:
        """On an engine: chunks of runs as tasks, some more than there are workers, so that none waits."""
        data = self.base.to_bytes()
        job = Job(self.base.sha256(), self.outputs, self.options)
        next_run, count = len(self.rows), len(self.design)
        seconds_per_run: float | None = None
        begun = 0
        tasks: dict[Any, Chunk] = {}
        pending: list[Chunk] = []
        try:
            while tasks or pending or next_run < count:
                while len(tasks) < 2 * engine.workers and (pending or next_run < count):
                    if not pending:
                        size = chunk or _chunk_size(seconds_per_run, count, engine.workers)
                        size = min(size, count - next_run)
                        pending.extend(self._chunks(next_run, size))
                        next_run += size
                    task = engine.submit(data, job, pending[0], begun < engine.workers)
                    tasks[task] = pending.pop(0)
                    begun += 1
                for task in list(engine.done(list(tasks))):
                    part = tasks.pop(task)
                    answer = engine.result(task)
                    if isinstance(answer, Missing):
                        tasks[engine.submit(data, job, part, True)] = part
                        continue
                    rows, seconds = answer
                    seconds_per_run = seconds / max(1, len(rows))
                    self._sort_in(rows)
        except BaseException:
            engine.cancel(list(tasks))
            raise

    def _sort_in(self, rows: list[Row]) -> None:
        self._early.update((row[0], row) for row in rows)
        ready: list[Row] = []
        while (at := len(self.rows) + len(ready)) in self._early:
            ready.append(self._early.pop(at))
        if ready:
            self._take(ready)

    def _chunks(self, first: int, count: int) -> Iterator[Chunk]:
        """Runs of the same equations together."""
        names = self.design.names
        plain = Chunk([], names, [], list(self.fixed), None)
        for run, point in enumerate(self.design.points(first, count), first):
            settings = list(zip(names, point))
            shaping = [setting for setting in settings if self._is_shaping(setting)]
            if not shaping:
                plain.runs.append(run)
                plain.points.append(point)
                continue
            yield self._shaped(run, settings, shaping)
        if plain.runs:
            yield plain

    def _shaped(self, run: int, settings: list[tuple[str, str]], shaping: list[tuple[str, str]]) -> Chunk:
        # Start values are by themselves; what vanishes with a coefficient may depend on the other values, too.
        alone = all(name.endswith(".start") for name, _ in shaping)
        compiled = dict(shaping if alone else [*self.fixed, *settings])
        variant, values = self.base._resolved(compiled, None)
        rest = [setting for setting in settings if setting[0] not in compiled]
        fixed = {**dict(self.fixed), **dict(values)} if alone else dict(values)
        names, point = [name for name, _ in rest], [value for _, value in rest]
        model = (variant.sha256(), variant.to_bytes())
        return Chunk([run], names, [point], list(fixed.items()), model)

    def _is_shaping(self, setting: tuple[str, str]) -> bool:
        known = self._shapes.get(setting)
        if known is None:
            known = self.base._native.shaped_by([setting])
            if len(self._shapes) < 1_000_000:
                self._shapes[setting] = known
        return known


def _chunk_size(seconds_per_run: float | None, count: int, workers: int) -> int:
    """Runs of a task: some at first, then as many as take the time that a task should take, but something for everybody."""
    fair = max(1, count // (4 * workers))
    if seconds_per_run is None:
        return min(fair, 8)
    return max(1, min(fair, _MOST_RUNS, int(_TASK_SECONDS / max(seconds_per_run, 1e-6))))


class _Report:
    def __init__(self, count: int, function: Callable[[int, int], object] | None) -> None:
        self._count, self._function = count, function
        self._drawn = 0.0
        self._bar: Any = None
        if function is None:
            try:
                from tqdm.auto import tqdm

                self._bar = tqdm(total=count, unit="run")
            except ImportError:
                pass

    def at(self, done: int) -> None:
        if self._function is not None:
            self._function(done, self._count)
        elif self._bar is not None:
            self._bar.update(done - self._bar.n)
        elif time.monotonic() - self._drawn > 0.2:
            self._drawn = time.monotonic()
            print(f"\r\033[K{done} of {self._count} runs", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._function is None and self._drawn:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _report(progress: bool | Callable[[int, int], object], count: int) -> _Report | None:
    if progress is False or progress is None:
        return None
    if progress is not True and not callable(progress):
        raise TypeError("progress is True, False, or a function of the runs made and the runs in all")
    return _Report(count, progress if callable(progress) else None)


