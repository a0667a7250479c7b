"""The file of a partial state, which one run at a time may go on with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ogive.errors import RefusalError

if TYPE_CHECKING:
    from ogive.local.collection import Collection


class KeptState:
    """Remembers what the file was when this run read or wrote it, so that another run's state is never overwritten.

    Args:
        path: The file, which need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = _stamp(path)

    def save(self, collection: Collection) -> None:
        """Write the state.

        Raises:
            RefusalError: the file was written by somebody else meanwhile; it is left as it is.
            ParameterError: the file cannot be written there.
        """
        if _stamp(self._path) != self._seen:
            raise RefusalError(
                f"{self._path}: another run has written this file meanwhile, and what it holds is kept; "
                "run this again to add the same files to that"
            )
        collection.save(self._path)
        self._seen = _stamp(self._path)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
