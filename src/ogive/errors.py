"""Everything ogive raises on purpose.

    OgiveError
    ├── ParameterError      an argument is wrong (also a ValueError)         command line: exit 2
    │   └── ScaleError          a guarantee needs more noise than can be drawn
    ├── DataError           the records cannot be used (also a ValueError)   command line: exit 2
    └── RefusalError        the request was understood and is declined       command line: exit 1
        ├── UnsupportedError    this trust model cannot answer this query
        ├── BudgetError         the price is above what was granted
        ├── LedgerError         the ledger cannot be read or written, or is for something else
        ├── ReleaseMismatchError    a release is resumed on other data, scale or grid
        ├── CopyError           a stream would go on in two places with the same noise
        └── PeerError           what somebody else sent is malformed, or does not belong here

A message is one line: what was wrong, and what would be right. It marks the Python that it quotes with backticks:

    raise ParameterError("`bounds` must be two finite numbers, for example `bounds=(0, 120)`")

`str` of an error shows the message without the marks. Where other words are needed than Python's, as options on the
command line, `parts` tells what is marked. Values that are filled in pass through `quoted` or `plain`, so that nothing
in them marks anything.
"""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Self

_LONGEST_QUOTED = 80


def quoted(value: object) -> str:
    """Show a value in a message: as `repr` does, on one line and cut short, whatever it is."""
    try:
        shown = repr(value)
    except (ValueError, RecursionError):  # Python writes no number of more than 4300 digits, nor what nests deeply
        return f"{'an' if type(value).__name__[:1] in 'aeiou' else 'a'} {type(value).__name__} too long to show"
    line = " ".join(shown.split())
    return plain(line if len(line) <= _LONGEST_QUOTED else f"{line[:_LONGEST_QUOTED]}...")


def plain(text: object) -> str:
    """Text for a message that marks nothing, whoever wrote it: a backtick that is meant is written twice."""
    return str(text).replace("`", "``")


def parts(marked: str) -> list[tuple[str, bool]]:
    """Split a message into texts and whether each is marked, in order; the texts have no marks any more."""
    pieces = [piece.split("`") for piece in marked.split("``")]
    results: list[tuple[str, bool]] = []
    text, inside = pieces[0][0], False
    for number, piece in enumerate(pieces):
        text += "`" + piece[0] if number else ""
        for each in piece[1:]:
            results.append((text, inside))
            text, inside = each, not inside
    return [*results, (text, inside)]


def unmarked(marked: str) -> str:
    """A message as people read it."""
    return "".join(text for text, _ in parts(marked))


class Marked(str):
    """A message as people read it, for what is kept and shown; `marked` has its marks still."""

    marked: str

    def __new__(cls, marked: str) -> Self:
        """Take the marks off, and keep them beside."""
        text = super().__new__(cls, unmarked(marked))
        text.marked = marked
        return text


def marks_of(text: str) -> str:
    """A text with its marks, where it was made of a message, and with none otherwise."""
    return text.marked if isinstance(text, Marked) else plain(text)


class OgiveError(Exception):
    """Base class of the errors that ogive raises.

    Args:
        message: One line, in which Python is marked with backticks.
        parameter: Name of the parameter that the message is about. By default the first marked one, alone (`bounds`)
            or with a value (`bounds=(0, 120)`).
        remedy: Arguments that would make the call right, each marked, with the values that it needs.

    Attributes:
        marked: The message with its marks; `str` shows it without them. Use this to pass a message on.
        parameter: Name of the parameter that the message is about, or None.
        remedy: Arguments that would make the call right, from which the command line writes a whole command.
    """

    def __init__(self, message: str = "", *, parameter: str | None = None, remedy: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.remedy = remedy
        self.parameter = parameter or _parameter(message)

    def __str__(self) -> str:
        return unmarked(self.marked)

    @property
    def marked(self) -> str:
        """The message with its marks."""
        return str(self.args[0])

    def prefixed(self, prefix: object) -> Self:
        """The same error with a few words before its message, such as where it happened."""
        result = copy.copy(self)
        result.args = (f"{plain(prefix)}: {self.marked}",)
        return result


def _parameter(marked: str) -> str | None:
    """The first parameter that a message marks."""
    for text, inside in parts(marked):
        name = text.partition("=")[0]
        if inside and name.isidentifier() and name.islower():
            return name
    return None


class ParameterError(OgiveError, ValueError):
    """An argument is outside its range or of the wrong kind."""


class ScaleError(ParameterError):
    """A guarantee needs noise of a scale above the largest that can be drawn.

    Args:
        message: One line, in which Python is marked with backticks.
        excess: Factor by which the loss (epsilon or rho) must grow.
    """

    def __init__(self, message: str, excess: Fraction = Fraction(1)) -> None:
        super().__init__(message)
        self.excess = excess


class DataError(OgiveError, ValueError):
    """The records cannot be read, or contain values that the release does not accept."""


class RefusalError(OgiveError):
    """The request is valid and is refused; nothing was released."""


class UnsupportedError(RefusalError):
    """The trust model cannot answer the query."""


class BudgetError(RefusalError):
    """The queries of a statistic cost more than the privacy guarantee allows, or more than the account has left."""


class LedgerError(RefusalError):
    """The ledger is locked, unreadable, read-only, full, from a newer version, or for another privacy unit."""


class ReleaseMismatchError(RefusalError):
    """Stored noise belongs to another release: other data, scale, grid or adjacency."""


class AccountWarning(UserWarning):
    """A fact about an account that its user should know; nothing is refused."""


class NoiseWarning(UserWarning):
    """The noise of a release is so large that the result carries no information; nothing is refused."""


class CopyError(RefusalError):
    """A running total would continue in two places, and their difference would reveal elements exactly."""


class PeerError(RefusalError):
    """Data from another party, for example a description or a partial state, are malformed or belong elsewhere."""
