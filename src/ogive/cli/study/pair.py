"""`ogive pair`: one person of a study of people who meet in pairs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ogive.cli.options.common import Words
from ogive.errors import ParameterError, RefusalError


def pair(
    study: Annotated[Path, Parameter(help="The file of the study.")],
    *,
    connect: str,
    key: Path,
    ledger: str,
    value: Words = (),
    value_from: Path | None = None,
    file: Path | None = None,
    authority: Path | None = None,
) -> None:
    """Take part in a study with your record: you meet others in pairs, and nobody sees it.

    Args:
        study: The file of the study.
        connect: Address of the study's service, https://HOST:PORT.
        key: Your key; says which person of the study you are.
        ledger: Your ledger; the price is in it before anything is sent.
        value: Your value, such as 65, or COLUMN=VALUE for each column where the study asks for several.
            Other users of a machine may see the words of a command.
        value_from: Instead a file with that, a line each; /dev/stdin is standard input.
        file: Instead of a value a table with one row, in any form that other commands read.
        authority: File with the certificate that issued the service's; by default those that the system trusts.
    """
    from ogive.cli.study.upload import own_record
    from ogive.study.keys import load_key
    from ogive.study.pairs.document import PeopleStudy
    from ogive.study.pairs.joining import join
    from ogive.study.pairs.meeting import Meeting
    from ogive.study.reading import read_study

    record = own_record(value, value_from, file)
    read = read_study(study)
    if not isinstance(read, PeopleStudy):
        raise ParameterError("this is no study of people who meet in pairs; its trust must be pairs")
    if isinstance(record, list):
        columns = [each.column for each in Meeting.of(read).query.columns.columns]
        if len(columns) > 1:
            raise ParameterError(f"the study asks for the columns {', '.join(columns)}; give each as COLUMN=VALUE")
        record = {columns[0]: record}
    given, over = join(read, record, key=load_key(key), ledger=ledger, connect=connect, authority=authority)
    pairs = "1 pair" if given == 1 else f"{given} pairs"
    if not over:
        raise RefusalError(f"the study did not end in time; you took part in {pairs}")
    print(f"the study is over; you took part in {pairs}", file=sys.stderr)
