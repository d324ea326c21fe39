"""Simulation of physical systems whose structure changes while they run: clutches, ropes, diodes, impacts, dry friction.

>>> import saltus
>>> model = saltus.load(examples / "MotorAndLoad.mo")
>>> result = model.simulate(stop=400, set={"load.J": 0.5})
>>> result.events.times
array([  0., 100., 300.])

``load`` compiles a model from Modelica files, ``Model.simulate`` runs it, ``Model.sweep`` runs it many times on all cores or on a
cluster, ``Model.stepper`` leaves the run in your hands. In a notebook, results and analyses show themselves.
"""

from __future__ import annotations

from typing import Any

from . import _native, design
from ._errors import (
    Diagnostic,
    Error,
    FileError,
    InternalError,
    ModelError,
    Place,
    RequestError,
    SimulationError,
    UnknownNameError,
)
from ._fit import Fit, fit
from ._linear import Linear, SteadyState, steady_state
from ._model import Analysis, Model, Session, load, loads
from ._result import Event, Events, Impulse, Jump, Mode, Report, Result, Trigger, read
from ._sensitivities import Sensitivities, sensitivities
from ._stepper import Stepper
from ._sweep import Sweep, SweepFailure
from ._tables import Parameter, Table, Variable

__version__: str = _native.version


def explain(code: str) -> str:
    """What a diagnostic means, with an example and its fix.

    >>> print(saltus.explain("E0201").splitlines()[0])
    E0201: unknown name
    """
    text = _native.explain(code)
    if text is None:
        raise ValueError(f"there is no diagnostic `{code}`")
    return text


def load_ipython_extension(ipython: Any) -> None:
    """``%load_ext saltus`` brings the cell magic ``%%modelica``."""
    from ._magic import register

    register(ipython)


__all__ = [
    "Analysis",
    "Diagnostic",
    "Error",
    "Event",
    "Events",
    "FileError",
    "Fit",
    "Impulse",
    "InternalError",
    "Jump",
    "Linear",
    "Mode",
    "Model",
    "ModelError",
    "Parameter",
    "Place",
    "RequestError",
    "Report",
    "Result",
    "Sensitivities",
    "Session",
    "SimulationError",
    "SteadyState",
    "Stepper",
    "Sweep",
    "SweepFailure",
    "Table",
    "Trigger",
    "UnknownNameError",
    "Variable",
    "__version__",
    "design",
    "explain",
    "fit",
    "load",
    "load_ipython_extension",
    "loads",
    "read",
    "sensitivities",
    "steady_state",
]
