"""A pairwise statistic for people: some lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ogive.statistics.ustatistic.estimate import UstatisticEstimate

TITLES = {
    "gini": "Gini mean difference",
    "gini_coefficient": "Gini coefficient",
    "variance": "Variance",
    "collision": "Collision entropy",
    "collision_probability": "Collision probability",
    "kendall": "Kendall's tau-a",
    "kendall_b": "Kendall's tau-b",
    "gamma": "Goodman and Kruskal's gamma",
    "auc": "AUC",
    "auc_private": "AUC",
    "vus": "Volume under the ROC surface",
}
"""What people call the measures."""


def guarantee(found: UstatisticEstimate) -> str:
    """The guarantee in a clause, or "not private"."""
    if not found.private:
        return "not private: exact values"
    return "private" if found.provenance is None else str(found.provenance)


def title(found: UstatisticEstimate) -> str:
    """What was measured, in a few words."""
    name = TITLES.get(found.kernel, f"Mean of the kernel {found.kernel}")
    return f"{name} of {' and '.join(found.columns)}"


def summary(found: UstatisticEstimate) -> str:
    """Some lines of plain text."""
    return "\n".join([title(found), *(f"  {name + ':' if name else '':<16}{value}" for name, value in facts(found))])


def facts(found: UstatisticEstimate) -> list[tuple[str, str]]:
    """What a reader should know, as pairs of a name and a value."""
    rows = [("privacy", guarantee(found))]
    if found.provenance is not None:
        rows.append(("trust", found.provenance.assumption))
    if not found.defined:
        return [*rows, ("warning", undefined(found))]
    rows.append(("value", f"{found.value:.6g}"))
    if not found.possible:
        rows.append(("note", impossible(found)))
    if found.clipped:
        rows.append(("note", "a mean was moved to the nearest value that is possible"))
    rows.append(("error", f"{found.total_error:.3g} ({parts(found)})"))
    if found.quantization > 0 and found.bins:
        rows.append(("rounding", f"to {bins(found)}"))
        if found.quantization > found.standard_error:
            rows.append(("", "a grid of integers keeps whole numbers as they are, ties included"))
    low, high = found.interval()
    level = f"{100 * found.confidence_level:.6g} %"
    rows.append((f"{level} interval", f"{low:.6g} to {high:.6g} for {_target(found)}"))
    if found.private and found.sampling_error is not None:
        low, high = found.interval(target="sample")
        rows.append(("", f"{low:.6g} to {high:.6g} for these records"))
    return rows


def undefined(found: UstatisticEstimate) -> str:
    """Why there is no value."""
    if found.private:
        return "noise leaves this statistic undefined; grant more privacy loss, or more records"
    return "these records leave this statistic undefined: it is a ratio, and what it divides by is 0"


def impossible(found: UstatisticEstimate) -> str:
    """That no records have this value."""
    low, high = found.limits
    return f"outside what is possible, {low:.6g} to {high:.6g}; noise did that"


def parts(found: UstatisticEstimate) -> str:
    """What the total error is made of."""
    told = [f"randomization {found.randomization_error:.3g}"]
    if found.sampling_is_included:
        told = [f"noise, who met whom and sampling {found.randomization_error:.3g}"]
    elif found.sampling_error is None:
        told.append("sampling not known")
    else:
        told.append(f"sampling {'at most ' * found.sampling_is_a_bound}{found.sampling_error:.3g}")
    if found.quantization > 0:
        told.append(f"rounding at most {found.quantization:.3g}")
    return ", ".join(told)


def bins(found: UstatisticEstimate) -> str:
    """How values were rounded."""
    sizes = " x ".join(f"{size:,}" for size in found.bins)
    return f"{sizes} bins"


def _target(found: UstatisticEstimate) -> str:
    known = found.sampling_is_included or found.sampling_error is not None
    return "the population" if known else "these records"
