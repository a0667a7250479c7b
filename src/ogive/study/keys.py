"""Enrolment keys in files that only their owner reads."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from ogive.errors import ParameterError, plain

_LARGEST = 10_000


def make_key(path: str | Path) -> Ed25519PrivateKey:
    """Make a key pair and keep it in a new file, as PEM (PKCS 8), readable by its owner alone.

    Raises:
        ParameterError: there is such a file, or it cannot be written.
    """
    key = Ed25519PrivateKey.generate()
    write_private(path, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return key


@contextmanager
def new_folder(folder: Path) -> Iterator[None]:
    """Make a folder that only its owner may read; if what is written into it fails, nothing of it stays.

    Raises:
        ParameterError: it is there already, and is kept, or it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        raise ParameterError(f"the folder {plain(folder)} is there already and is kept; name a new one") from None
    except OSError as problem:
        raise ParameterError(f"the folder {plain(folder)} cannot be made: {problem.strerror}") from None
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def write_private(path: str | Path, data: bytes) -> None:
    """Write a new file that only its owner may read, whole or not at all.

    Raises:
        ParameterError: there is such a file, which is kept, or it cannot be written.
    """
    write_new(path, data, mode=0o600)


def write_new(path: str | Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write a new file, whole or not at all.

    Raises:
        ParameterError: there is such a file, which is kept, or it cannot be written.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise ParameterError(f"the file {plain(path)} is there already and is not overwritten") from None
    except OSError as problem:
        raise ParameterError(f"the file {plain(path)} cannot be written: {problem.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as problem:
        Path(path).unlink(missing_ok=True)
        raise ParameterError(f"the file {plain(path)} cannot be written: {problem.strerror}") from None


def load_key(path: str | Path) -> Ed25519PrivateKey:
    """Read a key that `make_key` wrote.

    Raises:
        ParameterError: the file cannot be read, or is none.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST)
    except OSError as problem:
        raise ParameterError(f"the key {plain(path)} cannot be read: {problem.strerror}") from None
    try:
        key = load_pem_private_key(data, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise ParameterError(f"{plain(path)} is no key of a study; ogive study keys makes one")
    return key
