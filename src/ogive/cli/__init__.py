"""The command line: one file per command, in `COMMANDS`.

Results go to standard output or to files, messages to standard error. Exit status: 0; 1 where a
request was understood and declined; 2 for bad use and unusable data; 130 when interrupted.
Command modules import what is heavy inside their functions, so that `--help` is quick.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from types import FrameType

from cyclopts import App, CycloptsError, Parameter

from ogive import __version__
from ogive.errors import OgiveError, RefusalError

COMMANDS = {
    "ecdf": ("ogive.cli.ecdf:ecdf", "Release a whole distribution function."),
    "quantiles": ("ogive.cli.quantiles:quantiles", "Release quantiles with simultaneous intervals."),
    "demo": ("ogive.cli.demo:demo", "Show the whole story on this machine; ends in a report."),
    "reproduce": ("ogive.cli.reproduce:app", "Redo the figures and tables of the papers, with a verdict for each."),
}
"""Each command's name, where its function (or App of commands) is, loaded when first used, and its summary."""

REFUSED, BAD_USE, FAULT, INTERRUPTED, TERMINATED, PIPE_CLOSED = 1, 2, 70, 130, 143, 141


def build() -> App:
    """The application with all its commands."""
    app = App(
        name="ogive",
        help="Distribution functions and quantiles with differential privacy.",
        version=f"ogive {__version__}",
        version_format="plaintext",
        default_parameter=Parameter(negative=()),
        suppress_keyboard_interrupt=False,
    )
    for name, (place, summary) in COMMANDS.items():
        app.command(place, name=name, help=summary)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: What follows the program's name; those of this process by default.

    Returns:
        The exit status.
    """
    previous = signal.signal(signal.SIGTERM, _terminate)
    try:
        build()(
            sys.argv[1:] if arguments is None else list(arguments),
            exit_on_error=False,
            print_error=False,
            result_action="return_none",
        )
        sys.stdout.flush()
    except (OgiveError, CycloptsError) as problem:
        return _fail(str(problem), REFUSED if isinstance(problem, RefusalError) else BAD_USE)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # the reader left; what is still buffered must not raise once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except OSError as problem:
        return _fail(f"the system declined: {(problem.strerror or type(problem).__name__).lower()}", REFUSED)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    except Exception as fault:
        # the message of an unforeseen error may quote records, so it is not shown
        frame = traceback.extract_tb(fault.__traceback__)[-1]
        return _fail(
            f"internal fault, please report it: {type(fault).__name__} in {frame.name}, line {frame.lineno}", FAULT
        )
    finally:
        signal.signal(signal.SIGTERM, previous)
    return 0


def _fail(message: str, status: int) -> int:
    print("ogive: error:", " ".join(message.split()), file=sys.stderr)
    return status


def _terminate(number: int, frame: FrameType | None) -> None:
    """Leave by an exception, so that unfinished output files are removed."""
    raise SystemExit(TERMINATED)
