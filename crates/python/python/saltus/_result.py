"""Results of a run."""

from __future__ import annotations

import dataclasses
import html
import os
import pathlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Union, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._errors import Diagnostic, Place, diagnostics
from ._tables import Table, Variable, variable
from ._values import names_in

if TYPE_CHECKING:
    from ._model import Model

Floats = NDArray[np.float64]
PathLike = Union[str, "os.PathLike[str]"]

#: Extensions of files that other packages write.
_COLUMNAR = (".parquet", ".arrow", ".feather")


class Report:
    """An interactive page of a result: one HTML text that loads nothing."""

    def __init__(self, page: str) -> None:
        #: The page.
        self.html = page

    def save(self, path: PathLike) -> None:
        """Writes the page to a file."""
        pathlib.Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        # In a frame of its own: its policy and its style are not those of the notebook.
        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts" width="100%" height="760" frameborder="0"></iframe>'

    def __repr__(self) -> str:
        return f"<saltus.Report: {len(self.html)} characters>"


@dataclasses.dataclass(frozen=True)
class Trigger:
    """A condition that changed, and where it stands."""

    condition: str
    place: Place | None


@dataclasses.dataclass(frozen=True)
class Impulse:
    """An impulse: ``weight`` is the jump of the variable's integral; order 1 is a Dirac impulse, 2 its derivative."""

    variable: str
    order: int
    weight: float


@dataclasses.dataclass(frozen=True)
class Jump:
    """A variable that jumped."""

    variable: str
    left: float
    right: float


@dataclasses.dataclass(frozen=True)
class Event:
    """One event: when, why, what jumped, which impulses there were, and the modes before and after."""

    time: float
    instant: int
    from_mode: int
    to_mode: int
    triggers: tuple[Trigger, ...]
    impulses: tuple[Impulse, ...]
    jumps: tuple[Jump, ...]


@dataclasses.dataclass(frozen=True)
class Mode:
    """A mode: its number in the results, a label, and the truth values of its conditions."""

    number: int
    label: str
    conditions: dict[str, bool]


