"""Figures on axes of matplotlib, with the conventions of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._result import Result

#: Backgrounds of modes, as in our figures.
_BANDS = ("#ffffff", "#eef3fa", "#f8f2e6", "#eef7ee", "#f7eef6", "#f0f0f0", "#fdf0ee", "#edf7f7")


def plot(result: Result, names: list[str], ax: Any, modes: bool, impulses: bool, line: dict[str, Any]) -> Any:
    """Draws signals over time."""
    if ax is None:
        try:
            import matplotlib.pyplot as pyplot
        except ImportError:
            raise ImportError("figures on axes are drawn by matplotlib: pip install matplotlib") from None
        _, ax = pyplot.subplots()
    chosen = result.names(names) if names else result._native.shown_first()
    known = result.variables
    if modes:
        _draw_bands(result, ax)
    units = {known[name].unit for name in chosen if name in known}
    for name in chosen:
        unit = known[name].unit if name in known else ""
        label = f"{name} [{unit}]" if unit and len(units) > 1 else name
        times, values = _broken(result, name)
        step = name in known and known[name].kind != "continuous"
        style = {"drawstyle": "steps-post", **line} if step else line
        (drawn,) = ax.plot(times, values, label=label, **style)
        if impulses:
            _draw_impulses(result, name, ax, drawn.get_color())
    ax.set_xlabel("time [s]")
    if len(units) == 1 and (unit := units.pop()):
        ax.set_ylabel(f"[{unit}]")
    ax.set_title(result.model_name)
    ax.margins(x=0)
    if len(chosen) > 1:
        ax.legend()
    elif chosen:
        ax.set_ylabel(ax.get_lines()[-1].get_label() + (" " + ax.get_ylabel() if ax.get_ylabel() else ""))
    return ax


def _broken(result: Result, name: str) -> tuple[Any, Any]:
    """The curve with a gap where it jumps: nothing is drawn between left and right limit."""
    times, values = result.time, result[name]
    jumps = np.flatnonzero((np.diff(times) == 0) & (np.diff(values) != 0)) + 1
    return np.insert(times, jumps, times[jumps]), np.insert(values, jumps, np.nan)


def _draw_bands(result: Result, ax: Any) -> None:
    mode, times = result.mode, result.time
    if not len(times) or (mode == mode[0]).all():
        return
    edges = np.flatnonzero(np.diff(mode)) + 1
    starts, ends = np.r_[0, edges], np.r_[edges, len(times) - 1]
    for start, end in zip(starts, ends):
        if times[end] > times[start]:
            color = _BANDS[int(mode[start]) % len(_BANDS)]
            ax.axvspan(times[start], times[end], color=color, lw=0, zorder=0)


def _draw_impulses(result: Result, name: str, ax: Any, color: str) -> None:
    for time, impulse in result.events.impulses(name):
        low, high = ax.get_ylim()
        top = high if impulse.weight > 0 else low
        ax.annotate(
            f"{impulse.weight:.3g}", xy=(time, top), xytext=(time, 0 if low <= 0 <= high else low), color=color,
            fontsize="small", annotation_clip=True, arrowprops={"arrowstyle": "->", "color": color},
        )  # fmt: skip
