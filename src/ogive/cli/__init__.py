"""The command line: commands, listed in `settings`, each in the file of its name or beside its kin.

Results go to standard output or to files, messages to standard error. Exit status: 0; 1 where a
request was understood and declined; 2 for bad use and unusable data; 70 for a fault of ours; 128 plus
the signal's number when stopped by one.
Command modules import what is heavy inside their functions, so that `--help` is quick; this one imports
nothing of weight, so that from the first moment an interrupt is met by `main`.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import signal
import sys
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from ogive import __version__
from ogive.cli.settings import COMMANDS
from ogive.errors import OgiveError, ParameterError, RefusalError, plain, unmarked
from ogive.statistics.kinds import ALIASES, COMMANDED

if TYPE_CHECKING:
    from cyclopts import App

REFUSED, BAD_USE, FAULT, SIGNALED, PIPE_CLOSED = 1, 2, 70, 128, 141


def build() -> App:
    """The application with all its commands."""
    from cyclopts import App, Parameter

    from ogive.cli.data import columns_named
    from ogive.cli.settings import settings

    app = App(
        name="ogive",
        help="Distribution functions, quantiles, ROC curves and calibration with differential privacy.",
        version=f"ogive {__version__}",
        version_format="plaintext",
        default_parameter=Parameter(negative=()),
        suppress_keyboard_interrupt=False,
        config=[settings, columns_named],
    )
    for name, (place, summary) in COMMANDS.items():
        app.command(place, name=name, alias=COMMANDED[name].alias if name in COMMANDED else (), help=summary)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, of the words after the program's name; returns the exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    with stopping() as stops:
        try:
            _run(words)
            sys.stdout.flush()
        except OgiveError as problem:
            from ogive.cli.wording import in_options, options_of, remedied

            options = options_of(build(), words)
            message = in_options(problem.marked, options)
            if problem.remedy:
                message += f"; for example: {remedied(words, [in_options(each, options) for each in problem.remedy])}"
            return _fail(message, REFUSED if isinstance(problem, RefusalError) else BAD_USE)
        except BrokenPipeError:
            # the reader left; what is still buffered must not raise once more at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return PIPE_CLOSED
        except (Exception, KeyboardInterrupt) as fault:
            lacking = needed(fault) if isinstance(fault, ModuleNotFoundError) else None
            if lacking is not None:
                print("ogive: error:", unmarked(lacking), file=sys.stderr)  # what `_fail` needs may be lacking, too
                return BAD_USE
            # an extension may wrap an interrupt in an error of its own
            if stops or isinstance(fault, KeyboardInterrupt):
                print("; ".join(["ogive: stopped", *getattr(fault, "__notes__", ())]), file=sys.stderr)
                return SIGNALED + (stops[-1] if stops else signal.SIGINT)
            if isinstance(fault, MemoryError):
                return _fail("the system declined: not enough memory", REFUSED)
            if isinstance(fault, OSError):
                return _fail(f"the system declined: {(fault.strerror or type(fault).__name__).lower()}", REFUSED)
            # the message of an unforeseen error may quote records, so it is not shown
            frame = traceback.extract_tb(fault.__traceback__)[-1]
            what = f"{type(fault).__name__} in {frame.name}, line {frame.lineno}"
            return _fail(f"internal fault, please report it: {what}", FAULT)
    return 0


# --- What ends a command early: signals, and packages that are not there

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
    extras = [result[1] for each in of_package if (result := re.search(r"""extra == ['"](\w+)['"]""", each))]
    return f"ogive[{extras[0]}]" if len(extras) == len(of_package) > 0 else "ogive"


# --- One command

FLAGS, ALL = ("--help", "-h"), "--help-all"
"""Flags that ask for help."""


def help_flag(arguments: Sequence[str]) -> str | None:
    """The flag that asks for help, or None; what follows -- is not an option."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if ALL in options:
        return ALL
    return FLAGS[0] if any(flag in options for flag in FLAGS) else None


def _run(arguments: list[str]) -> None:
    from cyclopts import CycloptsError, UnusedCliTokensError

    from ogive.cli.data import gathered_notes
    from ogive.cli.wording import in_words, misspelt

    app = build()
    flag = help_flag(arguments)
    try:
        words = [word for word in arguments if word not in (*FLAGS, ALL)] if flag is not None else arguments
        _, apps, rest = app.parse_commands(words)
        lists = apps[-1].default_command is None  # it has commands, and none of them was named
        if (lists and not rest) or (flag is not None and not lists):
            from ogive.cli.help import help_of
            from ogive.cli.options import not_of

            print(help_of(app, words, everything=flag == ALL, without=not_of))
            return
        with gathered_notes():
            app(words, exit_on_error=False, print_error=False, result_action="return_none")
    except UnusedCliTokensError as problem:
        if ALIASES.get(arguments[0], arguments[0]) not in COMMANDED or any(
            word.startswith("-") for word in problem.unused_tokens or ()
        ):
            raise ParameterError(in_words(problem)) from None
        more = " ".join(problem.unused_tokens or ())
        from ogive.cli.output import check_pairs

        check_pairs(arguments, more)
        raise ParameterError(
            f"{arguments[0]} reads one DATA file, and {plain(more)} is another; --parties deals its records to "
            "several, ogive merge adds up what was released of each file, and in Python ogive.SecAgg takes a file of "
            "each"
        ) from None
    except CycloptsError as problem:
        raise ParameterError(in_words(problem)) from None
    except OgiveError as problem:
        raise misspelt(app, arguments) or problem from None


def _fail(message: str, status: int) -> int:
    from ogive.cli.data import as_written

    print("ogive: error:", as_written(" ".join(message.split())), file=sys.stderr)
    return status
