"""The table of a sweep on disk."""

from __future__ import annotations

import csv
import io
import json
import os
import pathlib
from typing import Any, BinaryIO

from . import _native
from ._errors import FileError, RequestError
from ._worker import Row


class Store:
    """A CSV file that holds every run when it is done, in the order of the design, as ``saltus sweep`` writes it. Beside it a JSON
    file says how it was made."""

    def __init__(
        self, path: Any, design: _native.Design, outputs: list[str], about: dict[str, Any], resume: bool
    ) -> None:
        self._path = pathlib.Path(path).expanduser()
        self._table = _native.Table(design, outputs)
        self._outputs = len(outputs)
        self._parameters = len(design.names)
        if self._path.suffix != ".csv":
            raise RequestError(f"`{self._path}`: the store of a sweep is a CSV file: give a name that ends in .csv")
        #: Rows that were there.
        self.kept: list[Row] = []
        try:
            self._file = self._open(about, resume)
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"the store `{self._path}` cannot be written: {error}") from error

    def _open(self, about: dict[str, Any], resume: bool) -> BinaryIO:
        beside = self._path.with_name(self._path.name + ".json")
        begun = self._path.read_bytes() if resume and self._path.exists() else b""
        rows, size, _ = self._table.kept(begun) if begun else (0, 0, 0)
        if size:
            self._check(beside, about)
            self._read(begun[:size].decode())
            begun_file = open(self._path, "r+b")
            begun_file.truncate(size)
            begun_file.seek(0, os.SEEK_END)
            return begun_file
        beside.write_text(json.dumps(about, indent=2, sort_keys=True) + "\n")
        file = open(self._path, "wb")
        file.write(self._table.header().encode())
        file.flush()
        return file

    def _check(self, beside: pathlib.Path, about: dict[str, Any]) -> None:
        try:
            before = json.loads(beside.read_text())
        except (OSError, ValueError) as error:
            raise RequestError(
                f"`{beside}` says how the table was made, and cannot be read ({error}): leave `resume` out to begin anew"
            ) from None
        for name, value in about.items():
            if before.get(name) != value:
                raise RequestError(
                    f"`{self._path}` was begun with another {name}: give the same model, design, outputs and settings,"
                    " or leave `resume` out to begin anew"
                )

    def _read(self, text: str) -> None:
        lines = csv.reader(io.StringIO(text, newline=""))
        next(lines)
        for run, fields in enumerate(lines):
            values = fields[1 + self._parameters :][: self._outputs]
            code, message = fields[-2:]
            if code:
                self.kept.append((run, [], (code, message)))
            else:
                self.kept.append((run, [float(value) if value else float("nan") for value in values], None))

    def write(self, rows: list[Row]) -> None:
        """Adds rows, which come in the order of the design. They reach the operating system at once."""
        try:
            self._file.write(self._table.lines(rows).encode())
            self._file.flush()
        except OSError as error:
            raise FileError(f"the store `{self._path}` cannot be written: {error}") from error

    def close(self) -> None:
        """No more rows come."""
        self._file.close()
