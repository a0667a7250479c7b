"""How words of the command line become values of the types that fields of statistics have."""

from __future__ import annotations

from ogive.cli.forms.base import Form
from ogive.cli.forms.curves import CURVES
from ogive.cli.forms.pairs import PAIRS
from ogive.cli.forms.plain import PLAIN

FORMS = PLAIN | CURVES | PAIRS
"""The form of each type, as it is written in a dataclass."""


def form_of(written: str) -> Form:
    """The form of a type as it is written in a dataclass.

    Raises:
        TypeError: there is none.
    """
    if written not in FORMS:
        raise TypeError(f"no form says how words become {written}; add one to ogive.cli.forms, or write another type")
    return FORMS[written]
