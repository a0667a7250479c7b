"""Whether a merged curve agrees with its own list of who was counted, so that nobody is counted twice unnoticed."""

from __future__ import annotations

from collections.abc import Sequence

from ogive.accounting import covers
from ogive.errors import DataError
from ogive.privacy import ApproxDP, Privacy
from ogive.provenance import Provenance
from ogive.statistics.curve.merging.batches import Batch, find_overlap
from ogive.statistics.curve.merging.provenance import DISJOINT, merged_name
from ogive.statistics.stated_price import loss_of, parts_of
from ogive.strategies.base import Strategy


def check_merged(
    strategy: Strategy | None, total: int | None, source: Provenance | None, batches: Sequence[Batch]
) -> None:
    """Refuse a curve whose batches are not those that its strategy, totals and provenance speak of.

    The name of a merged release is computed from its batches' names, so a batch that was struck from the list, or
    put on it, shows. This finds damage and careless edits; no file can prove that its numbers are true.

    Args:
        strategy: What was measured; None where the curve is exact.
        total: Number of records where that is public.
        source: Where the curve comes from; None if it was never released.
        batches: Who was counted in a merged curve; empty for a single release.

    Raises:
        DataError: they contradict each other.
    """
    reason = _contradiction(strategy, total, source, batches)
    if reason is not None:
        raise DataError(f"this curve contradicts itself: {reason}")


def _contradiction(
    strategy: Strategy | None, total: int | None, source: Provenance | None, batches: Sequence[Batch]
) -> str | None:
    if not batches:
        merged = (strategy is not None and len(parts_of(strategy)) > 1) or (
            source is not None and source.assumption.endswith(DISJOINT)
        )
        return "it was merged, but lacks the list of its batches" if merged else None
    if source is None:
        return "it lists batches, but no release"
    if strategy is not None and len(parts_of(strategy)) != len(batches):
        return f"it lists {len(batches)} batches, and its strategy is that of {len(parts_of(strategy))}"
    if source.release_id != merged_name(batches, getattr(strategy, "weights", None)):
        return "the name of its release does not belong to its batches"
    names = [batch.name for batch in batches if batch.name is not None]
    if len(set(names)) < len(names):
        return "two of its batches have one name"
    if find_overlap(batches) is not None:
        return "one account paid for two of its batches, and not as two parts"
    return (
        _wrong_totals(total, source, batches)
        or _wrong_guarantee(source, batches)
        or _wrong_price(strategy, source, batches)
    )


def _wrong_totals(total: int | None, source: Provenance, batches: Sequence[Batch]) -> str | None:
    totals = [batch.total for batch in batches if batch.total is not None]
    if len(totals) != (0 if total is None else len(batches)):
        return "the number of records is public in some places only"
    if total is not None and sum(totals) != total:
        return f"the records of its batches add up to {sum(totals)}, not to {total}"
    if source.total != total:
        return "its provenance has another number of records"
    if any(batch.total is not None and batch.records != batch.total for batch in batches):
        return "a batch has two numbers of records"
    return None


def _wrong_guarantee(source: Provenance, batches: Sequence[Batch]) -> str | None:
    for batch in batches:
        if (batch.privacy is None) is source.private:
            return "it is partly private and partly exact"
        if source.privacy is not None and batch.privacy is not None and not _within(source.privacy, batch.privacy):
            return f"a batch has {batch.privacy}, which is more than the {source.privacy} of all"
    return None


def _wrong_price(strategy: Strategy | None, source: Provenance, batches: Sequence[Batch]) -> str | None:
    if strategy is None:
        return None
    for part, batch in zip(parts_of(strategy), batches, strict=True):
        loss = loss_of(part, source.adjacency, source.max_rows_per_person)
        if batch.privacy is not None and not covers(batch.privacy, loss):
            return f"the noise of the batch {batch.words} costs {loss}, more than its {batch.privacy}"
    return None


def _within(granted: Privacy, part: Privacy) -> bool:
    if isinstance(part, ApproxDP):
        return isinstance(granted, ApproxDP) and part.epsilon <= granted.epsilon and part.delta <= granted.delta
    return covers(granted, part)
