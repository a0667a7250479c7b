"""What a release of a study comes to, from the opened sums alone; everybody who has them computes the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.asking import Outcome
from ogive.errors import ParameterError
from ogive.provenance import Provenance
from ogive.queries import Answer
from ogive.statistics.base import Estimate, innermost
from ogive.study.common import Document
from ogive.study.course import course
from ogive.study.measurement import release_digest

_RELEASE_ID_BYTES = 16


def estimate_of(study: Document, number: int, answers: Sequence[Answer]) -> Estimate:
    """The estimate of a release with its provenance.

    Args:
        study: Says who takes part.
        number: Of the release in the study, from 0.
        answers: All sums of the release.

    Raises:
        ParameterError: these are not all.
    """
    release = study.releases[number]
    outcome = course(study, release, answers)
    if not isinstance(outcome, Outcome):
        raise ParameterError(f"release {release.name} has {len(answers)} opened sums, and more are to come")
    return with_provenance(study, number, outcome)


def with_provenance(study: Document, number: int, outcome: Outcome[Any]) -> Estimate:
    """The estimate that came out, with where it comes from.

    Args:
        study: Says who takes part.
        number: Of the release in the study, from 0.
        outcome: Of the release.
    """
    assert study.options is not None, "what was merged is no answer to a query"
    release = study.releases[number]
    where: Any = getattr(release.statistic, "where", None)
    found: Estimate = outcome.estimate
    return found.with_provenance(
        Provenance(
            release_id=release_digest(study, number)[:_RELEASE_ID_BYTES].hex(),
            statistic=innermost(release.statistic).name,
            method="+".join(dict.fromkeys(query.method for query in outcome.queries)),
            privacy=release.privacy,
            price=outcome.price,
            adjacency=study.unit.adjacency,
            trust=study.options.name,
            assumption=study.assumption,
            total=outcome.answer.total,
            person=study.unit.person,
            max_rows_per_person=study.unit.max_rows_per_person,
            public=study.unit.public,
            batch=study.name,
            where=None if where is None else str(where),
        )
    )
