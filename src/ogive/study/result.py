"""What a release of a study comes to, from the opened sums alone; every holder of them computes the same."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from math import prod
from typing import Any

from ogive.crypto.aggregation import AggregationSettings
from ogive.crypto.domains import HashDomain, digest, number
from ogive.errors import ParameterError
from ogive.provenance import Provenance
from ogive.queries import Answer
from ogive.releasing.release import Outcome
from ogive.statistics.base import Estimate, innermost
from ogive.study.common import Document
from ogive.study.course import Step, course
from ogive.study.document import Study
from ogive.trust.secagg.contribution import opened_totals, public_bytes, shape_of

# --- The aggregation of one measurement, on which every participant agrees alone


def settings_of(study: Study, release: int, step: Step, attempt: int) -> AggregationSettings:
    """What all participants of one attempt at a measurement agree on.

    All attempts at all measurements of a release have one release digest in common: a party confirms one set of parties
    under it, and no other.
    """
    query = step.query
    public = hashlib.sha256(public_bytes(query, study.unit.adjacency)).digest()
    place = (number(release), number(step.number), number(attempt))
    return study.aggregation.terms.settings(
        study=digest(HashDomain.STUDY_MEASUREMENT, study.digest, *place, public),
        release=release_digest(study, release),
        parties=[party.key for party in study.parties],
        server=study.coordinator,
        length=prod(shape_of(query)),
        totals=opened_totals(query, study.unit.adjacency),
    )


def release_digest(study: Document, release: int) -> bytes:
    """32 bytes that tell a release of a study from all others."""
    return digest(HashDomain.STUDY_RELEASE, study.digest, number(release))


# --- What a release comes to, which everybody computes alike from the opened sums

_RELEASE_ID_BYTES = 16


def estimate_of(study: Document, number: int, answers: Sequence[Answer]) -> Estimate:
    """The estimate of a release with its provenance."""
    release = study.releases[number]
    outcome = course(study, release, answers)
    if not isinstance(outcome, Outcome):
        raise ParameterError(f"release {release.name} has {len(answers)} opened sums, and more are to come")
    return with_provenance(study, number, outcome)


def with_provenance(study: Document, number: int, outcome: Outcome[Any]) -> Estimate:
    """The estimate that came out, with where it comes from."""
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
