"""Where results go: checked before privacy is spent, written whole or not at all."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ogive.cli.options import OutputOptions
from ogive.core.checks import Progress
from ogive.core.files import check_writable, permissions, write_atomically
from ogive.errors import ParameterError, RefusalError, plain, quoted
from ogive.provenance import publishable


def check_outputs(
    data: Path | str | None, *outputs: Path | None, plot: Path | None = None, keep: Sequence[Path] = ()
) -> None:
    """Refuse, before anything is spent, outputs that could not be written or would destroy a file of this run.

    Args:
        data: The file that holds the records, if there is one; an address is no file that is written.
        outputs: What will be written.
        plot: The picture that will be drawn, if any.
        keep: Other files of this run, such as its ledger.
    """
    if plot is not None:
        _check_picture(plot)
    taken = {path.resolve() for path in (data, *keep) if isinstance(path, Path)}
    for path in filter(None, (*outputs, plot)):
        if path.resolve() in taken:
            raise ParameterError(f"the output {plain(path)} would overwrite another file of this run; name another")
        taken.add(path.resolve())
        check_writable(path)


def _check_picture(path: Path) -> None:
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

    It yields what may be called with steps done and to do, which are then shown too.
    """
    if not sys.stderr.isatty():
        yield lambda done, whole: None
        return
    from rich.console import Console

    with Console(stderr=True).status(message) as status:
        yield lambda done, whole: status.update(f"{message}: {done} of {whole}")


def publish(
    found: Any,
    output: OutputOptions,
    *,
    text: Callable[[Any], str] = str,
    public: bool | None = None,
    kept_in: str | None = None,
    plot: Path | None = None,
) -> None:
    """Write a result where it was asked for, and draw it.

    Args:
        found: The result.
        output: Where it goes.
        text: The result as text.
        public: Whether it may be published; else the file is for its owner alone. By default as its provenance says.
        kept_in: The ledger that has the result too, if one does.
        plot: Where a picture of it goes, if one was asked for.
    """
    public = publishable(found.provenance) if public is None else public
    write_out(found.to_json, lambda: text(found), output, public=public, kept_in=kept_in)
    if plot is not None:
        draw(found.plot, plot)


def write_out(
    as_json: Callable[[], str],
    as_table: Callable[[], str],
    output: OutputOptions,
    *,
    public: bool,
    kept_in: str | None = None,
) -> None:
    """Write a result to standard output as a table, or with --json as JSON and nothing else; a file has JSON besides.

    A file that could not be written although it could when it was checked is a refusal: the result is then in the
    ledger, or else on standard output, so what was paid for is not lost.
    """
    content = as_json() if output.json or output.output is not None else ""
    if output.output is not None:
        try:
            write_atomically(output.output, f"{content}\n".encode(), mode=permissions(public=public))
        except ParameterError as problem:
            if kept_in is not None:
                raise RefusalError(f"{problem.marked}; the ledger has the result: ask again at no cost") from None
            print(content)
            raise RefusalError(f"{problem.marked}; the result went to standard output instead") from None
        print(f"wrote {output.output}", file=sys.stderr)
    print(content if output.json else as_table())


def draw(plot: Callable[[Any], Any], path: Path) -> None:
    """Draw into a file whose suffix was checked before; for its owner alone where the picture is not private."""
    from ogive.showing.pictures import save

    drawn = plot(None)
    try:
        save(drawn, path)
    except ParameterError as problem:
        raise RefusalError(f"{problem.marked}; the rest of the result is as it was asked for") from None
    print(f"wrote {path}", file=sys.stderr)
