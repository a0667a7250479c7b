"""Tasks done by several processes at once, results kept as they come.

Workers are started afresh (no fork, so no locks or random states are inherited), work with one
thread each, and end when the process that started them ends, however it ends.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import Protocol

from ogive.errors import OgiveError
from ogive_papers.items import Numbers, Task
from ogive_papers.store import ResultStore

_THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class TaskError(OgiveError):
    """A task of a reproduction failed; what was finished before is kept."""


class Progress(Protocol):
    """Is told how a reproduction gets on."""

    def begin(self, name: str, total: int, known: int) -> None:
        """An item starts; `known` of its `total` tasks were done earlier."""
        ...

    def advance(self, name: str) -> None:
        """A task of an item is done."""
        ...


def do_tasks(tasks: Sequence[Task], store: ResultStore, progress: Progress, *, workers: int) -> None:
    """Do the tasks of one item that are not in the store, and put them there.

    Args:
        tasks: All of one item.
        store: Knows what was done earlier, and is given what is done now.
        progress: Is told of every task.
        workers: Processes; 1 where the item must run alone.

    Raises:
        TaskError: a task failed.
    """
    item = tasks[0].item
    waiting = [task for task in tasks if store.get(task.key) is None]
    progress.begin(item.name, len(tasks), len(tasks) - len(waiting))
    if not waiting:
        return
    with _one_thread_each(), _pool(min(1 if item.alone else workers, len(waiting))) as pool:
        queue = iter(waiting)
        running: dict[Future[Numbers], Task] = {}
        while True:
            # a few tasks ahead keep the workers busy; more would only delay an interruption
            for task in queue:
                running[pool.submit(item.measure, task.setting, task.seed, task.plan.data)] = task
                if len(running) >= 2 * workers:
                    break
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                task = running.pop(future)
                try:
                    numbers = future.result()
                except Exception as fault:
                    problem = " ".join(f"{type(fault).__name__}: {fault}".split())
                    raise TaskError(f"{item.name} at {dict(task.setting)}, run {task.run}: {problem}") from fault
                store.add(task.key, task.description, numbers)
                progress.advance(item.name)


@contextlib.contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"), initializer=_start_worker)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let processes started meanwhile use one thread each; the workers are the parallelism."""
    before = {name: os.environ.get(name) for name in _THREAD_SETTINGS}
    os.environ.update(dict.fromkeys(_THREAD_SETTINGS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _start_worker() -> None:
    """Leave interruptions to the parent, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)
