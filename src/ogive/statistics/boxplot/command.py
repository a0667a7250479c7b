"""What the command line cannot read off the fields of boxplots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ogive.errors import ParameterError
from ogive.statistics.ecdf.command import HELP, OWNER_HELP
from ogive.statistics.options import Command, Picture


def _check(given: Mapping[str, Any], trust: str) -> None:
    """Refuse options of the method that is not taken; a plan, which compares both methods, takes all."""
    five = given.get("method") == "five_numbers"
    for name, usual, of_five in (
        ("shares", None, True),
        ("beyond", 0, True),
        ("quartiles", "together", True),
        ("curve", "auto", False),
    ):
        if given.get(name, usual) != usual and of_five is not five:
            owner = "five_numbers" if of_five else "resample"
            raise ParameterError(f"--{name} belongs to --method {owner}; leave it out, or use that method")


def _check_violins(given: Mapping[str, Any]) -> None:
    if given.get("method") == "five_numbers":
        raise ParameterError("--violins needs a whole curve, which --method resample releases")


COMMAND = Command(
    names={"groups": "by-groups"},
    help=HELP
    | {
        "method": "resample: box, whiskers and outliers of one private curve. five_numbers: both ends and the three "
        "quartiles; no outliers.",
        "curve": "How resample releases the curve; a method of ogive ecdf.",
        "groups": "All values of that column, public; also those that no record has.",
        "public_groups": (
            "Each record's group is public knowledge: only the value is hidden, with less noise. The default if "
            "--public declares the column."
        ),
        "shares": (
            "Shares of the budget of five_numbers for the lower end, the three quartiles and the upper end; a fifth "
            "each by default."
        ),
    },
    groups=dict.fromkeys(
        ("by", "groups", "public_groups", "method", "curve", "shares", "beyond", "quartiles"), "Boxes"
    ),
    check=_check,
    picture=Picture(
        "violins",
        "Draw violins with --plot; their width is the slope of the released curves.",
        {"kind": "violin"},
        _check_violins,
    ),
    owner_help={
        "missing": OWNER_HELP["missing"],
        "public_groups": "Required with --by: owners send their group unprotected, and only the value is hidden.",
        "method": "Boxes are computed from curves, the only thing that owners can report.",
        "curve": "What owners report of the curve, as for ecdf.",
    },
    owners={
        "missing": ("refuse", "low", "high"),
        "method": ("resample",),
        "curve": ("auto", "reports", "histogram"),
        "shares": (),
        "beyond": (),
        "expected_records": (),
    },
)
