"""How words of the command line become values of the types that fields of statistics have."""

from __future__ import annotations

import dataclasses
from typing import Any

from ogive.cli.forms.base import Form
from ogive.cli.forms.by_column import BY_COLUMN
from ogive.cli.forms.curves import CURVES
from ogive.cli.forms.pairs import PAIRS
from ogive.cli.forms.plain import PLAIN, form_among

FORMS = PLAIN | CURVES | PAIRS | BY_COLUMN
"""The form of each type, as it is written in a dataclass."""


def form_of(field: dataclasses.Field[Any]) -> Form:
    """The form of a field of a dataclass.

    Raises:
        TypeError: there is none.
    """
    return form_among(FORMS, field)
