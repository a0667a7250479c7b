"""Areas between groups in one line of a table, beside those of other records: each group's own AUC."""

from __future__ import annotations

from ogive.statistics.group_auc.estimate import GroupAucEstimate
from ogive.statistics.group_auc.text import told


def about(found: GroupAucEstimate) -> str:
    """What was released."""
    return f"AUC of {found.score.column} for {found.label.column} within groups of {found.group.column}"


def titles(found: GroupAucEstimate) -> tuple[str, ...]:
    """Headings of the cells."""
    return tuple(f"{found.group.column} = {name}" for name in found.names)


def cells(found: GroupAucEstimate) -> tuple[str, ...]:
    """The area within each group, with its interval."""
    return tuple(told(found.between(name, name)) for name in found.names)
