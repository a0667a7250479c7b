"""`ogive upload`: shares of a record for the servers of a study."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ogive.cli.options.common import Words
from ogive.errors import ParameterError, plain

_LONGEST = 1 << 16


def upload(
    study: Annotated[Path, Parameter(help="The file of the study.")],
    *,
    connect: str,
    token: Path,
    value: Words = (),
    value_from: Path | None = None,
    file: Path | None = None,
    authority: Path | None = None,
) -> None:
    """Send shares of a record to the servers of a study, once; nobody sees the record.

    Args:
        study: The file of the study.
        connect: Address of the study's first server, https://HOST:PORT.
        token: File with your token, or with one token a line for the rows of --file.
        value: Your value, such as 65, or COLUMN=VALUE for each column where the study asks for several.
            Other users of a machine may see the words of a command.
        value_from: Instead a file with that, a line each; /dev/stdin is standard input.
        file: Instead of a value a table with a row for each token, in any form that other commands read.
        authority: File with the certificate that issued the server's; by default those that the system trusts.
    """
    from ogive.study.servers.enrolment import read_tokens
    from ogive.study.servers.uploading import upload as send

    records = own_record(value, value_from, file)
    tokens = read_tokens(token)
    new = send(study, records, tokens=tokens, connect=connect, authority=authority)
    before = len(tokens) - new
    if len(tokens) == 1:
        said = (
            "the record is uploaded"
            if new
            else "a record was uploaded with this token before; that one counts, and nothing has changed"
        )
    else:
        said = f"{new:,} records are uploaded" + (f"; {before:,} were before" if before else "")
    print(said, file=sys.stderr)


def own_record(words: tuple[str, ...], words_from: Path | None, file: Path | None) -> Any:
    """A record by its words, by those in a file, or by a table; one of them is given."""
    if bool(words) + (words_from is not None) + (file is not None) != 1:
        raise ParameterError("name your record with --value or --value-from, or a table with --file")
    if words_from is not None:
        try:
            with words_from.open(encoding="utf-8-sig") as opened:
                text = opened.read(_LONGEST + 1)
        except (OSError, UnicodeDecodeError) as problem:
            reason = getattr(problem, "strerror", None) or "it is no text in UTF-8"
            raise ParameterError(f"the value in {plain(words_from)} cannot be read: {reason}") from None
        if len(text) > _LONGEST:
            raise ParameterError(f"{plain(words_from)} has more than the {_LONGEST} characters of a value")
        words = tuple(line.strip() for line in text.splitlines() if line.strip())
        if not words:
            raise ParameterError(f"there is no value in {plain(words_from)}")
    return file if file is not None else record_of(words)


def record_of(words: tuple[str, ...]) -> Any:
    """One record, as columns or as a single value."""
    if len(words) == 1 and "=" not in words[0]:
        return [_value(words[0])]
    record = {}
    for word in words:
        column, equals, value = word.partition("=")
        if not equals or not column or column in record:
            raise ParameterError(f"--value takes 65, or COLUMN=VALUE for each column once, got {plain(word)}")
        record[column] = [_value(value)]
    return record


def _value(word: str) -> float | str:
    try:
        found = float(word)
    except ValueError:
        return word
    if math.isnan(found):
        raise ParameterError(
            "--value nan is no value; a table of --file may lack one, where the study says what it means"
        )
    return found
