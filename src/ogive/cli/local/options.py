"""What participants in a collection are promised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Group, Parameter

from ogive.cli.converters import whole


@Parameter(name="*", group=Group("What is promised", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class PromiseOptions:
    """Who is asked, and what they are promised."""

    participants: Annotated[int, Parameter(converter=whole)]
    """How many may report; what is asked is designed for so many answers."""

    epsilon: str
    """Privacy loss of a report, at most, against everybody who sees it."""

    delta: str | None = None
    """Slack in probability, for methods that need one."""

    title: Annotated[str, Parameter(show_default=False)] = ""
    """One line that tells participants what this is for."""

    predict: Annotated[bool, Parameter(show_default=False)] = False
    """Say also what error to expect if all report, by every method that fits; takes seconds to minutes."""

    shuffled: str | None = None
    """Say also which epsilon holds against who sees the reports shuffled, or their sums alone, with this delta."""
