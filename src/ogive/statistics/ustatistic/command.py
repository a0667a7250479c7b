"""What the command line cannot read off the fields of statistics of pairs of records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ogive.errors import ParameterError
from ogive.statistics.options import Command


def _check(given: Mapping[str, Any], trust: str) -> None:
    method = given.get("method", "auto")
    if trust == "clear" and method not in ("auto", "kernel"):
        raise ParameterError(f"--trust clear shows the exact value, so leave out --method {method}")


COMMAND = Command(
    negative={"public_labels": "private-labels"},
    help={
        "columns": "Names of the kernel's columns, in its order; for an AUC the score and the label.",
        "kernel": "gini, gini_coefficient, variance, collision (entropy), collision_probability, kendall (tau-a), "
        "kendall_b, gamma, auc, auc_private (as auc with --private-labels) or vus.",
        "public_labels": "The label of an AUC is public; by default it is hidden too, unless --public declares it.",
        "method": "auto (smallest predicted error), kernel, cells, degrees (of collisions), krr, unary, haar, "
        "hierarchy or paired. The four from krr on are read off reports of owners, paired is what pairs of people "
        "compute.",
    },
    groups=dict.fromkeys(("kernel", "categories", "matrix", "rounding"), "Question"),
    check=_check,
    owner_help={
        "method": "What owners report: auto has the smallest predicted error, hierarchy is for an AUC with public "
        "labels."
    },
    owners={"method": ("auto", "krr", "unary", "haar", "hierarchy"), "expected_records": ()},
    people=True,
)
