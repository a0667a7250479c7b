"""The same work on chunks of many keys, by as many threads as asked for."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from ogive.checks import whole

Tool = TypeVar("Tool")
Result = TypeVar("Result")

_LEAST = 256


def in_chunks(
    work: Callable[[Tool, slice], Result],
    tool: Callable[[int], Tool],
    *,
    keys: int,
    chunk: int,
    threads: int | None,
    progress: Callable[[int], None] | None,
) -> Iterator[Result]:
    """Do some work on every chunk of keys.

    Args:
        work: What is done, given a tool for a chunk of that size and the keys of the chunk.
        tool: Makes a tool for chunks of a number of keys; every thread has its own.
        keys: How many there are.
        chunk: How many keys at a time, at most.
        threads: How many work at once; None for one a processor.
        progress: Called in this thread with the number of keys done.

    Returns:
        The results in the order of the chunks.

    Raises:
        ParameterError: threads is not positive.
    """
    if threads is None:
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    whole(threads, "threads", 1)
    # few keys are divided among the threads
    chunk = min(chunk, max(-(-keys // threads), _LEAST))
    parts = [slice(start, min(start + chunk, keys)) for start in range(0, keys, chunk)]
    own = threading.local()

    def one(part: slice) -> Result:
        size = part.stop - part.start
        if getattr(own, "size", None) != size:
            own.tool, own.size = tool(size), size
        return work(own.tool, part)

    results = map(one, parts) if min(threads, len(parts)) < 2 else _by_threads(one, parts, threads)
    for part, result in zip(parts, results, strict=True):
        yield result
        if progress is not None:
            progress(part.stop)


def _by_threads(one: Callable[[slice], Result], parts: list[slice], threads: int) -> Iterator[Result]:
    pool = ThreadPoolExecutor(threads)
    try:
        # no more than are soon worked on: what was given up is not started, and results do not pile up
        ahead: deque[Future[Result]] = deque()
        for part in parts:
            ahead.append(pool.submit(one, part))
            if len(ahead) > 2 * threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
