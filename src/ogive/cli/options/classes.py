"""Classes of labels as the command line writes them: words, which may stand for text, numbers or truth values."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cyclopts import Group, Parameter

from ogive.cli.options.common import Words

if TYPE_CHECKING:
    from ogive.queries import LabelValue

_WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")


@Parameter(name="*", group=Group("Classes", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class ClassOptions:
    """Which of two classes a record belongs to."""

    label: str
    """Name of the column with the class of each record."""

    positive: Words = ()
    """Value or values of the positive class; 1 by default. A word stands for the text, and for the number or truth
    value that it writes: 1 is also 1.0 and true, true is also 1."""

    negative: Words = ()
    """Value or values of the negative class; by default the only other value there is."""

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments for a statistic of two classes; the library's own where nothing was said."""
        if not self.positive and not self.negative:
            return {}
        positive = meanings(self.positive) if self.positive else (1,)
        return {"positive": positive, "negative": meanings(self.negative) if self.negative else None}


def meanings(words: Sequence[str]) -> tuple[LabelValue, ...]:
    """All values that some words may stand for.

    A word is always the text itself. It is also a number if it writes a finite one, and a truth value if it is
    true or false in any case; a column holds either text or numbers, so only one of them can meet a label.
    """
    found: list[LabelValue] = []
    for word in words:
        found.append(word)
        if word.lower() in ("true", "false"):
            found.append(word.lower() == "true")
        elif _WHOLE.fullmatch(word):
            found.append(int(word))
        else:
            try:
                number = float(word)
            except ValueError:
                continue
            if math.isfinite(number):
                found.append(number)
    return tuple(found)
