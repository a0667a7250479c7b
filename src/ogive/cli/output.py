"""Output files that appear whole or not at all, and messages on standard error."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from ogive.cli.options import OutputOptions
from ogive.errors import ParameterError


@contextlib.contextmanager
def whole_file(path: Path | None, *, keep: tuple[Path | None, ...] = ()) -> Iterator[Path | None]:
    """A file to write now that takes its place only when everything has gone well.

    Enter before privacy is spent: a folder that is missing or cannot be written to is found here.

    Args:
        path: Where the file belongs; None yields None.
        keep: Files that must not be overwritten: the records, other outputs.

    Returns:
        An empty file beside `path`, under another name, on which the caller writes.

    Raises:
        ParameterError: the file cannot be made there.
    """
    if path is None:
        yield None
        return
    for other in keep:
        if other is not None and path.resolve() == other.resolve():
            raise ParameterError(f"the output {path} would overwrite another file of this run; name another")
    if path.is_dir():
        raise ParameterError(f"cannot write {path}: it is a folder")
    draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}{path.suffix}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except FileNotFoundError:
        raise ParameterError(f"cannot write {path}: there is no folder {path.parent}") from None
    except OSError as problem:
        raise ParameterError(f"cannot write {path}: {(problem.strerror or 'unknown reason').lower()}") from None
    try:
        yield draft
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


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
    """Print the result where it was asked for: JSON, or a table unless a file has the result already."""
    if output.json:
        print(as_json())
    elif output.output is None:
        print(as_table())
    if output.output is not None:
        print(f"wrote {output.output}", file=sys.stderr)
