"""What the command line cannot read off the fields of an ROC curve."""

from __future__ import annotations

from typing import Any

from ogive.statistics.options import Command


def _table(estimate: Any) -> str:
    """A ROC curve as text, with what to do on the command line where its area has no interval."""
    from ogive.statistics.roc.text import summary

    return summary(estimate, no_interval="no interval with so many thresholds; use fewer --bins for one")


COMMAND = Command(
    table=_table,
    compared="number",
    readings=True,
    names={"budget": "division"},
    help={
        "public_labels": (
            "Each record's class is public knowledge: only the score is hidden, with less noise. The default if "
            "--public declares the column."
        ),
        "budget": "joint: one price covers both classes. split: half of it for each, as in the paper.",
        "method": "auto (smallest predicted error), path, tree_ls, hat_ls, sqrt, symmetric or ring.",
        "smooth": "auto, shrinkage, density, least_squares, least_absolute or isotonic.",
    },
)
