"""Labels for people: some lines of text."""

from __future__ import annotations

from ogive.statistics.labels.estimate import LabelsEstimate


def summary(found: LabelsEstimate) -> str:
    """Some lines of plain text."""
    lines = [
        f"labels of {len(found.labels)} {'query' if len(found.labels) == 1 else 'queries'} ({found.provenance})",
        f"{found.answered} answered by teachers of {found.asked} that were asked",
    ]
    own = int((found.labels >= 0).sum()) - found.answered
    if own:
        lines.append(f"{own} that the student was sure of")
    if found.opened is not None and found.answered < len(found.labels):
        lines.append("those with the largest margins: easier than the queries they were chosen from")
    return "\n".join(lines)
