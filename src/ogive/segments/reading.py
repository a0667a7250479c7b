"""Reading a store while another process appends to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ogive.errors import RefusalError, plain
from ogive.segments.form import FRONT, NAME, Segment, file_numbers, is_front


def is_store(folder: Path) -> bool:
    """Whether a folder holds a store."""
    return (folder / NAME.format(1)).is_file()


def stored(folder: Path) -> Iterator[bytes]:
    """The records of a store, in order; those that are being appended may be among the last ones.

    Whatever is read later begins with the same records.

    Raises:
        RefusalError: a file lacks, is damaged or cannot be read.
    """
    numbers = file_numbers(folder)
    for number in numbers:
        path, last = folder / NAME.format(number), number == len(numbers)
        try:
            with path.open("rb") as file:
                handle = file.fileno()
                length = os.fstat(handle).st_size
                if is_front(os.pread(handle, FRONT, 0)):
                    for _, records in Segment(handle, path, length).commits(cut_off=last):
                        yield from records
                elif not last or length > FRONT:
                    raise RefusalError(f"{plain(path)} is no file of a store")
        except OSError as problem:
            raise RefusalError(f"{plain(path)} cannot be read: {problem.strerror}") from None
