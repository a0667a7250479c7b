"""Options of boxplots, and how they become the library's arguments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from ogive.cli.converters import whole
from ogive.cli.options.common import Words
from ogive.errors import ParameterError

if TYPE_CHECKING:
    from ogive.queries import LabelValue


@Parameter(name="*", group=Group("Boxes", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class GroupOptions:
    """Which boxes are drawn."""

    by: str | None = None
    """Column that says which group a record belongs to."""

    groups: Words = ()
    """All values of that column, public; also those that no record has."""

    public_groups: Annotated[bool | None, Parameter(show_default=False)] = None
    """Everybody may know each record's group, which --public declares and then is the default; only the value is
    hidden, with less noise."""

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments for the statistic."""
        return {
            "by": self.by,
            "groups": tuple(map(group_of, self.groups)) if self.groups else None,
            "public_groups": self.public_groups,
        }


@Parameter(name="*", group=Group("Boxes", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class BoxOptions(GroupOptions):
    """Which boxes are drawn, and how they are found."""

    method: Literal["resample", "five_numbers"] = "resample"
    """resample: box, whiskers and outliers of one private curve. five_numbers: both ends and the three quartiles,
    found one by one; no outliers."""

    curve: str = "auto"
    """How resample releases the curve; a method of ogive ecdf."""

    shares: Annotated[tuple[str, str, str, str, str] | None, Parameter(show_default=False)] = None
    """Of the budget of five_numbers, for the lower end, the three quartiles and the upper end; a fifth each by
    default."""

    beyond: Annotated[int, Parameter(converter=whole)] = 0
    """How many records may lie beyond each end of five_numbers."""

    expected_records: Annotated[int | None, Parameter(converter=whole)] = None
    """A public guess of the number of all records, where that number is private."""

    def check(self) -> None:
        """Refuse options of the way that is not taken; in a plan, which compares both ways, each has its own.

        Raises:
            ParameterError: there is one.
        """
        five = self.method == "five_numbers"
        for option, given, of_five in (
            ("--shares", self.shares is not None, True),
            ("--beyond", self.beyond != 0, True),
            ("--curve", self.curve != "auto", False),
        ):
            if given and of_five is not five:
                owner = "five_numbers" if of_five else "resample"
                raise ParameterError(f"{option} is of --method {owner}; leave it out, or take that method")

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments for the statistic."""
        found: dict[str, Any] = {
            **super().arguments(),
            "method": self.method,
            "curve": self.curve,
            "beyond": self.beyond,
            "expected_records": self.expected_records,
        }
        return found if self.shares is None else {**found, "shares": self.shares}


ONE_BOX = BoxOptions()


def group_of(word: str) -> LabelValue:
    """What a word stands for: the number or truth value that it writes, which is also the text, or a text."""
    if word in ("true", "false"):
        return word == "true"
    for kind in (int, float):
        try:
            number = kind(word)
        except ValueError:
            continue
        if str(number) == word and math.isfinite(number):
            return number
    return word
