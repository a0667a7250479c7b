"""Signals that stop a command."""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

_AGAIN = 0.05
"""Seconds until a swallowed interrupt is raised once more."""


@contextmanager
def stopping() -> Generator[list[int]]:
    """Let SIGINT and SIGTERM raise KeyboardInterrupt; yields the list of those that came.

    Python drops what is raised in a finalizer or in a callback of a weak reference, and importing has such
    callbacks; after such a moment the interrupt is raised again (not on Windows, which has no timer signal).
    """
    stops: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        stops.append(number)
        raise KeyboardInterrupt

    def again(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    def report(ignored: sys.UnraisableHookArgs) -> None:
        if sys.platform != "win32" and isinstance(ignored.exc_value, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN)
        else:
            unraisable(ignored)

    handlers = {signal.SIGINT: stop, signal.SIGTERM: stop}
    if sys.platform != "win32":
        handlers[signal.SIGALRM] = again
    previous = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    unraisable, sys.unraisablehook = sys.unraisablehook, report
    try:
        yield stops
    finally:
        if sys.platform != "win32":
            signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = unraisable
        for number, handler in previous.items():
            signal.signal(number, handler)