class Events(Sequence[Event]):
    """The events of a run in order of time."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> Events: ...
    def __getitem__(self, index: int | slice) -> Event | Events:
        if isinstance(index, slice):
            return Events(self._events[index])
        return self._events[index]

    def __len__(self) -> int:
        return len(self._events)

    @property
    def times(self) -> Floats:
        """Their times."""
        return np.array([event.time for event in self._events], dtype=np.float64)

    def impulses(self, name: str) -> list[tuple[float, Impulse]]:
        """The impulses of a variable, with their times."""
        return [
            (event.time, impulse) for event in self._events for impulse in event.impulses if impulse.variable == name
        ]

    def to_pandas(self) -> Any:
        """A data frame with one row per event."""
        import pandas

        return pandas.DataFrame(
            {
                "time": self.times,
                "from_mode": [event.from_mode for event in self._events],
                "to_mode": [event.to_mode for event in self._events],
                "triggers": [", ".join(trigger.condition for trigger in event.triggers) for event in self._events],
                "impulses": [
                    {impulse.variable: impulse.weight for impulse in event.impulses} for event in self._events
                ],
                "jumps": [{jump.variable: (jump.left, jump.right) for jump in event.jumps} for event in self._events],
            }
        )

    def __repr__(self) -> str:
        lines = []
        for event in self._events[:20]:
            words = ", ".join(trigger.condition for trigger in event.triggers) or "—"
            impulses = "".join(f", impulse of {i.variable}: {i.weight:.6g}" for i in event.impulses[:3])
            lines.append(f"  t = {event.time:.9g}: mode {event.from_mode} → {event.to_mode} ({words}){impulses}")
        if len(self) > 20:
            lines.append(f"  and {len(self) - 20} more")
        return "\n".join([f"{len(self)} event{'' if len(self) == 1 else 's'}", *lines])


class Result:
    """The results of a run: rows, events, modes.

    ``result["w"]`` is an array that shows the memory of the result without a copy. It cannot be written, and stays valid when
    the result is gone. At an event there are two rows at the same time: the left and the right limits.

    >>> result = saltus.load(examples / "MotorAndLoad.mo").simulate()
    >>> w, t = result["load.w"], result.time
    >>> w.flags.writeable, len(w) == len(t)
    (False, True)
    >>> result.at(300, side="left")["load.w"].round(2), result.at(300)["load.w"].round(2)
    (np.float64(27.64), np.float64(32.07))
    """

    def __init__(self, native: _native.Simulation | _native.Trajectory, model: Model | None = None) -> None:
        self._simulation = native if isinstance(native, _native.Simulation) else None
        self._native: _native.Trajectory = native.trajectory if isinstance(native, _native.Simulation) else native
        self._model = model
        self._events: Events | None = None

    # -- rows ------------------------------------------------------------------------------------------------------------

    @property
    def time(self) -> Floats:
        """Times of the rows."""
        return np.asarray(self._native.time)

    @property
    def kind(self) -> NDArray[np.uint8]:
        """What each row is: 0 a regular point, 1 a left limit, 2 an instant in between, 3 a right limit."""
        return np.asarray(self._native.kind)

    @property
    def mode(self) -> NDArray[np.uint32]:
        """The number of the mode of each row; ``modes`` says what it stands for."""
        return np.asarray(self._native.mode)

    def __getitem__(self, name: str) -> Floats:
        if not isinstance(name, str):
            raise TypeError(f"{name!r} is a {type(name).__name__}: variables are looked up by name")
        return np.asarray(self._native.column(name))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._native.has(name)

    def __len__(self) -> int:
        return len(self._native)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def keys(self) -> list[str]:
        """The names of the variables."""
        return self.names()

    def names(self, patterns: str | Iterable[str] | None = None) -> list[str]:
        """The names of the variables that fit patterns (``*``, ``?``); of all that are not hidden if none is given."""
        return self._native.names(names_in(patterns))

    @property
    def variables(self) -> Table[Variable]:
        """The variables by name, with units and descriptions."""
        return Table({row[0]: variable(row) for row in self._native.variables()}, "variable")

    # -- points in time --------------------------------------------------------------------------------------------------

    def at(self, time: float, side: str = "right") -> dict[str, np.float64]:
        """The values of all variables at a time; at an event its right or left limits."""
        left = _is_left(side)
        times = np.array([time], dtype=np.float64)
        return {name: np.asarray(self._native.resample(name, times, left))[0] for name in self.names()}

    def resample(
        self, times: ArrayLike, names: str | Iterable[str] | None = None, *, side: str = "right"
    ) -> dict[str, Floats]:
        """Values at given times: linear between rows, held for discrete variables; at an event its right or left limits.
        A time outside the result is an error. What optimisers and other tools want: one value per time.

        >>> result = saltus.loads("model M Real x = time^2; end M;").simulate(1, interval=0.01)
        >>> result.resample([0, 0.5, 1])["x"].round(3)
        array([0.  , 0.25, 1.  ])
        """
        left = _is_left(side)
        grid = np.ascontiguousarray(times, dtype=np.float64)
        if grid.ndim != 1:
            raise ValueError("give the times as an array of one dimension")
        chosen = self.names() if names is None else self.names(names)
        values = {"time": grid}
        for name in chosen:
            values[name] = np.asarray(self._native.resample(name, grid, left))
        return values

    # -- events and modes ------------------------------------------------------------------------------------------------

    @property
    def events(self) -> Events:
        """The events, with triggers, jumps and impulses. What happens at the start is the first of them."""
        if self._events is None:
            self._events = Events(_event(row) for row in self._native.events())
        return self._events

    @property
    def modes(self) -> dict[int, Mode]:
        """What the numbers of modes stand for."""
        return {
            number: Mode(number, label, dict(conditions))
            for number, (label, conditions) in sorted(self._native.modes().items())
        }

    # -- how it went -----------------------------------------------------------------------------------------------------

    @property
    def status(self) -> str:
        """``completed``, ``terminated`` (the model asked for it), ``interrupted`` or ``failed``."""
        return self._simulation.status if self._simulation else self._native.about()[2]

    @property
    def failure(self) -> Diagnostic | None:
        """Why the run failed, if it did."""
        text = self._simulation.failure if self._simulation else None
        return diagnostics(text)[0] if text else None

    @property
    def message(self) -> str | None:
        """What the model said when it asked for the end of the run."""
        return self._simulation.message if self._simulation else None

    @property
    def warnings(self) -> list[str]:
        """What was worth reporting during the run."""
        return self._simulation.warnings if self._simulation else []

    @property
    def counts(self) -> dict[str, int]:
        """Steps, events, evaluations…"""
        return self._simulation.counts if self._simulation else self._native.about()[3]

    @property
    def seconds(self) -> dict[str, float]:
        """Where the time went."""
        return self._simulation.seconds if self._simulation else {}

    @property
    def settings(self) -> dict[str, str]:
        """The settings of the run, those that came from defaults among them."""
        return self._native.about()[1]

    @property
    def model_name(self) -> str:
        """The full name of the model."""
        return self._native.about()[0]

    # -- other forms -----------------------------------------------------------------------------------------------------

    def to_dict(self, names: str | Iterable[str] | None = None) -> dict[str, Floats]:
        """Arrays by name, ``time`` first, without copies."""
        return {"time": self.time, **{name: self[name] for name in self.names(names)}}

    def to_pandas(self, names: str | Iterable[str] | None = None) -> Any:
        """A data frame with ``time`` as its index. At an event the index has the same value twice."""
        import pandas

        columns = self.to_dict(names)
        index = pandas.Index(columns.pop("time"), name="time")
        return pandas.DataFrame(columns, index=index, copy=False)

    def to_polars(self, names: str | Iterable[str] | None = None) -> Any:
        """A polars data frame with a column ``time``."""
        import polars

        return polars.DataFrame(self.to_dict(names))

    def to_arrow(self, names: str | Iterable[str] | None = None) -> Any:
        """A table of pyarrow, with units and descriptions as metadata of its columns."""
        import pyarrow

        known = self.variables
        columns, fields = [], []
        for name, values in self.to_dict(names).items():
            about = known[name] if name in known else None
            unit = about.unit if about else "s"
            metadata = {"unit": unit, "description": about.description if about else ""}
            column = pyarrow.array(values)
            columns.append(column)
            fields.append(pyarrow.field(name, column.type, metadata=metadata))
        return pyarrow.table(columns, schema=pyarrow.schema(fields, metadata={"model": self.model_name}))

    def to_xarray(
        self, times: ArrayLike | None = None, names: str | Iterable[str] | None = None, *, side: str = "right"
    ) -> Any:
        """A data set of xarray over time. An index must not hold a time twice, so that values are those at given times, or at
        the times of the rows with the right or left limits at events.
        """
        import xarray

        grid = np.unique(self.time) if times is None else np.asarray(times, dtype=np.float64)
        values = self.resample(grid, names, side=side)
        known = self.variables
        columns = {
            name: ("time", column, {"units": known[name].unit, "long_name": known[name].description})
            for name, column in values.items()
            if name != "time"
        }
        return xarray.Dataset(columns, coords={"time": ("time", grid, {"units": "s"})}, attrs={"model": self.model_name})

    def save(
        self,
        path: PathLike,
        names: str | Iterable[str] | None = None,
        *,
        hidden: bool = False,
        all_instants: bool = False,
        events: PathLike | None = None,
    ) -> None:
        """Writes a result file in the format of its extension: ``.csv`` and ``.mat`` as the command line writes them, byte by
        byte; ``.parquet``, ``.arrow`` and ``.feather`` by pyarrow. ``events`` is the file for the event log.
        """
        target = pathlib.Path(path).expanduser()
        if target.suffix in _COLUMNAR:
            self._save_columns(target, names)
        else:
            self._native.save(target, names_in(names), hidden, all_instants)
        if events is not None:
            self._native.save_events(pathlib.Path(events).expanduser())

    def _save_columns(self, path: pathlib.Path, names: str | Iterable[str] | None) -> None:
        try:
            import pyarrow.feather
            import pyarrow.parquet
        except ImportError:
            raise ImportError(f"`{path.suffix}` files are written by pyarrow: pip install pyarrow") from None
        table = self.to_arrow(names)
        if path.suffix == ".parquet":
            pyarrow.parquet.write_table(table, path)
        else:
            pyarrow.feather.write_feather(table, path)

    def svg(
        self,
        signals: str | Iterable[str] | None = None,
        *,
        panels: Iterable[Iterable[str]] = (),
        title: str | None = None,
        time_range: tuple[float, float] | None = None,
        width: float = 900.0,
    ) -> str:
        """The figure of the command line, with bands for modes and arrows for impulses, as SVG."""
        return self._native.svg(names_in(signals), [names_in(panel) for panel in panels], title, time_range, width)

    def report(
        self,
        signals: str | Iterable[str] | None = None,
        *,
        panels: Iterable[Iterable[str]] = (),
        title: str | None = None,
        time_range: tuple[float, float] | None = None,
    ) -> Report:
        """The interactive page of the command line. In a notebook it shows itself; ``save`` writes it to a file."""
        shown = [names_in(panel) for panel in panels]
        return Report(self._native.report(names_in(signals), shown, title, time_range))

    def plot(
        self,
        signals: str | Iterable[str] | None = None,
        *,
        ax: Any = None,
        modes: bool = True,
        impulses: bool = True,
        **line: Any,
    ) -> Any:
        """Draws on axes of matplotlib, with the conventions of our figures: bands for modes, broken lines at jumps, arrows for
        impulses. Returns the axes.
        """
        from ._plot import plot

        return plot(self, names_in(signals), ax, modes, impulses, line)

    def _repr_svg_(self) -> str | None:
        return self.svg() if len(self) else None

    def __repr__(self) -> str:
        if not len(self):
            return f"<saltus.Result of {self.model_name}: no rows>"
        parts = [
            f"t = {self.time[0]:g} … {self.time[-1]:g}",
            _plural(len(self), "row"),
            _plural(self._native.event_count, "event"),
            _plural(len(self._native.modes()), "mode"),
        ]
        if self.status != "completed":
            parts.append(self.status)
        return f"<saltus.Result of {self.model_name}: {', '.join(parts)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._native.parts(),)


def _unpickle(parts: tuple[Any, ...]) -> Result:
    return Result(_native.Trajectory.from_parts(*parts))


def read(path: PathLike, *, events: PathLike | None = None) -> Result:
    """Reads a result file (``.csv``, ``.mat``) of this or another program, with the event log of a run if it is named."""
    log = None if events is None else pathlib.Path(events).expanduser()
    return Result(_native.read(pathlib.Path(path).expanduser(), log))


def _event(row: tuple[Any, ...]) -> Event:
    time, instant, from_mode, to_mode, triggers, impulses, jumps = row
    return Event(
        time,
        instant,
        from_mode,
        to_mode,
        tuple(Trigger(condition, Place(*place) if place else None) for condition, place in triggers),
        tuple(Impulse(*impulse) for impulse in impulses),
        tuple(Jump(*jump) for jump in jumps),
    )


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _is_left(side: str) -> bool:
    if side not in ("left", "right"):
        raise ValueError(f'side is "left" or "right", not {side!r}')
    return side == "left"


