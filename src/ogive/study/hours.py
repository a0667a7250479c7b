"""How many reports came in which hour, in a file beside them, for the status page."""

from __future__ import annotations

import contextlib
import json
import time
from collections import Counter
from pathlib import Path

from ogive.errors import ParameterError
from ogive.files import write_atomically

FILE = "hours.json"
_HOUR, _HOURS = 3600, 48
_SECONDS = 60.0
"""How often the file is written at most; what a killed process had not written is counted when the next one begins."""


class Hours:
    """Counts by hour. The file is for people to look at: one that is damaged is begun again.

    Args:
        folder: Holds the file.
        stored: How many reports there are. Those that the file does not count came before the process that took them
            was killed, and are counted in the hour in which the last of them was stored.
        until: When that was, in seconds since 1970.
    """

    def __init__(self, folder: Path, stored: int = 0, until: float = 0.0) -> None:
        self._path = folder / FILE
        self._counts: Counter[int] = Counter()
        self._all = 0
        self._written, self._changed = float("-inf"), False
        try:
            kept = json.loads(self._path.read_text(encoding="utf-8"))
            # earlier versions wrote the hours alone, and not how many reports came before these
            hours, self._all = (kept, stored) if isinstance(kept, list) else (kept["hours"], int(kept["all"]))
            self._counts.update({int(first) // _HOUR: int(count) for first, count in hours})
        except (OSError, ValueError, TypeError, KeyError, OverflowError):
            self._counts.clear()
            self._all = 0
        if stored > self._all:
            self._counts[int(until) // _HOUR] += stored - self._all
            self._all, self._changed = stored, True

    def add(self) -> None:
        """Count one report now."""
        self._counts[int(time.time()) // _HOUR] += 1
        self._all += 1
        self._changed = True
        if time.monotonic() - self._written > _SECONDS:
            self.write()

    @property
    def last(self) -> list[list[int]]:
        """The last hours in which some came: an hour's first second since 1970, and how many."""
        return [[hour * _HOUR, count] for hour, count in sorted(self._counts.items())[-_HOURS:]]

    def write(self) -> None:
        """Bring the file up to date; where there is no room, it stays as it is."""
        if self._changed:
            with contextlib.suppress(ParameterError):
                write_atomically(self._path, json.dumps({"all": self._all, "hours": self.last}).encode())
        self._written, self._changed = time.monotonic(), False
