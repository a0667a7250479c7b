"""Bounds for people: some lines of text."""

from __future__ import annotations

from ogive.statistics.bounds.estimate import BoundsEstimate


def summary(found: BoundsEstimate) -> str:
    """Some lines of plain text."""
    head = f"bounds of {found.column} ({found.provenance})"
    if not found.defined:
        return f"{head}\nundefined: no order of magnitude certainly holds records; spend more, or use a larger base"
    lines = [head, f"{found.low:g} to {found.high:g}"]
    if found.strategy is None:
        lines.append(f"{found.records_outside} records outside")
    else:
        lines += [
            f"both ends hold records: {100 * (1 - found.false_alarm):g} % sure",
            f"at most {found.records_outside} records outside: {100 * found.confidence_level:g} % sure",
        ]
    return "\n".join(lines)
