"""What ends a command early: signals, and packages that are not there."""

from __future__ import annotations

import importlib.metadata
import re
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

from ogive.errors import plain

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


# --- Packages that are not there


def needed(missing: ModuleNotFoundError) -> str | None:
    """What is needed for a command, in a line; None where a module of ogive itself is not there."""
    package = (missing.name or "").partition(".")[0]
    if package in ("", "ogive"):
        return None
    return f"this needs {plain(package)}, which is not installed; run pip install '{_whole(package)}'"


def _whole(package: str) -> str:
    """The installation that has a package: that of an extra, if only an extra names it."""
    named = [each.partition(";") for each in importlib.metadata.requires("ogive") or ()]
    of_package = [extra for spelt, _, extra in named if re.match(rf"{re.escape(package)}\b", spelt, re.IGNORECASE)]
    extras = [found[1] for each in of_package if (found := re.search(r"""extra == ['"](\w+)['"]""", each))]
    return f"ogive[{extras[0]}]" if len(extras) == len(of_package) > 0 else "ogive"
