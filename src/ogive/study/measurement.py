"""One measurement of a study: what its aggregation is about, in digests that every participant makes alone."""

from __future__ import annotations

import hashlib
from math import prod

import numpy as np

from ogive.crypto.aggregation import AggregationSettings
from ogive.crypto.domains import HashDomain, digest, number
from ogive.queries import CurveQuery, LinearQuery
from ogive.study.common import Document
from ogive.study.course import Step
from ogive.study.document import Study
from ogive.trust.secagg.contribution import of_no_records, opened_totals, shape_of


def settings_of(study: Study, release: int, step: Step, attempt: int) -> AggregationSettings:
    """What all participants of one attempt at a measurement agree on.

    All attempts at all measurements of a release have one release digest in common: a party confirms one set of parties
    under it, and no other.

    Args:
        study: Says who takes part.
        release: Its number in the study, from 0.
        step: The query.
        attempt: From 0.
    """
    query = step.query
    return study.aggregation.terms.settings(
        study=digest(
            HashDomain.STUDY_MEASUREMENT,
            study.digest,
            number(release),
            number(step.number),
            number(attempt),
            _public_digest(query, study),
        ),
        release=release_digest(study, release),
        parties=[party.key for party in study.parties],
        server=study.coordinator,
        length=prod(shape_of(query)),
        totals=opened_totals(query, study.unit.adjacency),
    )


def release_digest(study: Document, release: int) -> bytes:
    """32 bytes that tell a release of a study from all others."""
    return digest(HashDomain.STUDY_RELEASE, study.digest, number(release))


def _public_digest(query: LinearQuery, study: Study) -> bytes:
    """Digest of all that is public about a query."""
    points = query.points if isinstance(query, CurveQuery) else None
    found = hashlib.sha256(query.digest(of_no_records(query), study.unit.adjacency))
    found.update(b"all" if points is None else np.asarray(points, "<u8").tobytes())
    return found.digest()
