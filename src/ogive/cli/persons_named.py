"""A column whose name says that it identifies people: a release without --person is told of that option in a line."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Collection, Sequence

_PEOPLE = "person|patient|participant|subject|respondent|user|customer|client|member|employee|student|pupil|donor"
_NUMBERS = "id|no|nr|nbr|num|number|key|code|uuid|identifier"
_ALONE = "person|patient|participant|subject|user"
_NAME = re.compile(
    rf"(?:{_ALONE}|(?:{_PEOPLE})s?[ _.-]?(?:{_NUMBERS})|(?:{_NUMBERS})[ _.-](?:{_PEOPLE}))", re.IGNORECASE
)


def person_column(columns: Sequence[str], used: Collection[str] = ()) -> str | None:
    """The first column that by its name identifies people; None where there is none.

    Only names are looked at. Whether a person has several records is in the data, and so is private.

    Args:
        columns: The names of the columns, which are public.
        used: Columns that are asked about.
    """
    return next((name for name in columns if _NAME.fullmatch(name) and name not in used), None)


def suggest_person(columns: Sequence[str], used: Collection[str]) -> None:
    """Say on standard error that --person protects people with several records, where a column seems to identify them.

    Args:
        columns: The names of the columns, which are public.
        used: Columns that are asked about.
    """
    name = person_column(columns, used)
    if name is not None:
        option = f"--person {shlex.quote(name)}"
        print(
            f"ogive: every record counts as a person of its own; if a person may have several, add {option}",
            file=sys.stderr,
        )
