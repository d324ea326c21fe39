"""Parameters and variables of a model, as tables."""

from __future__ import annotations

import dataclasses
import fnmatch
import html
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a model."""

    name: str
    #: ``Real``, ``Integer``, ``Boolean``, ``Enumeration`` or ``String``.
    type: str
    literals: tuple[str, ...]
    #: Its value, as far as it is known before a run.
    value: float | int | bool | str | None
    unit: str
    description: str
    #: ``run``: every run may give it another value. ``structural``: another value needs another compilation, which
    #: ``simulate`` makes by itself.
    kind: str


@dataclasses.dataclass(frozen=True)
class Variable:
    """A variable of a model."""

    name: str
    unit: str
    display_unit: str
    description: str
    #: ``continuous``, ``discrete``, ``boolean``, ``integer`` or ``enumeration``.
    kind: str
    literals: tuple[str, ...]
    #: ``state``, ``derivative``, ``input``, ``parameter`` or ``local``.
    role: str
    #: Its value, if it is the same at all times.
    value: float | None
    hidden: bool


Row = TypeVar("Row", Parameter, Variable)


class Table(Mapping[str, Row], Generic[Row]):
    """Rows by name. ``query`` selects by pattern; in a notebook it is a table."""

    def __init__(self, rows: Mapping[str, Row], what: str) -> None:
        self._rows: dict[str, Row] = dict(rows)
        self._what = what

    def __getitem__(self, name: str) -> Row:
        try:
            return self._rows[name]
        except KeyError:
            pass
        from ._errors import UnknownNameError

        last = str(name).rsplit(".", 1)[-1].lower()
        similar = [known for known in self._rows if known.rsplit(".", 1)[-1].lower() == last][:4]
        advice = f": did you mean {', '.join(similar)}?" if similar else ""
        raise UnknownNameError(f"there is no {self._what} `{name}`{advice}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def query(self, pattern: str = "*", **fields: Any) -> Table[Row]:
        """Those whose names fit a pattern (``*`` any text, ``?`` any character) and whose fields have given values."""
        # Brackets stand for themselves: `a[1]` is a name.
        pattern = pattern.replace("[", "[[]")
        found = {
            name: row
            for name, row in self._rows.items()
            if fnmatch.fnmatchcase(name, pattern)
            and all(getattr(row, field) == value for field, value in fields.items())
        }
        return Table(found, self._what)

    def to_pandas(self) -> Any:
        """A data frame with one row per name."""
        import pandas

        rows = [dataclasses.asdict(row) for row in self._rows.values()]
        return pandas.DataFrame(rows).set_index("name") if rows else pandas.DataFrame()

    def __repr__(self) -> str:
        lines = [f"{len(self)} {self._what}s"]
        for row in list(self._rows.values())[:20]:
            value = "" if row.value is None else f" = {row.value}"
            unit = f" {row.unit}" if row.unit else ""
            words = f"  # {row.description}" if row.description else ""
            lines.append(f"  {row.name}{value}{unit}{words}")
        if len(self) > 20:
            lines.append(f"  and {len(self) - 20} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        cells = [("name", "value", "unit", "description")]
        for row in list(self._rows.values())[:200]:
            value = "" if row.value is None else str(row.value)
            cells.append((row.name, value, row.unit, row.description))
        lines = ["<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in cells]
        more = f"<p>and {len(self) - 200} more</p>" if len(self) > 200 else ""
        return f"<table>{''.join(lines)}</table>{more}"


def parameter(row: tuple[Any, ...]) -> Parameter:
    """A parameter from a row of the extension module."""
    name, kind_of_values, literals, number, unit, description, by_run = row
    return Parameter(
        name,
        kind_of_values,
        tuple(literals),
        typed(kind_of_values.lower(), literals, number),
        unit,
        description,
        "run" if by_run else "structural",
    )


def typed(kind: str, literals: list[str], number: float | None) -> float | int | bool | str | None:
    """A number as a value of its type."""
    if number is None or number != number:
        return number
    if kind == "boolean":
        return bool(number)
    if kind == "integer":
        return int(number)
    if kind == "enumeration" and 1 <= number <= len(literals):
        return literals[int(number) - 1]
    return number


def variable(row: tuple[Any, ...]) -> Variable:
    """A variable from a row of the extension module."""
    name, unit, display_unit, description, kind, literals, role, value, hidden = row
    return Variable(name, unit, display_unit, description, kind, tuple(literals), role, value, hidden)
