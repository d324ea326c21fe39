"""Sessions and models."""

from __future__ import annotations

import hashlib
import html
import itertools
import json
import math
import os
import pathlib
import shutil
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from . import _native
from ._errors import Diagnostic, SimulationError, diagnostics
from ._inputs import given
from ._progress import Progress, reporter
from ._result import Result
from ._tables import Parameter, Table, Variable, parameter, variable
from ._values import Settings, elements, is_array, names_in, text

if TYPE_CHECKING:
    from ._fit import Fit
    from ._linear import Linear, SteadyState
    from ._sensitivities import Sensitivities
    from ._stepper import Stepper
    from ._sweep import Sweep

PathLike = Union[str, "os.PathLike[str]"]

#: Compiled models for values that shape the equations are kept for the next run that needs them, up to this number.
_MOST_VARIANTS = 32
#: Models in a unit whose importers choose sizes.
_MOST_SIZES = 1000
_DEFAULTS = _native.RunOptions()


class Session:
    """Files and libraries. Classes that are in no file given are looked for in the folders of ``libraries``, in those of the
    environment variable ``MODELICAPATH``, and in the component library ``Saltus``.

    >>> session = saltus.Session()
    >>> session.add_text("model Decay Real x(start = 1, fixed = true); equation der(x) = -x; end Decay;")
    >>> session.models()
    ['Decay']
    >>> session.model("Decay").simulate(stop=1)["x"][-1].round(4)
    np.float64(0.3679)
    """

    def __init__(self, files: Iterable[PathLike] = (), *, libraries: Iterable[PathLike] = ()) -> None:
        self._native = _native.Session([pathlib.Path(folder).expanduser() for folder in libraries])
        for file in [files] if isinstance(files, (str, os.PathLike)) else files:
            self.add(file)

    def add(self, path: PathLike) -> None:
        """Adds a file or a folder."""
        self._native.add_file(pathlib.Path(path).expanduser())

    def add_text(self, text: str, name: str = "<text>") -> None:
        """Adds Modelica text, under a name for messages."""
        self._native.add_text(name, text)

    def models(self) -> list[str]:
        """The full names of the models in the files given."""
        return self._native.models()

    def check(self, model: str | None = None, *, all_modes: bool = False) -> list[Diagnostic]:
        """What is wrong with a model, or with all models and functions in the files given."""
        return diagnostics(self._native.check(model, all_modes))

    def model(self, name: str | None = None, *, set: Settings | None = None) -> Model:
        """Compiles a model, the last one of the file added last if none is named, with values for parameters."""
        settings = [(key, text(value, f"`{key}`")) for key, value in (set or {}).items()]
        native, rest = self._native.compile(name, settings)
        return Model(native, self._native, tuple(settings), tuple(rest))

    def __repr__(self) -> str:
        return f"<saltus.Session with {', '.join(self.models()[:5]) or 'no models'}>"


def load(
    path: PathLike | Sequence[PathLike],
    model: str | None = None,
    *,
    set: Settings | None = None,
    libraries: Iterable[PathLike] = (),
) -> Model:
    """Compiles a model from a file, several files, or a folder, or reads a model file (``.saltus``).

    >>> model = saltus.load(examples / "MotorAndLoad.mo")
    >>> model.name
    'MotorAndLoad'
    """
    named = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    paths = [pathlib.Path(each).expanduser() for each in named]
    if len(paths) == 1 and paths[0].suffix == ".saltus":
        with open(paths[0], "rb") as file:
            loaded = Model.from_bytes(file.read())
        return loaded.with_values(set) if set else loaded
    return Session(paths, libraries=libraries).model(model, set=set)


def loads(
    text: str, model: str | None = None, *, set: Settings | None = None, libraries: Iterable[PathLike] = ()
) -> Model:
    """Compiles a model from Modelica text.

    >>> model = saltus.loads("model M parameter Real k = 2; Real x = k*time; end M;")
    >>> model.simulate(stop=3)["x"][-1]
    np.float64(6.0)
    """
    session = Session(libraries=libraries)
    session.add_text(text)
    return session.model(model, set=set)


