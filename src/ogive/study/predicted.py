"""The releases of a study as they are predicted: what each costs, how far off it is, and what it takes."""

from __future__ import annotations

from ogive.errors import OgiveError
from ogive.planning.predict import Planned
from ogive.planning.taken import plan_taken
from ogive.planning.text import heading, tables
from ogive.study.common import Document


def predicted(study: Document, *, records: int, trust: Planned) -> str:
    """A table for each release, of the method that it will use, and what the columns say.

    Args:
        study: The study.
        records: How many records each release is of, about.
        trust: Who would hold them.

    Raises:
        OgiveError: a release cannot be made as the study asks for it; its name comes first.
    """
    plans = {}
    for release in study.releases:
        try:
            plan = plan_taken(release.statistic, privacy=release.privacy, records=records, unit=study.unit, trust=trust)
        except OgiveError as problem:
            raise problem.prefixed(f"release {release.name}") from None
        plans[f"Release {release.name}: {heading(plan)}, {records:,} records, {release.privacy}"] = plan
    return tables(plans)
