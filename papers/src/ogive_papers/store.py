"""Numbers of finished tasks, kept so that a stopped reproduction goes on where it was.

One line of JSON per task, written with a single call and forced to the disk. A process killed
in between leaves at most a torn last line, which is skipped and fenced off.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ogive.errors import DataError, ParameterError, plain


class ResultStore:
    """A file of finished tasks.

    Args:
        path: The file; made if missing.

    Raises:
        ParameterError: the file cannot be written or read.
    """

    def __init__(self, path: Path) -> None:
        self.torn = 0
        """Lines that could not be read."""
        try:
            content = path.read_bytes() if path.exists() else b""
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as problem:
            raise ParameterError(
                f"cannot keep results in {plain(path)}: {(problem.strerror or 'unknown').lower()}"
            ) from None
        self._known = self._read(content)
        if content and not content.endswith(b"\n"):
            os.write(self._file, b"\n")

    def _read(self, content: bytes) -> dict[str, dict[str, float]]:
        known = {}
        for line in content.split(b"\n"):
            if not line:
                continue
            try:
                record = json.loads(line)
                known[str(record["key"])] = {str(k): float(v) for k, v in record["numbers"].items()}
            except (ValueError, KeyError, TypeError, AttributeError):
                self.torn += 1
        return known

    def get(self, key: str) -> dict[str, float] | None:
        """Numbers of a task, or None if it has not been done."""
        return self._known.get(key)

    def add(self, key: str, description: Mapping[str, Any], numbers: Mapping[str, float]) -> None:
        """Keep the numbers of a finished task; they survive the process once this returns.

        Raises:
            DataError: a number is not finite.
        """
        for name, value in numbers.items():
            if not math.isfinite(value):
                raise DataError(f"{name} is {value} in {json.dumps(dict(description))}; numbers must be finite")
        plain = {name: float(value) for name, value in numbers.items()}
        line = json.dumps({"key": key, **description, "numbers": plain}).encode() + b"\n"
        written = os.write(self._file, line)
        if written != len(line):
            raise ParameterError("results could not be kept: the disk is full")
        os.fsync(self._file)
        self._known[key] = plain

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
