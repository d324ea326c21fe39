"""What is wrong, as data and as exceptions."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._result import Result


@dataclasses.dataclass(frozen=True)
class Place:
    """A place in a text: file, lines and columns from 1; the end is behind the last character."""

    file: str | None
    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None
    message: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One finding: what is wrong, where, and what to do about it. ``str()`` is the text that the command line shows."""

    code: str
    severity: str
    message: str
    place: Place | None
    others: tuple[Place, ...]
    notes: tuple[str, ...]
    help: tuple[str, ...]
    text: str = dataclasses.field(repr=False)

    @property
    def is_error(self) -> bool:
        """Whether it is an error, no warning and no note."""
        return self.severity == "error"

    def explain(self) -> str:
        """What its code means, with an example and its fix."""
        from . import explain

        return explain(self.code)

    def __str__(self) -> str:
        return self.text.rstrip()


def _place(value: dict[str, Any] | None) -> Place | None:
    if value is None:
        return None
    start, end = value["start"], value["end"]
    return Place(
        value["file"], start["line"], start["column"], end["line"], end["column"], value.get("message", "")
    )


def diagnostics(text: str) -> list[Diagnostic]:
    """Diagnostics from the JSON that the extension module writes."""
    return [
        Diagnostic(
            value["code"],
            value["severity"],
            value["message"],
            _place(value["primary"]),
            tuple(place for other in value["secondary"] if (place := _place(other)) is not None),
            tuple(value["notes"]),
            tuple(value["help"]),
            value["text"],
        )
        for value in json.loads(text)
    ]


class Error(Exception):
    """Something is wrong; ``diagnostics`` say what, where, and what to do about it."""

    def __init__(self, message: str, diagnostics: list[Diagnostic] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.diagnostics: list[Diagnostic] = diagnostics or []

    @property
    def diagnostic(self) -> Diagnostic | None:
        """The first error, or the first of all if none is an error."""
        errors = [diagnostic for diagnostic in self.diagnostics if diagnostic.is_error]
        return next(iter(errors or self.diagnostics), None)

    @property
    def code(self) -> str | None:
        """The code of the first error, such as ``E0101``."""
        return self.diagnostic.code if self.diagnostic else None

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.diagnostics), {**self.__dict__}


class ModelError(Error):
    """The model is wrong."""


class RequestError(Error, ValueError):
    """What was asked for is wrong: a parameter, a value, a setting."""


class UnknownNameError(RequestError, KeyError):
    """There is no variable of that name."""


class FileError(Error, OSError):
    """A file cannot be read or written, or is not what its name says."""


class SimulationError(Error):
    """A run failed; ``result`` holds what was computed until then."""

    def __init__(
        self, message: str, diagnostics: list[Diagnostic] | None = None, result: Result | None = None
    ) -> None:
        super().__init__(message, diagnostics)
        self.result = result


class InternalError(Error, RuntimeError):
    """A bug in Saltus, not in your model. Please report it."""


_CLASSES: dict[str, type[Error]] = {
    known.__name__: known
    for known in (ModelError, RequestError, UnknownNameError, FileError, SimulationError, InternalError)
}


def from_native(name: str, text: str) -> Error:
    """An exception from the JSON of diagnostics."""
    found = diagnostics(text)
    # Notes would hide what is wrong.
    shown = [diagnostic for diagnostic in found if diagnostic.is_error] or found
    message = "\n".join(str(diagnostic) for diagnostic in shown[:20])
    if len(shown) > 20:
        message += f"\nand {len(shown) - 20} more"
    return _CLASSES[name](message, found)
