"""Labels for people: some lines of text."""

from __future__ import annotations

from ogive.statistics.labels.estimate import LabelsEstimate


def summary(estimate: LabelsEstimate) -> str:
    """Some lines of plain text."""
    queries = len(estimate.labels)
    lines = [
        f"labels of {queries} {'query' if queries == 1 else 'queries'} ({estimate.provenance})",
        f"{estimate.answered} answered by teachers of {estimate.asked} that were asked",
    ]
    own = int((estimate.labels >= 0).sum()) - estimate.answered
    if own:
        lines.append(f"{own} that the student was sure of")
    if estimate.opened is not None and estimate.answered < len(estimate.labels):
        lines.append("those with the largest margins: easier than the queries they were chosen from")
    return "\n".join(lines)
