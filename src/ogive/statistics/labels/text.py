"""Labels for people: some lines of text, and a small table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.showing.view import Card
from ogive.statistics.labels.estimate import LabelsEstimate

_SHOWN_CLASSES = 12


def summary(estimate: LabelsEstimate) -> str:
    """Some lines of plain text."""
    queries = len(estimate.labels)
    lines = [
        f"labels of {queries} {'query' if queries == 1 else 'queries'} ({estimate.provenance})",
        f"{estimate.answered} of {estimate.asked} asked queries answered by teachers",
    ]
    own = int((estimate.labels >= 0).sum()) - estimate.answered
    if own:
        lines.append(f"{own} labelled by the student itself")
    if estimate.opened is not None and estimate.answered < len(estimate.labels):
        lines.append("the queries with the largest margins were labelled: easier than the others")
    return "\n".join(lines)


def short(estimate: LabelsEstimate) -> str:
    """A few words."""
    return f"of {len(estimate.labels)} queries: {estimate.answered} answered by teachers"


def card(estimate: LabelsEstimate) -> Card:
    """What notebooks show: how many queries got each class."""
    given = np.bincount(estimate.labels[estimate.labels >= 0], minlength=estimate.classes)
    most = np.argsort(-given, kind="stable")[:_SHOWN_CLASSES]
    rows = [(str(place), f"{given[place]:,}") for place in sorted(most.tolist())]
    if len(rows) < estimate.classes:
        rows.append((f"{estimate.classes - len(rows)} more", f"{int(given.sum() - given[most].sum()):,}"))
    rows.append(("no label", f"{int((estimate.labels < 0).sum()):,}"))
    head = f"Labels of {len(estimate.labels):,} {'query' if len(estimate.labels) == 1 else 'queries'}"
    return Card(head, [("privacy", estimate.caption)], ("class", "queries"), rows, summary(estimate).split("\n")[1:])


# --- Columns of a data frame


def columns(estimate: LabelsEstimate) -> dict[str, Any]:
    """Number of the query, its label (-1 for none), whether teachers gave it, and by how much its votes lead."""
    found = {"query": np.arange(len(estimate.labels)), "label": estimate.labels, "taught": estimate.taught}
    return found if estimate.margins is None else {**found, "margin": estimate.margins}
