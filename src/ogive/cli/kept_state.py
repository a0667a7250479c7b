"""Files of a collection: a partial state, which one run at a time goes on with, and whose data were no good."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ogive.core.files import remove_leftovers, write_whole
from ogive.errors import ParameterError, PeerError, RefusalError, plain

if TYPE_CHECKING:
    from ogive.local.collection import Collection
    from ogive.local.description import Description

try:
    import fcntl
except ModuleNotFoundError:  # not every system has it; `KeptState.save` then tells two runs that meet
    fcntl = None  # type: ignore[assignment]

# --- Errors that name the file


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Say in which file somebody else's data were no good."""
    try:
        yield
    except PeerError as problem:
        raise problem.prefixed(path) from None


def described(path: Path) -> Description:
    """The description in a file.

    Raises:
        PeerError, ParameterError: it is not a kept state, or cannot be read.
    """
    from ogive.local.description import Description

    with named(path):
        return Description.from_json(path)


# --- The file of a partial state, and the key beside it


def key_file(path: Path) -> Path:
    """Where the key of a state lies by which the files are recognized that it has; links are followed."""
    return Path(f"{path.resolve()}.key")


class KeptState:
    """A state that this run alone may write, from before it is loaded until the run ends, however it ends.

    Args:
        path: The file, which need not exist yet.

    Raises:
        RefusalError: another run has it.
        PeerError, ParameterError: the file is there and no state, or its key cannot be read or made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open = ExitStack()

    def __enter__(self) -> KeptState:
        from ogive.local.states import check_state

        with named(self._path):
            check_state(self._path)  # before a key is put beside somebody else's file
        with ExitStack() as opened:
            place = key_file(self._path)
            file = opened.enter_context(_opened(place))
            if self._lock(file):
                remove_leftovers(self._path)
            self._key = _key(file, place)
            self._seen = _stamp(self._path)
            self._open = opened.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._open.close()

    def load(self, description: Description) -> Collection:
        """The collection that the file has, or a new one.

        Raises:
            PeerError: the file is damaged, contradicts itself, or is of another description.
            ParameterError: it cannot be read.
        """
        from ogive.local.collection import Collection

        if not self._path.exists():
            return Collection(description)
        with named(self._path):
            collection = Collection.load(self._path, key=self._key)
            if collection.description.digest != description.digest:
                raise PeerError("this partial state is of another description; name another file")
        return collection

    def save(self, collection: Collection) -> None:
        """Write the state.

        Raises:
            RefusalError: the file was written by somebody else meanwhile; it is left as it is.
            ParameterError: the file cannot be written there.
        """
        if _stamp(self._path) != self._seen:
            raise RefusalError(
                f"{plain(self._path)}: another run has written this file meanwhile, and what it holds is kept; "
                "run this again to add the same files to that"
            )
        collection.save(self._path, key=self._key)
        self._seen = _stamp(self._path)

    def _lock(self, file: IO[Any]) -> bool:
        """Whether this run alone has the file: not where the system or the file system knows no locks."""
        if fcntl is None:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RefusalError(
                f"{plain(self._path)}: another run is adding to this file; run this again when that one has ended, "
                "or name another file and merge the two"
            ) from None
        except OSError:
            return False
        return True


def _opened(place: Path) -> IO[Any]:
    try:
        handle = os.open(place, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        file = os.fdopen(handle, "r+b", buffering=0)
    except OSError as problem:
        raise ParameterError(f"cannot open {plain(place)}, the key of the partial state: {problem.strerror}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        file.close()
        raise _no_key(place)
    return file


def _key(file: IO[Any], place: Path) -> bytes:
    """The key that the file holds, or a new one, which is on the disk before any state is sealed with it."""
    from ogive.local.collection import Collection
    from ogive.local.states import KEY_BYTES

    try:
        key = bytes(file.read(KEY_BYTES + 1))
        if not key:
            key = Collection.new_key()
            write_whole(file.fileno(), key, at=0)
            os.fsync(file.fileno())
    except OSError as problem:
        raise ParameterError(f"cannot use {plain(place)}, the key of the partial state: {problem.strerror}") from None
    if len(key) != KEY_BYTES:
        raise _no_key(place)
    return key


def _no_key(place: Path) -> ParameterError:
    return ParameterError(
        f"{plain(place)} is no key of a partial state; move it away, or name another file for the state"
    )


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
