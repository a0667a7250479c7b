"""What the manual shows as printed by plans is what they print."""

import re
from pathlib import Path

import pytest

from ogive import cli

DOCS = Path(__file__).parents[2] / "docs"
AGES = ["plan", "ecdf", "--bounds", "0", "120"]
REPLACED = """plan for ecdf of age: 45,211 records, trust central
one record replaced by any other (the number of records is public)
"""
PLANS = {
    "an answer": ("planning", f"{REPLACED}guarantee", [*AGES, "--column", "age", "--records", "45211"]),
    "a plan": (
        "planning",
        f"{REPLACED}missing",
        [*AGES, "--column", "age", "--records", "45211", "--epsilon", "1", "--all"],
    ),
    "an error": ("planning", "ks=0.01 needs", [*AGES, "--records", "45211", "--error", "ks=0.01"]),
    "trust models": (
        "planning",
        "plan for kendall",
        [
            *("plan", "ustat", "--records", "45211", "--kernel", "kendall", "--columns", "rooms", "clean"),
            *("--categories", "1", "2", "3", "4", "5", "--epsilon", "1", "--trust", "central", "local", "--all"),
        ],
    ),
    "the command line": (
        "command_line",
        "plan for",
        [*AGES, "--column", "age", "--records", "20000", "--grid", "integers", "--epsilon", "0.5"],
    ),
}


def printed(page, start):
    """The block of a page that starts so."""
    found = re.findall(rf"^```text\n({re.escape(start)}.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(found) == 1
    return found[0].split()


@pytest.mark.parametrize("case", PLANS)
def test_plans_of_the_manual_are_what_they_print(case, capsys):
    page, start, words = PLANS[case]
    wanted = printed((DOCS / f"{page}.md").read_text(), start)
    assert cli.main(words) == 0
    shown = capsys.readouterr().out.split()
    assert len(wanted) > 80
    assert shown[: len(wanted)] == wanted
