"""A pairwise statistic for people: some lines of text."""

from __future__ import annotations

from ogive.statistics.ustatistic.estimate import UstatisticEstimate


def summary(found: UstatisticEstimate) -> str:
    """Some lines of plain text."""
    return "\n".join([found.title, *(f"  {name + ':' if name else '':<16}{value}" for name, value in facts(found))])


def facts(found: UstatisticEstimate) -> list[tuple[str, str]]:
    """What a reader should know, as pairs of a name and a value."""
    rows = [("privacy", found.caption)]
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
