"""Files that appear whole or not at all, and the results of work that is divided into parts."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from ogive.errors import ParameterError, PeerError, plain

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

PUBLIC, OWNER_ONLY = 0o644, 0o600
"""Permissions of files, before the umask: of what may be published, and of what may not."""

_HALF = ".half"


def permissions(*, public: bool) -> int:
    """Permissions of a new file: what may not be published is for its owner alone, whatever the umask."""
    return PUBLIC if public else OWNER_ONLY


def check_writable(path: Path) -> None:
    """Refuse a path that could not be written, before any work is done for it."""
    folder = path.parent
    if not folder.is_dir():
        raise ParameterError(f"cannot write {plain(path)}: the folder {plain(folder)} does not exist")
    if path.is_dir():
        raise ParameterError(f"cannot write {plain(path)}: it is a folder")
    if path.exists() and not path.is_file():
        return  # a pipe or a device is written to as it is
    try:
        # permissions alone do not tell: there are folders in which nobody can write
        handle, name = tempfile.mkstemp(dir=path.resolve().parent, prefix=f".{path.name}.", suffix=_HALF)
    except PermissionError:
        raise ParameterError(f"cannot write {plain(path)}: the folder {plain(folder)} is not writable") from None
    except OSError as problem:
        if problem.errno == errno.ENOSPC:
            return  # a disk that is full now may have room when there is something to write
        raise ParameterError(f"cannot write {plain(path)}: {problem.strerror}") from None
    os.close(handle)
    Path(name).unlink(missing_ok=True)  # a run that has the file to itself may have removed it as a leftover


def write_atomically(path: Path, content: bytes, *, mode: int = PUBLIC, replace: bool = True) -> None:
    """Write a file so that a reader sees the old content or the new, and a crash leaves no half.

    A link is followed: what it points to is replaced, not the link. A pipe or a device is written to as it is.
    """
    check_writable(path)
    path = path.resolve()
    if path.exists() and not path.is_file():
        try:
            path.write_bytes(content)
        except OSError as problem:
            raise ParameterError(f"cannot write {plain(path)}: {problem.strerror}") from None
        return
    umask = os.umask(0)
    os.umask(umask)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=_HALF)
    except OSError as problem:
        raise ParameterError(f"cannot write {plain(path)}: {problem.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode & ~umask)
        if replace:
            Path(name).replace(path)
        else:
            os.link(name, path)
            Path(name).unlink()
    except FileExistsError:
        Path(name).unlink(missing_ok=True)
        raise ParameterError(f"{plain(path)} exists and is not replaced; name another file") from None
    except OSError as problem:
        Path(name).unlink(missing_ok=True)
        raise ParameterError(f"cannot write {plain(path)}: {problem.strerror}") from None
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_whole(handle: int, content: bytes, *, at: int) -> None:
    """Write all of the content into an open file at a place, or none of it.

    A disk that fills up takes a part first; the file is then as long as the place again.
    """
    try:
        os.lseek(handle, at, os.SEEK_SET)
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(handle, rest) :]
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(handle, at)
        raise


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Have a file for oneself, among all who ask so; waits for whoever has it, who loses it however they end.

    The lock is on an empty file beside it, which stays: the file itself is another one each time it is written.
    """
    path = path.resolve()
    try:
        handle = os.open(path.parent / f".{path.name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as problem:
        raise ParameterError(f"cannot lock {plain(path)}: {problem.strerror}") from None
    try:
        try:
            if sys.platform == "win32":
                msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
            else:
                fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as problem:
            raise ParameterError(f"cannot lock {plain(path)}: {problem.strerror}; keep it on another disk") from None
        yield
    finally:
        os.close(handle)


def remove_leftovers(path: Path, *, names: str | None = None, after: float = 0) -> None:
    """Remove what writers of a file left beside it that were killed; only for who knows that nobody writes it now.

    With a pattern of `names`, of all such files in the folder of the path. Files younger than `after` seconds, which
    others may still write, and what cannot be removed stay.
    """
    path = path.resolve()
    half = re.compile(rf"\.{names or re.escape(path.name)}\.[a-z0-9_]{{8}}{re.escape(_HALF)}")
    with contextlib.suppress(OSError):
        for value in path.parent.iterdir():
            if not half.fullmatch(value.name) or value.is_dir():
                continue
            if not after or value.stat().st_mtime < time.time() - after:
                value.unlink(missing_ok=True)


# --- Numbered parts of work that others do; each counts once, however often it is done

Stamp = tuple[int, int]
"""Length of a file, and its time of change in nanoseconds."""


def one_each(numbers: Collection[int], results: Iterable[tuple[int, bytes]]) -> dict[int, bytes]:
    """The result of each part; the same result may come several times."""
    frames: dict[int, bytes] = {}
    for number, result in results:
        if number not in numbers:
            raise PeerError(
                f"there is a result of part {number}, and the parts have the numbers {min(numbers)} to {max(numbers)}"
            )
        if frames.setdefault(number, result) != result:
            raise PeerError(f"there are two different results of part {number}; add the parts up again")
    missing = sorted(set(numbers) - set(frames))
    if missing:
        raise PeerError(f"{len(missing)} of {len(numbers)} parts have no result, the first is part {missing[0]}")
    return frames


def stamp_of(path: Path) -> Stamp:
    """By what a file is known to be the same as when its parts were made."""
    try:
        value = path.stat()
    except OSError as problem:
        raise ParameterError(f"cannot read {plain(path)}: {problem.strerror}") from None
    return value.st_size, value.st_mtime_ns


def check_unchanged(path: Path, stamp: Stamp) -> None:
    """Refuse a file that is another one than when its parts were made."""
    if stamp_of(path) != stamp:
        raise ParameterError(f"{plain(path)} has changed since its parts were made; make them again")