class Analysis:
    """Modes and mode changes, explained. In a notebook it is a table with the graph of modes."""

    def __init__(self, native: _native.Analysis) -> None:
        self._native = native
        #: All of it as data; the guide describes it ("Analysis as JSON").
        self.data: dict[str, Any] = json.loads(native.json)

    @property
    def modes(self) -> list[dict[str, Any]]:
        """The modes: conditions, states, index, blocks, or why they are singular."""
        modes: list[dict[str, Any]] = self.data["modes"]
        return modes

    @property
    def changes(self) -> list[dict[str, Any]]:
        """The changes between modes: triggers, jumps, impulses."""
        changes: list[dict[str, Any]] = self.data["changes"]
        return changes

    def graph_svg(self) -> str:
        """The graph of modes as a picture."""
        return self._native.svg

    def graph_dot(self) -> str:
        """The graph of modes for Graphviz."""
        return self._native.dot

    def __str__(self) -> str:
        return self._native.text

    def __repr__(self) -> str:
        return f"<saltus.Analysis of {self.data['model']}: {len(self.modes)} modes, {len(self.changes)} changes>"

    def _repr_html_(self) -> str:
        return f"{self.graph_svg()}<pre>{html.escape(str(self))}</pre>"


class Model:
    """A compiled model. It runs any number of times, from any thread, and can be pickled.

    >>> model = saltus.load(examples / "MotorAndLoad.mo")
    >>> model.parameters["load.J"].value, model.parameters["load.J"].unit
    (0.4, 'kg.m2')
    >>> model.simulate(stop=400, interval=1)
    <saltus.Result of MotorAndLoad: t = 0 … 400, 403 rows, 3 events, 2 modes>
    """

    def __init__(
        self,
        native: _native.Model,
        session: _native.Session | None,
        compiled_with: tuple[tuple[str, str], ...],
        values: tuple[tuple[str, str], ...],
    ) -> None:
        self._native = native
        self._session = session
        #: All that was set when it was compiled, for compiling again.
        self._compiled_with = compiled_with
        #: What its runs have to set.
        self._values = values
        self._variants: OrderedDict[tuple[tuple[str, str], ...], Model] = OrderedDict()
        self._lock = threading.Lock()
        self._parameters: Table[Parameter] | None = None

    # -- what it is ------------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Its full name."""
        return self._native.name

    @property
    def experiment(self) -> dict[str, float | None]:
        """What ``annotation(experiment(…))`` says: start and stop time, tolerance, interval."""
        return dict(zip(("start", "stop", "tolerance", "interval"), self._native.experiment))

    @property
    def parameters(self) -> Table[Parameter]:
        """The parameters by name, with values, units and descriptions."""
        if self._parameters is None:
            rows = [parameter(row) for row in self._native.parameters()]
            self._parameters = Table({row.name: row for row in rows}, "parameter")
        return self._parameters

    @property
    def variables(self) -> Table[Variable]:
        """All variables by name, with units and descriptions; ``variables.query("*.w", role="state")`` selects."""
        rows = [variable(row) for row in self._native.variables()]
        return Table({row.name: row for row in rows}, "variable")

    @property
    def inputs(self) -> list[str]:
        """The names of the inputs."""
        return [row.name for row in self.variables.values() if row.role == "input"]

    @property
    def warnings(self) -> list[Diagnostic]:
        """What was worth reporting while it was compiled."""
        return diagnostics(self._native.warnings())

    def check(self, *, all_modes: bool = False) -> list[Diagnostic]:
        """What is wrong with its initial mode, or with all its modes and the changes between them."""
        return diagnostics(self._native.check(all_modes))

    def analyze(self, *, all_modes: bool = False, limit: int = 64) -> Analysis:
        """Modes and mode changes, explained: from the initial mode on, or all there are.

        >>> analysis = saltus.load(examples / "MotorAndLoad.mo").analyze()
        >>> [(mode["valuation"], mode["index"]) for mode in analysis.modes]
        [({'clutch.engaged': True}, 2), ({'clutch.engaged': False}, 2)]
        """
        return Analysis(self._native.analyze(all_modes, limit))

    # -- values ----------------------------------------------------------------------------------------------------------

    def with_values(self, set: Settings) -> Model:
        """The same model with other values of parameters and start values (``"x.start"``) in all its runs."""
        model, values = self._resolved(set, None)
        changed = Model(model._native, model._session, model._compiled_with, values)
        return changed

    def _settings(self, set: Settings | None, start_values: Settings | None) -> list[tuple[str, str]]:
        """Names and values as they are written in a model."""
        settings: list[tuple[str, str]] = []
        for name, value in (set or {}).items():
            if is_array(value) and not name.endswith(".start"):
                settings.extend(self._array(name, value))
            else:
                settings.append((name, text(value, f"`{name}`")))
        for name, value in (start_values or {}).items():
            settings.append((f"{name}.start", text(value, f"`{name}.start`")))
        return settings

    def _array(self, name: str, value: Any) -> list[tuple[str, str]]:
        known = self.parameters
        parts = elements(name, value)
        if parts and all(part in known and known[part].kind == "run" for part in parts):
            # Elements that are left out would keep other values.
            count = sum(1 for other in known if other.startswith(f"{name}["))
            if count != len(parts):
                raise ValueError(f"`{name}` has {count} elements, not {len(parts)}")
            return [(part, text(element, f"`{part}`")) for part, element in parts.items()]
        return [(name, text(value, f"`{name}`"))]

    def _resolved(
        self, set: Settings | None, start_values: Settings | None
    ) -> tuple[Model, tuple[tuple[str, str], ...]]:
        """The model for these values, compiled anew if they shape the equations, and what its run has to set."""
        if not set and not start_values:
            return self, self._values
        settings = self._settings(set, start_values)
        if not self._native.shaped_by(settings):
            return self, _merged(self._values, settings)
        everything = _merged(self._compiled_with, settings)
        with self._lock:
            variant = self._variants.get(everything)
            if variant is not None:
                self._variants.move_to_end(everything)
        if variant is None:
            if self._session is None:
                names = ", ".join(f"`{name}`" for name, value in settings if self._native.shaped_by([(name, value)]))
                raise SimulationError(
                    f"{names} shapes the equations, and this model comes from a model file: it holds the equations for one"
                    " value. Load the Modelica file"
                )
            native, rest = self._session.compile(self.name, list(everything))
            variant = Model(native, self._session, everything, tuple(rest))
            with self._lock:
                self._variants[everything] = variant
                while len(self._variants) > _MOST_VARIANTS:
                    self._variants.popitem(last=False)
        return variant, variant._values

    # -- runs ------------------------------------------------------------------------------------------------------------

    def simulate(
        self,
        stop: float | None = None,
        *,
        start: float | None = None,
        interval: float | None = None,
        tolerance: float | None = None,
        solver: str | None = None,
        set: Settings | None = None,
        start_values: Settings | None = None,
        inputs: Any = None,
        outputs: str | Iterable[str] | None = None,
        progress: bool | Callable[[float, float], object] = False,
        restart: str = "structural",
        redundant: str = "share",
        chattering: str = "stop",
        zeno: str = "stop",
        all_instants: bool = False,
        raise_on_failure: bool = True,
    ) -> Result:
        """Runs the model and keeps the results in memory. What is not given comes from its experiment annotation.

        set:          values of parameters, ``{"J1": 4, "k": [1, 2, 3], "r[2].R": 5}``; also of ``"x.start"``
        start_values: start values by variable, ``{"x": 1.5}``
        inputs:       ``{"u": 1.0}``, ``{"u": (times, values)}`` (linear between points, two equal times are a jump),
                      ``{"u": (times, values, "hold")}``, a data frame with a column or index ``time``, or a result file
        outputs:      names and patterns (``*``, ``?``) of what is kept; everything if not given
        progress:     True for a bar, or a function of time and the fraction done
        solver:       ``auto``, ``bdf``, ``esdirk43``, ``radau``, ``tsit45`` or ``dop853``

        A run that fails raises :class:`SimulationError` with the results so far in ``.result``; with
        ``raise_on_failure=False`` it returns them, and ``result.failure`` says why. ``KeyboardInterrupt`` has them in
        ``.result``, too.

        >>> model = saltus.loads('''
        ... model Tank
        ...   parameter Real k = 0.1;
        ...   input Real inflow;
        ...   Real level(start = 0, fixed = true);
        ... equation
        ...   der(level) = inflow - k*level;
        ... end Tank;''')
        >>> result = model.simulate(100, set={"k": 0.2}, inputs={"inflow": ([0, 50, 50], [1, 1, 0])})
        >>> float(result["level"].max().round(3))
        5.0
        """
        if (
            start is interval is tolerance is None
            and solver is None
            and restart == "structural"
            and redundant == "share"
            and chattering == "stop"
            and zeno == "stop"
            and not all_instants
        ):
            options = _DEFAULTS if stop is None else _native.RunOptions(stop=stop)
        else:
            options = _native.RunOptions(
                start=start, stop=stop, interval=interval, tolerance=tolerance, solver=solver, restart=restart,
                redundant=redundant, chattering=chattering, zeno=zeno, all_instants=all_instants,
            )  # fmt: skip
        model, values = self._resolved(set, start_values)
        arrays, file = given(inputs, self) if inputs is not None else ([], None)
        names = None if outputs is None else names_in(outputs)
        if names is not None and not names:
            raise ValueError("nothing would be kept of the run: name outputs, or leave `outputs` out to keep everything")
        report: Progress | None = None
        if progress is not False and progress is not None:
            report = reporter(progress, *self._span(start, stop))
        try:
            native, error = model._native.simulate(
                options, list(values), arrays, file, names, None if report is None else report.at,
            )  # fmt: skip
        finally:
            if report is not None:
                report.close()
        result = Result(native, model)
        if error is not None:
            error.result = result
            raise error
        if native.failure is not None and raise_on_failure:
            failure = result.failure
            raise SimulationError(str(failure), [failure] if failure else [], result)
        return result

    def _span(self, start: float | None, stop: float | None) -> tuple[float, float]:
        experiment = self.experiment
        begin = start if start is not None else experiment["start"] or 0.0
        duration = (experiment["stop"] if experiment["stop"] is not None else (experiment["start"] or 0.0) + 1.0) - (
            experiment["start"] or 0.0
        )
        return begin, stop if stop is not None else begin + duration

    def stepper(
        self,
        stop: float | None = None,
        *,
        start: float | None = None,
        interval: float | None = None,
        tolerance: float | None = None,
        solver: str | None = None,
        set: Settings | None = None,
        start_values: Settings | None = None,
        inputs: Any = None,
        redundant: str = "share",
        chattering: str = "stop",
        zeno: str = "stop",
    ) -> Stepper:
        """A run in your hands: it goes to a time or to the next event, takes inputs on the way, can be saved and restored.
        It ends at the stop time, or after a million seconds. Rows of ``result`` are those at the times that are gone to and at
        events; with ``interval`` there are others in between.
        """
        from ._stepper import Stepper

        options = _native.RunOptions(
            start=start, stop=(start or 0.0) + 1e6 if stop is None else stop, interval=1e9 if interval is None else interval,
            tolerance=tolerance, solver=solver, redundant=redundant, chattering=chattering, zeno=zeno,
        )  # fmt: skip
        model, values = self._resolved(set, start_values)
        arrays, file = given(inputs, self) if inputs is not None else ([], None)
        if file is not None:
            raise TypeError("a stepper takes arrays as inputs, no files: read the file with saltus.read")
        return Stepper(model._native.stepper(options, list(values), arrays), model)

    def sweep(
        self,
        design: Any,
        outputs: str | Iterable[str] | Mapping[str, str],
        *,
        stop: float | None = None,
        start: float | None = None,
        interval: float | None = None,
        tolerance: float | None = None,
        solver: str | None = None,
        set: Settings | None = None,
        engine: Any = None,
        threads: int | None = None,
        chunk: int | None = None,
        store: PathLike | None = None,
        resume: bool = False,
        on_failure: str = "record",
        progress: bool | Callable[[int, int], object] = False,
        redundant: str = "share",
        chattering: str = "stop",
        zeno: str = "stop",
    ) -> Sweep:
        """Runs the model for every point of a design and keeps single numbers of each run, on all cores of this machine or
        on a cluster. See :mod:`saltus.design` for designs; a dictionary of values is a grid, a data frame a list.

        outputs:    ``"w1"`` or ``"final(w1)"``, ``"max(tau)"``, ``"min(x)"``, ``"mean(x)"``, ``"initial(x)"``,
                    ``"time_of_max(x)"``, ``"first(locked)"``, ``"events()"``, ``"modes()"``, ``"end()"``; a dictionary gives
                    them other names
        engine:     None for the cores of this machine, a ``concurrent.futures.Executor``, a ``distributed.Client``, ``"ray"``, a
                    ``joblib.Parallel``
        store:      a CSV file that holds each run when it is done, as ``saltus sweep`` writes it
        resume:     go on with a store that is there
        on_failure: ``"record"``: a run that fails has NaN for its outputs and a row in ``failures``; ``"raise"``

        >>> model = saltus.load(examples / "mechanics" / "SlippingClutch.mo")
        >>> sweep = model.sweep({"torque": [6, 12], "J2": [1, 3]}, "first(locked)")
        >>> sweep["first(locked)"].round(3).tolist()
        [11.111, 20.0, 5.556, 10.0]
        """
        from ._sweep import sweep as run_sweep

        options: dict[str, Any] = dict(
            start=start, stop=stop, interval=interval, tolerance=tolerance, solver=solver, redundant=redundant,
            chattering=chattering, zeno=zeno,
        )  # fmt: skip
        return run_sweep(
            self, design, outputs, options=options, set=set, engine=engine, threads=threads, chunk=chunk, store=store,
            resume=resume, on_failure=on_failure, progress=progress,
        )  # fmt: skip

    # -- around a point, and across runs -----------------------------------------------------------------------------

    def linearize(
        self,
        at: float | None = None,
        outputs: str | Iterable[str] = (),
        *,
        set: Settings | None = None,
        start_values: Settings | None = None,
        inputs: Any = None,
        tolerance: float | None = None,
        solver: str | None = None,
    ) -> Linear:
        """The equations of the mode at a time, linearised: ``der(x) = A x + B u``, ``y = C x + D u`` for small changes."""
        from ._linear import linearize

        stepper = self.stepper(
            None if at is None else max(at, 1e6), set=set, start_values=start_values, inputs=inputs, tolerance=tolerance,
            solver=solver,
        )  # fmt: skip
        return linearize(stepper, at, names_in(outputs))

    def steady_state(self, **settings: Any) -> SteadyState:
        """The state in which nothing changes any more, found by going there. See :func:`saltus.steady_state`."""
        from ._linear import steady_state

        return steady_state(self, **settings)

    def fit(self, parameters: Mapping[str, Any], data: Any, **settings: Any) -> Fit:
        """Values of parameters that make runs agree with data. See :func:`saltus.fit`."""
        from ._fit import fit

        return fit(self, parameters, data, **settings)

    def sensitivities(self, parameters: Iterable[str], outputs: str | Iterable[str], **settings: Any) -> Sensitivities:
        """Derivatives of results with respect to parameters. See :func:`saltus.sensitivities`."""
        from ._sensitivities import sensitivities

        return sensitivities(self, parameters, outputs, **settings)

    # -- as a file -------------------------------------------------------------------------------------------------------

    def to_bytes(self, *, without_sources: bool = False) -> bytes:
        """The model as bytes: everything a run needs, on any machine with the same version of Saltus."""
        return self._native.to_bytes(without_sources)

    @staticmethod
    def from_bytes(data: bytes) -> Model:
        """The model that ``to_bytes`` or ``saltus compile`` made bytes of. Values that were set are not among them."""
        return Model(_native.Model.from_bytes(bytes(data)), None, (), ())

    def save(self, path: PathLike, *, without_sources: bool = False) -> None:
        """Writes a model file, which :func:`load` and the command line read."""
        data = self.to_bytes(without_sources=without_sources)
        with open(pathlib.Path(path).expanduser(), "wb") as file:
            file.write(data)

    def export_fmu(
        self,
        path: PathLike,
        *,
        fmi: int = 3,
        type: str | Iterable[str] = ("me", "cs"),
        arrays: bool = False,
        structural: Mapping[str, tuple[int, int]] | None = None,
        runtime: PathLike | None = None,
        without_sources: bool = False,
    ) -> None:
        """Writes a functional mock-up unit, for other tools: of FMI 3 or 2, for Model Exchange (``"me"``), Co-Simulation
        (``"cs"``) or both. ``arrays`` shows arrays as such (FMI 3). ``structural``, as in ``{"n": (1, 20)}``, lets importers choose
        parameters that give sizes, within these ranges; the unit holds the model for each choice. ``runtime`` is the library that goes into it; if not given it is looked for in the environment
        variable ``SALTUS_FMI_RUNTIME``, beside this package and where the command line looks for it."""
        types = {type} if isinstance(type, str) else set(type)
        if fmi not in (2, 3):
            raise ValueError(f"there is no FMI {fmi} here: 2 or 3")
        if not types or types - {"me", "cs"}:
            raise ValueError(f"the type of a unit is 'me', 'cs' or both, not {type!r}")
        if fmi == 2 and (arrays or structural):
            raise ValueError("FMI 2 has no arrays: give `arrays` and `structural` with fmi=3")
        sizes = self._sizes(structural) if structural else None
        library = _fmi_runtime(runtime)
        data = self._native.to_fmu(fmi, ("me" in types, "cs" in types), library, without_sources, arrays, sizes)
        pathlib.Path(path).expanduser().write_bytes(data)

    def _sizes(
        self, ranges: Mapping[str, tuple[int, int]]
    ) -> tuple[list[tuple[str, int, int]], list[int], list[tuple[list[int], _native.Model]]]:
        """Parameters that give sizes, their values, and the models for all others in the ranges."""
        first = []
        for name, (least, most) in ranges.items():
            parameter = self.parameters[name]
            value = parameter.value
            if parameter.kind != "structural" or parameter.type != "Integer" or not isinstance(value, (int, float)) or value != int(value):
                raise ValueError(f"`{name}` gives no sizes: importers can set it in any unit")
            if not 1 <= least <= value <= most:
                raise ValueError(f"the sizes of `{name}` go from {least} to {most}: they begin at 1 or later, with {value} among them")
            first.append(int(value))
        count = math.prod(most - least + 1 for least, most in ranges.values())
        if count > _MOST_SIZES:
            raise ValueError(f"a unit holds a model for each choice of sizes, and no more than {_MOST_SIZES} of them, not {count}")
        choices = itertools.product(*(range(least, most + 1) for least, most in ranges.values()))
        others = [
            (list(values), self._resolved(dict(zip(ranges, values)), None)[0]._native)
            for values in choices
            if list(values) != first
        ]
        return [(name, least, most) for name, (least, most) in ranges.items()], first, others

    def allow_fmu(self) -> Model:
        """Lets the code of the units of other tools (FMUs) run that the model names. It has all your rights. Returns the
        model."""
        self._native.allow_fmu()
        return self

    def sha256(self) -> str:
        """A hash of everything that runs depend on but their settings."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self.to_bytes(), self._compiled_with, self._values)

    def __repr__(self) -> str:
        values = "".join(f", {name} = {value}" for name, value in self._values[:4])
        return f"<saltus.Model {self.name}{values}>"


def _fmi_runtime(given: PathLike | None) -> pathlib.Path:
    """Where the library is that goes into units."""
    named = given or os.environ.get("SALTUS_FMI_RUNTIME")
    if named:
        return pathlib.Path(named).expanduser()
    name = {"win32": "saltus_fmi_runtime.dll", "darwin": "libsaltus_fmi_runtime.dylib"}.get(
        sys.platform, "libsaltus_fmi_runtime.so"
    )
    prefix = pathlib.Path(sys.prefix)
    places = [pathlib.Path(__file__).parent / "lib", prefix / "lib" / "saltus", prefix / "lib"]
    program = shutil.which("saltus")
    if program:
        beside = pathlib.Path(program).resolve().parent
        places += [beside, beside / "deps", beside.parent / "lib" / "saltus", beside.parent / "lib"]
    for place in places:
        if (place / name).is_file():
            return place / name
    looked = ", ".join(str(place) for place in places)
    raise FileNotFoundError(
        f"the runtime {name} that goes into units is not there (looked in {looked}); "
        "`runtime=` or the environment variable SALTUS_FMI_RUNTIME says where it is"
    )


def _unpickle(
    data: bytes, compiled_with: tuple[tuple[str, str], ...], values: tuple[tuple[str, str], ...]
) -> Model:
    return Model(_native.Model.from_bytes(data), None, compiled_with, values)


def _merged(
    first: Iterable[tuple[str, str]], second: Iterable[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    """What is said later counts."""
    return tuple({**dict(first), **dict(second)}.items())
