"""Where compiled loops are kept: folders of machine code that nobody else can write to.

Whoever can write to such a folder can have any code run in the processes that load from it. So a folder is used if it
is one of these:

- `NUMBA_CACHE_DIR`, if it is set; then no other. A folder that belongs to another user, or that others may write to, is
  left alone.
- The package's own folders, `__pycache__` beside the source, as Python keeps its byte code. Where they are read-only
  they are read all the same, so `ogive warmup` while an image is built serves every later user of it.
- The user's cache folder (`XDG_CACHE_HOME` or `~/.cache`, `~/Library/Caches` or `LOCALAPPDATA`), where the package's
  are read-only, with a folder for each version of this package.
- A folder of this user in the system's one for temporary files, where there is no home to write to.

The last two are made for their owner alone. They and `NUMBA_CACHE_DIR` are used only if they belong to this user or the
system, and no folder on the way to them can be renamed by another. Without any folder code is compiled anew in each
process.

Numba keeps code of a function by a digest of the file of that function alone, though the code of other loops that it
calls becomes part of it. Here all their files and the version of this package enter the digest.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba.core import caching
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.sigutils import normalize_signature

from ogive import __version__

_LOCATOR: Any = getattr(caching, "InTreeCacheLocator", None) or getattr(caching, "_InTreeCacheLocator")  # noqa: B009
"""Numba's own places of code; the name has an underscore in its earlier versions."""


def is_guarded(folder: Path) -> bool:
    """Whether a folder belongs to this user or the system, and nobody else can write to it or put another in its place.

    Where the system has no owners of files, as Windows, the folder of a user is taken for guarded.
    """
    if not hasattr(os, "getuid"):
        return True
    trusted = (0, os.getuid())
    try:
        place = folder.resolve(strict=True)
        if place.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return False
        for each in (place, *place.parents):
            result = each.stat()
            # in a folder with the sticky bit only owners rename what is theirs
            shared = result.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not result.st_mode & stat.S_ISVTX
            if result.st_uid not in trusted or shared:
                return False
    except OSError:
        return False
    return True


@cache
def user_folder() -> Path | None:
    """The folder of this user for code of this version, made if it was not there; None where there is no safe place."""
    for place in _user_places():
        with contextlib.suppress(OSError):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = place / __version__
            folder.mkdir(mode=0o700, exist_ok=True)
            place = folder.resolve(strict=True)  # a link on the way could be turned to another folder later
            if is_guarded(place) and os.access(place, os.W_OK):
                return place
    return None


def _user_places() -> Iterator[Path]:
    with contextlib.suppress(RuntimeError):  # no home
        home = Path.home()
        if sys.platform == "darwin":
            yield home / "Library" / "Caches" / "ogive"
        elif sys.platform == "win32":
            yield Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "ogive" / "Cache"
        else:
            yield Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "ogive"
    if hasattr(os, "getuid"):
        yield Path(tempfile.gettempdir()) / f"ogive-{os.getuid()}"


def folders_of(source: Path) -> tuple[list[Path], Path | None]:
    """From which folders code of a file's functions is loaded, and to which it is written."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        place = Path(named)
        folder = place / _subfolder(source)
        writable = _can_make(folder)
        if not (is_guarded(place) and is_guarded(folder)):
            return [], None
        return [folder], folder if writable else None
    beside = source.parent / "__pycache__"
    if _can_make(beside):
        return [beside], beside
    own = user_folder()
    if own is None:
        return [beside], None
    folder = own / _subfolder(source)
    return [beside, folder], folder if _can_make(folder) else None


def _subfolder(source: Path) -> str:
    return str(_LOCATOR.get_suitable_cache_subpath(str(source)))


def _can_make(folder: Path) -> bool:
    """Whether files can be written there; the folder is made if it is not there."""
    try:
        folder.mkdir(mode=0o700 if folder.name != "__pycache__" else 0o777, parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


class KeptCode:
    """Numba's cache of one function, in the folders of this package."""

    def __init__(
        self, function: Callable[..., Any], sources: Callable[[], list[Path]], compiles: Callable[[bool], None]
    ) -> None:
        self._compiles = compiles
        self._read: list[Any] = []
        self._written: Any = None
        try:
            source = Path(function.__code__.co_filename)
            str(source).encode()
            stamp = sha256(b"".join([__version__.encode(), *(_digest(each) for each in sources())])).digest()
        except (OSError, UnicodeEncodeError):  # no file, or one whose name cannot be encoded
            return
        folders, written = folders_of(source)
        for folder in folders:
            cache = _cache_in(folder, function, stamp)
            self._read.append(cache)
            if folder == written:
                self._written = cache

    @property
    def cache_path(self) -> str | None:
        """The folder that is written to, or read if none is; for `Dispatcher.stats`."""
        cache = self._written or next(iter(self._read), None)
        return None if cache is None else str(cache.cache_path)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The code of a signature; None where it has to be compiled.

        Processes that compile one function for different types at the same moment may give both codes one name. What
        was kept under it last is then the code of the other types, and numba would run it all the same.
        """
        types, _ = normalize_signature(signature)  # type: ignore[no-untyped-call]
        for each in self._read:
            with contextlib.suppress(OSError):
                result = each.load_overload(signature, context)
                if result is not None and tuple(result.signature.args) == tuple(types):
                    return result
        self._compiles(self._written is not None)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep the code of a signature where it can be kept."""
        if self._written is not None:
            with contextlib.suppress(OSError):  # a full disk, or a folder that was taken away
                self._written.save_overload(signature, compiled)


@cache
def _digest(path: Path) -> bytes:
    return sha256(path.read_bytes()).digest()


def _cache_in(folder: Path, function: Callable[..., Any], stamp: bytes) -> Any:
    class Locator(_LOCATOR):  # type: ignore[misc]
        def get_cache_path(self) -> str:
            return str(folder)

        def get_source_stamp(self) -> bytes:
            return stamp

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            return cls(py_func, py_file)

    class Implementation(CompileResultCacheImpl):
        def __init__(self, py_func: Any) -> None:
            self._locator_classes = [Locator]
            super().__init__(py_func)  # type: ignore[no-untyped-call]

    class Cache(FunctionCache):
        _impl_class = Implementation

    cache: Any = Cache
    return cache(function)
