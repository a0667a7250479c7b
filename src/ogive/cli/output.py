"""Where results go: checked before privacy is spent, written whole or not at all."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from ogive.cli.options import OutputOptions
from ogive.errors import ParameterError
from ogive.files import check_writable, write_atomically


def check_outputs(data: Path, *outputs: Path | None) -> None:
    """Refuse, before anything is spent, outputs that could not be written or would destroy a file of this run.

    Raises:
        ParameterError: a folder is missing or not writable, or two of the files are one.
    """
    taken = {data.resolve()}
    for path in outputs:
        if path is None:
            continue
        if path.resolve() in taken:
            raise ParameterError(f"the output {path} would overwrite another file of this run; name another")
        taken.add(path.resolve())
        check_writable(path)


@contextlib.contextmanager
def busy(message: str) -> Iterator[None]:
    """Show on standard error, where that is a terminal, that something is being done."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(message):
        yield


def publish(as_json: Callable[[], str], as_table: Callable[[], str], output: OutputOptions) -> None:
    """Write the result where it was asked for: JSON, or a table unless a file has the result already."""
    if output.output is not None:
        write_atomically(output.output, f"{as_json()}\n".encode())
        print(f"wrote {output.output}", file=sys.stderr)
    if output.json:
        print(as_json())
    elif output.output is None:
        print(as_table())
