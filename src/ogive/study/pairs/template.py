"""The file of a new study of people, with one release to be edited."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ogive.errors import ParameterError, plain
from ogive.study.common import FORMAT, LARGEST_FILE
from ogive.study.pairs.document import PAIRS, PeopleStudy

_TEXT = """\
# What is computed, by whom, and at what price. Everybody reads the same bytes: compare `sha256sum` of the file.
ogive-study = {format}
name = "{name}"
title = ""
# people meet in pairs and show nobody their records; the service sees noisy values
trust = "{trust}"
# no pair begins after this
deadline = {deadline}
# what the release may cost the record of each person
budget = {{ epsilon = 1 }}
# the public key of each person, from ogive study keys
people = [
{people}
]

[coordinator]
key = "{coordinator}"

[[release]]
name = "income"
statistic = "ustat"
privacy = {{ epsilon = 1 }}
columns = "income"
kernel = "gini"
bounds = [0, 100000]
"""


def template(name: str, *, coordinator: str, people: Sequence[str], deadline: str) -> str:
    """The text of a study of people, which `PeopleStudy.parse` reads.

    Args:
        name: Of the study.
        coordinator: Public key of the aggregator, as text.
        people: Public keys of the people, as text.
        deadline: A time with a time zone, such as 2030-12-31T18:00:00Z.

    Raises:
        ParameterError: a name, a key or a time is none.
    """
    text = _TEXT.format(
        format=FORMAT,
        name=name,
        trust=PAIRS,
        deadline=deadline,
        people="\n".join(f'  "{each}",' for each in people),
        coordinator=coordinator,
    )
    PeopleStudy.parse(text.encode())
    return text


def read_people(path: Path) -> list[str]:
    """The keys in a file, one a line.

    Raises:
        ParameterError: it cannot be read.
    """
    try:
        with path.open(encoding="ascii") as file:
            return file.read(LARGEST_FILE).split()
    except OSError as problem:
        raise ParameterError(f"the keys of the people {plain(path)} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise ParameterError(f"{plain(path)} holds no keys; ogive study keys prints them") from None
