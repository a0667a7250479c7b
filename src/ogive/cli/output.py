"""Where results go: checked before privacy is spent, written whole or not at all."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ogive.cli.options.common import OutputOptions
from ogive.core.checks import Progress
from ogive.core.files import check_writable, permissions, write_atomically
from ogive.errors import ParameterError, RefusalError, plain, quoted


def check_outputs(data: Path | str | None, *outputs: Path | None, keep: Sequence[Path] = ()) -> None:
    """Refuse, before anything is spent, outputs that could not be written or would destroy a file of this run.

    Args:
        data: The file that holds the records, if there is one; an address is no file that is written.
        outputs: What will be written.
        keep: Other files of this run, such as its ledger.

    Raises:
        ParameterError: a folder is missing or not writable, or two of the files are one.
    """
    taken = {path.resolve() for path in (data, *keep) if isinstance(path, Path)}
    for path in outputs:
        if path is None:
            continue
        if path.resolve() in taken:
            raise ParameterError(f"the output {plain(path)} would overwrite another file of this run; name another")
        taken.add(path.resolve())
        check_writable(path)


def check_picture(path: Path) -> None:
    """Refuse, before anything is spent, a picture that could not be drawn.

    Raises:
        ParameterError: its suffix is none of `SUFFIXES`, or matplotlib is not installed.
    """
    from ogive.showing.pictures import SUFFIXES

    if path.suffix.lower() not in SUFFIXES:
        raise ParameterError(
            f"--plot must name a {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} file, got {quoted(str(path))}"
        )
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError:
        raise ParameterError("--plot needs matplotlib; install it with: pip install 'ogive[plots]'") from None


@contextlib.contextmanager
def busy(message: str) -> Iterator[Progress]:
    """Show on standard error, where that is a terminal, that something is being done.

    Yields:
        What may be called with steps done and to do, which are then shown too.
    """
    if not sys.stderr.isatty():
        yield lambda done, whole: None
        return
    from rich.console import Console

    with Console(stderr=True).status(message) as status:
        yield lambda done, whole: status.update(f"{message}: {done} of {whole}")


def publish(
    as_json: Callable[[], str],
    as_table: Callable[[], str],
    output: OutputOptions,
    *,
    public: bool,
    kept_in: str | None = None,
) -> None:
    """Write the result where it was asked for.

    Standard output has the table, or with --json the JSON and nothing else; a file has the JSON besides.

    Args:
        as_json: The result as JSON.
        as_table: The result as text.
        output: Where it goes.
        public: Whether it may be published; else the file is for its owner alone.
        kept_in: The ledger that has the result too, if one does.

    Raises:
        RefusalError: the file could not be written although it could when it was checked. The result is then
            in the ledger, or else on standard output, so what was paid for is not lost.
    """
    text = as_json() if output.json or output.output is not None else ""
    if output.output is not None:
        try:
            write_atomically(output.output, f"{text}\n".encode(), mode=permissions(public=public))
        except ParameterError as problem:
            if kept_in is not None:
                raise RefusalError(f"{problem.marked}; the ledger has the result: ask again at no cost") from None
            print(text)
            raise RefusalError(f"{problem.marked}; the result went to standard output instead") from None
        print(f"wrote {output.output}", file=sys.stderr)
    print(text if output.json else as_table())


def draw(plot: Callable[[Any], Any], path: Path) -> None:
    """Draw into a file whose suffix was checked before; for its owner alone where the picture is not private."""
    from ogive.showing.pictures import save

    drawn = plot(None)
    try:
        save(drawn, path)
    except ParameterError as problem:
        raise RefusalError(f"{problem.marked}; the rest of the result is as it was asked for") from None
    print(f"wrote {path}", file=sys.stderr)
