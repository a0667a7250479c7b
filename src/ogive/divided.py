"""Work that is divided into numbered parts, which others do: each part counts once, whoever does it how often."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from ogive.errors import ParameterError, PeerError, plain

Stamp = tuple[int, int]
"""Length of a file, and its time of change in nanoseconds."""


def one_each(numbers: Collection[int], results: Iterable[tuple[int, bytes]]) -> dict[int, bytes]:
    """The result of each part; the same result may come several times.

    Args:
        numbers: Of all parts.
        results: A number and what came of that part, in any order.

    Raises:
        PeerError: a result lacks, is of no part, or contradicts another one of the same part.
    """
    found: dict[int, bytes] = {}
    for number, result in results:
        if number not in numbers:
            raise PeerError(
                f"there is a result of part {number}, and the parts have the numbers {min(numbers)} to {max(numbers)}"
            )
        if found.setdefault(number, result) != result:
            raise PeerError(f"there are two different results of part {number}; add the parts up again")
    missing = sorted(set(numbers) - set(found))
    if missing:
        raise PeerError(f"{len(missing)} of {len(numbers)} parts have no result, the first is part {missing[0]}")
    return found


def stamp_of(path: Path) -> Stamp:
    """By what a file is known to be the same as when its parts were made.

    Raises:
        ParameterError: it cannot be read.
    """
    try:
        found = path.stat()
    except OSError as problem:
        raise ParameterError(f"cannot read {plain(path)}: {problem.strerror}") from None
    return found.st_size, found.st_mtime_ns


def check_unchanged(path: Path, stamp: Stamp) -> None:
    """Refuse a file that is another one than when its parts were made.

    Raises:
        ParameterError: it is, or cannot be read.
    """
    if stamp_of(path) != stamp:
        raise ParameterError(f"{plain(path)} has changed since its parts were made; make them again")
