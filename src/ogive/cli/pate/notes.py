"""What is allowed and rarely meant: said once on standard error, since labels and costs do not show it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ogive.pate.aggregators import Aggregator


def note(aggregator: Aggregator, queries: int, teachers: int | None, max_answers: int | None = None) -> None:
    """Say what is rarely meant, in one line; nothing where nothing is.

    Args:
        aggregator: The aggregator that turns votes into labels.
        queries: How many are asked.
        teachers: How many vote; None where that is private.
        max_answers: After so many answers the run ends.
    """
    said = _said(aggregator, queries, teachers, max_answers)
    if said:
        print(f"ogive: note: {'; '.join(said)}", file=sys.stderr)


def _said(aggregator: Aggregator, queries: int, teachers: int | None, max_answers: int | None) -> list[str]:
    threshold, keep = getattr(aggregator, "threshold", None), getattr(aggregator, "keep", 0)
    said = []
    if teachers == 1:
        said.append("there is one teacher, so that every label is its own, with noise")
    if threshold is not None and threshold <= 0:
        said.append("a threshold of 0 or less refuses hardly any query; --sigma alone checks none, and costs less")
    elif threshold is not None and teachers is not None and threshold > teachers:
        said.append(f"the threshold is above the {teachers} teachers, so that only noise passes it")
    for option, number in (("--keep", keep), ("--max-answers", max_answers or 0)):
        if number > queries:
            said.append(f"{option} {number} is more than the queries that are asked, and counts as {queries}")
    return said
