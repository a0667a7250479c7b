"""What strangers ask for and the disk knows, read at most once a second, however many ask."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from starlette.concurrency import run_in_threadpool

T = TypeVar("T")

SECONDS = 1.0


class Recent(Generic[T]):
    """A value that is found in a thread, and given for a second.

    Args:
        find: Finds the value. What it raises is raised to whoever asks, and is not kept.
    """

    def __init__(self, find: Callable[[], T]) -> None:
        self._find = find
        self._one = asyncio.Lock()
        self._found: tuple[float, T] | None = None

    async def get(self) -> T:
        """The value, at most `SECONDS` old."""
        async with self._one:
            if self._found is None or time.monotonic() - self._found[0] >= SECONDS:
                begun = time.monotonic()
                self._found = begun, await run_in_threadpool(self._find)
            return self._found[1]
