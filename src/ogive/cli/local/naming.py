"""Which file it was that somebody else's data came from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ogive.errors import PeerError

if TYPE_CHECKING:
    from ogive.local.description import Description


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
        PeerError, ParameterError: it is none, or cannot be read.
    """
    from ogive.local.description import Description

    with named(path):
        return Description.from_json(path)
