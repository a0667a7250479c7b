"""What participants in a collection are promised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Group, Parameter

from ogive.cli.converters import whole


@Parameter(name="*", group=Group("Privacy guarantee", sort_key=2))
@dataclass(frozen=True, kw_only=True)
class PromiseOptions:
    """Who is asked, and what they are promised."""

    participants: Annotated[int, Parameter(converter=whole)]
    """Number of participants; the questions are designed for so many answers."""

    epsilon: str
    """Largest privacy loss of a report, against everyone who sees it."""

    delta: str | None = None
    """Delta, the slack in probability, for methods that need one."""

    title: Annotated[str, Parameter(show_default=False)] = ""
    """One line that tells participants the purpose."""

    predict: Annotated[bool, Parameter(show_default=False)] = False
    """Also predict the error of every method that fits if all report; takes seconds to minutes."""

    shuffled: str | None = None
    """Also compute the epsilon against those who see only shuffled reports or their sums, with this delta."""
