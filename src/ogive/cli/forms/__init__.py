"""How words of the command line become values of the types that fields of statistics have."""

from __future__ import annotations

import dataclasses
from typing import Any

from ogive.cli.forms.base import Form
from ogive.cli.forms.methods import CURVES, PAIRS
from ogive.cli.forms.plain import BY_COLUMN, PLAIN, form_among

FORMS = PLAIN | CURVES | PAIRS | BY_COLUMN
"""The form of each type, as it is written in a dataclass."""


def form_of(field: dataclasses.Field[Any]) -> Form:
    """The form of a field of a dataclass.

    Raises:
        TypeError: there is none.
    """
    return form_among(FORMS, field)
