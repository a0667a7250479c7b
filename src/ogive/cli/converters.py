"""How words of the command line become values, where the parser's own way would not do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cyclopts import Token


def whole(_: Any, tokens: Sequence[Token]) -> int:
    """A whole number as it is written; the parser's own conversion would round fractions."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"it must be a whole number, got {tokens[0].value!r}") from None
