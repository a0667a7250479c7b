"""What the collector publishes of a collection: an estimate in a file, which may come later and may be replaced."""

from __future__ import annotations

import json
import logging
import threading
from pathlib import Path
from typing import Any

from ogive.errors import OgiveError, plain
from ogive.statistics.kinds import read_recorded
from ogive.study.https.pages import Released

LOG = logging.getLogger("ogive.study")

NAME = "estimate"
"""Under which the service shows it."""

_MOST = 1 << 26


class ReleasedFile:
    """The estimate that a file holds now, as `ogive local aggregate --output` writes it.

    Several threads may ask. A file that is not there yet, or that holds no estimate of local reports, shows nothing,
    and of the latter the log says so once.

    Args:
        path: Of the file; None where nothing is published.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._one = threading.Lock()
        self._known: tuple[int, int] | None = None
        self._found: dict[str, Any] | None = None
        self._released: Released | None = None

    def find(self, name: str) -> dict[str, Any] | None:
        """The estimate as plain data, if it has this name; None if there is none."""
        self.pictured()
        return self._found if name == NAME else None

    def pictured(self) -> dict[str, Released]:
        """The estimate by its name, as a page shows it; drawn anew where the file was replaced."""
        with self._one:
            self._look()
            return {} if self._released is None else {NAME: self._released}

    def _look(self) -> None:
        if self._path is None:
            return
        try:
            about = self._path.stat()
        except OSError:
            self._known = self._found = self._released = None
            return
        if self._known == (about.st_mtime_ns, about.st_size):
            return
        self._known = (about.st_mtime_ns, about.st_size)
        self._found = self._released = None
        try:
            with self._path.open("rb") as file:
                found = json.loads(file.read(_MOST))
            estimate = read_recorded(found)
        except (OSError, ValueError, OgiveError) as problem:
            LOG.warning("%s is not shown: it holds no estimate (%s)", plain(self._path), plain(problem)[:200])
            return
        if estimate.provenance is None or estimate.provenance.trust != "local":
            LOG.warning("%s is not shown: it is no estimate of local reports", plain(self._path))
            return
        self._found, self._released = found, Released.of(found)
