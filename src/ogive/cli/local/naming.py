"""Which file it was that somebody else's data came from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ogive.errors import PeerError


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Say in which file somebody else's data were no good."""
    try:
        yield
    except PeerError as problem:
        raise problem.prefixed(path) from None
