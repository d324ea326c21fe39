"""Designs: which values parameters take together, run after run.

>>> saltus.design.grid({"J1": [1, 2], "k": [0.1, 0.2, 0.3]})
<saltus.design.Design of 6 runs: J1, k>
>>> saltus.design.sobol(128, {"J1": (1, 4), "k": (0.1, 0.5)}).to_dict()["J1"][:3]
array([1.  , 2.5 , 3.25])
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._values import text


class Design:
    """Sets of values, one per run."""

    def __init__(self, native: _native.Design, shape: tuple[int, ...] | None = None) -> None:
        self._native = native
        #: How many values each parameter of a grid has.
        self._shape = shape

    @property
    def names(self) -> list[str]:
        """The names of the parameters."""
        return self._native.names

    def __len__(self) -> int:
        return len(self._native)

    def points(self, first: int = 0, count: int | None = None) -> list[list[str]]:
        """The values of some runs in the order of the names, as they are written in a model."""
        return self._native.points(first, len(self) - first if count is None else count)

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """The values by parameter."""
        points = self.points()
        return {name: column([point[at] for point in points]) for at, name in enumerate(self.names)}

    def to_pandas(self) -> Any:
        """A data frame with one row per run."""
        import pandas

        return pandas.DataFrame(self.to_dict())

    def __repr__(self) -> str:
        return f"<saltus.design.Design of {len(self)} runs: {', '.join(self.names)}>"


def column(texts: list[str]) -> NDArray[Any]:
    """Texts as numbers or truth values, if they are."""
    if texts and all(each in ("true", "false") for each in texts):
        return np.array([each == "true" for each in texts])
    try:
        return np.array([float(each) for each in texts])
    except ValueError:
        return np.array(texts, dtype=object)


def grid(values: Mapping[str, Any]) -> Design:
    """Every value of a parameter with every value of the others; the last parameter changes fastest."""
    rows = [(name, _levels(name, levels), None) for name, levels in values.items()]
    return Design(_native.Design.grid(rows), tuple(len(levels) for _, levels, _ in rows))


def zip(values: Mapping[str, Any]) -> Design:
    """The first values of all parameters, the second values, and so on.

    >>> saltus.design.zip({"J1": [1, 2], "k": [0.1, 0.2]}).points()
    [['1', '0.1'], ['2', '0.2']]
    """
    levels = {name: _levels(name, each) for name, each in values.items()}
    counts = {len(each) for each in levels.values()}
    if len(counts) > 1:
        lengths = ", ".join(f"`{name}` {len(each)}" for name, each in levels.items())
        raise ValueError(f"parameters that go together need equally many values: {lengths}")
    sets = [list(each) for each in builtins.zip(*levels.values())]
    return Design(_native.Design.list(list(levels), sets))


def table(frame: Any) -> Design:
    """One run per row of a data frame (pandas, polars), or per dictionary of a list."""
    if isinstance(frame, list):
        if not frame:
            raise ValueError("the list of sets is empty")
        names = list(frame[0])
        if any(list(row) != names for row in frame):
            raise ValueError("every set must name the same parameters in the same order")
        return zip({name: [row[name] for row in frame] for name in names})
    return zip({str(name): list(frame[name]) for name in frame.columns})


def latin_hypercube(samples: int, ranges: Mapping[str, Any], *, seed: int = 0) -> Design:
    """Latin hypercube: the range ``(low, high)`` of every parameter is divided into as many strata as there are runs, and each of
    them holds one run. A list of values is a range of these. The same seed gives the same design everywhere."""
    return Design(_native.Design.latin_hypercube(_ranges(ranges), _count(samples), seed))


def sobol(samples: int, ranges: Mapping[str, Any], *, seed: int | None = None) -> Design:
    """The first points of a Sobol sequence, which fill the space evenly; best in powers of two. A seed shifts them."""
    return Design(_native.Design.sobol(_ranges(ranges), _count(samples), seed))


def monte_carlo(
    samples: int, distributions: Mapping[str, Any], *, seed: int | np.random.Generator | None = 0
) -> Design:
    """Random values: ``(low, high)`` is a uniform distribution, a list of values is drawn from; anything with a method ``rvs`` is a
    distribution (``scipy.stats.norm(1, 0.1)``), and so is a function of a generator of numpy and a number of values.

    >>> design = saltus.design.monte_carlo(4, {"J1": (1, 2), "k": lambda rng, n: rng.normal(0.3, 0.01, n)}, seed=1)
    >>> len(design)
    4
    """
    generator = np.random.default_rng(seed)
    count = _count(samples)
    drawn = {name: _draw(name, source, generator, count) for name, source in distributions.items()}
    return zip(drawn)


def _draw(name: str, source: Any, generator: np.random.Generator, count: int) -> Any:
    if hasattr(source, "rvs"):
        values = source.rvs(size=count, random_state=generator)
    elif callable(source):
        function: Callable[[np.random.Generator, int], Any] = source
        values = function(generator, count)
    elif isinstance(source, tuple) and len(source) == 2:
        values = generator.uniform(source[0], source[1], count)
    else:
        return [list(source)[at] for at in generator.integers(0, len(source), count)]
    if np.shape(values) != (count,):
        raise ValueError(f"`{name}`: {count} values were asked for, and an array of shape {np.shape(values)} came")
    return values


def _count(samples: int) -> int:
    if isinstance(samples, bool) or not isinstance(samples, (int, np.integer)) or samples < 1:
        raise ValueError(f"{samples!r} runs: ask for at least one")
    return int(samples)


def _levels(name: str, levels: Any) -> list[str]:
    if isinstance(levels, (str, bytes)) or not np.iterable(levels):
        levels = [levels]
    texts = [text(level, f"`{name}`") for level in levels]
    if not texts:
        raise ValueError(f"`{name}` has no values")
    return texts


def _ranges(ranges: Mapping[str, Any]) -> list[tuple[str, list[str] | None, tuple[float, float] | None]]:
    rows: list[tuple[str, list[str] | None, tuple[float, float] | None]] = []
    for name, levels in ranges.items():
        if isinstance(levels, tuple) and len(levels) == 2:
            rows.append((name, None, (float(levels[0]), float(levels[1]))))
        else:
            rows.append((name, _levels(name, levels), None))
    return rows


def of(source: Any) -> Design:
    """A design from what stands for one: a dictionary is a grid, a data frame or list of dictionaries a table."""
    if isinstance(source, Design):
        return source
    if isinstance(source, Mapping):
        return grid(source)
    if isinstance(source, list) or hasattr(source, "columns"):
        return table(source)
    raise TypeError(
        f"the design is a {type(source).__name__}: give a dictionary of values, a data frame, or one of saltus.design"
    )
