"""What workers of a cluster do."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import Any, NamedTuple

from . import _native

#: Number of the run, outputs, and code and message of the error if it failed.
Row = tuple[int, list[float], "tuple[str, str] | None"]

#: Models that this process has met, by hash.
_MODELS: OrderedDict[str, _native.Model] = OrderedDict()
_MOST_MODELS = 8


class Job(NamedTuple):
    """What all runs of a sweep have in common."""

    sha256: str
    outputs: list[str]
    options: dict[str, Any]


class Chunk(NamedTuple):
    """Some runs: numbers, names and values of parameters, and what is set in all of them."""

    runs: list[int]
    names: list[str]
    points: list[list[str]]
    settings: list[tuple[str, str]]
    #: A model of its own, for values that shape the equations.
    model: tuple[str, bytes] | None


class Missing(NamedTuple):
    """The answer of a worker that does not have the model yet."""

    sha256: str


def _model(sha256: str, data: bytes | None) -> _native.Model | None:
    model = _MODELS.get(sha256)
    if model is None:
        if data is None:
            return None
        model = _native.Model.from_bytes(data)
        _MODELS[sha256] = model
        while len(_MODELS) > _MOST_MODELS:
            _MODELS.popitem(last=False)
    else:
        _MODELS.move_to_end(sha256)
    return model


def run_chunk(data: bytes | None, job: Job, chunk: Chunk) -> tuple[list[Row], float] | Missing:
    """Makes some runs, one after the other: the engine has one task per core. Returns what they yielded, and how long it took."""
    sha256, data = (job.sha256, data) if chunk.model is None else chunk.model
    model = _model(sha256, data)
    if model is None:
        return Missing(sha256)
    begun = time.perf_counter()
    rows: list[Row] = []
    design = _native.Design.list(chunk.names, chunk.points)
    options = _native.RunOptions(**job.options)
    model.ensemble(design, job.outputs, options, chunk.settings, None, 1, 0, rows.extend)
    numbered = [(chunk.runs[row[0]], row[1], row[2]) for row in rows]
    return numbered, time.perf_counter() - begun
