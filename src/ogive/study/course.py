"""The course of a release: which query comes next, given the sums that were opened before, and its estimate.

Coordinator, parties and servers each follow it on their own from the study and the opened sums alone, so nobody is told
what to ask, and everybody knows the price of a query before it is answered. Whoever tells other sums than were opened
chooses other queries of the same course; the price holds for any choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ogive.crypto.domains import HashDomain, digest
from ogive.crypto.domains import number as written
from ogive.errors import OgiveError, ParameterError, PeerError
from ogive.privacy import Loss
from ogive.provenance import Provenance
from ogive.queries import Answer, LinearQuery, Query
from ogive.releasing.release import Outcome, drive
from ogive.statistics.base import Estimate, Terms, innermost, settled
from ogive.study.common import Document, StudyRelease
from ogive.trust.models import CentralOptions


@dataclass(frozen=True)
class Step:
    """The query that comes next, by its number within the release, from 0."""

    number: int
    query: LinearQuery


def course(
    study: Document,
    release: StudyRelease,
    answers: Sequence[Answer],
    *,
    pay: Callable[[Loss, LinearQuery], None] = lambda loss, query: None,
) -> Step | Outcome[Any]:
    """Follow a release as far as its opened sums go; whoever holds no records, or looks ahead, pays nothing."""
    follower = _Follower(answers, pay)
    try:
        outcome = drive(settled(release.statistic, study.unit), terms_of(study, release), follower)
    except _Waiting:
        assert follower.next is not None
        return follower.next
    except OgiveError:
        raise
    except (ArithmeticError, ValueError, LookupError):
        # no list of what statistics cannot compute is complete, and a false sum must stop nobody's process
        raise PeerError(f"release {release.name}: nothing can be computed from these sums") from None
    if follower.used < len(answers):
        raise ParameterError(f"release {release.name} asks {follower.used} queries, and {len(answers)} were answered")
    return outcome


def first_query(study: Document, release: StudyRelease) -> tuple[Query, Loss]:
    """What a release asks first, of any kind, and its loss; every release asks something, and pays before."""
    paid: list[tuple[Query, Loss]] = []
    with suppress(_Waiting):
        first = _Follower((), lambda loss, query: paid.append((query, loss)))
        drive(settled(release.statistic, study.unit), terms_of(study, release), first)
    return paid[-1]


def terms_of(study: Document, release: StudyRelease) -> Terms:
    """What a release of the study may ask, which is public.

    Where parties merge the curves that they release, that is what each asks of its own records.
    """
    options = study.options or CentralOptions()
    return Terms(
        release.privacy,
        study.unit,
        options.refusal,
        count=lambda: study.records,
        one_loss_type=True,
        adding=options.adding,
        honest=options.honest,
        cell_limit=options.cell_limit,
    )


class _Waiting(Exception):  # noqa: N818 - no error: the sum of this query is not open yet
    pass


class _Follower:
    def __init__(self, answers: Sequence[Answer], pay: Callable[[Loss, Any], None]) -> None:
        self._answers = answers
        self.pay = pay
        self.used = 0
        self.next: Step | None = None

    def answer(self, query: Any) -> Answer:
        if self.used == len(self._answers):
            assert query.kind in ("linear", "pairs"), "other queries are not served"
            self.next = Step(self.used, query)
            raise _Waiting
        self.used += 1
        return self._answers[self.used - 1]


# --- What a release comes to, which everybody computes alike from the opened sums

_RELEASE_ID_BYTES = 16


def release_digest(study: Document, release: int) -> bytes:
    return digest(HashDomain.STUDY_RELEASE, study.digest, written(release))


def estimate_of(study: Document, number: int, answers: Sequence[Answer]) -> Estimate:
    release = study.releases[number]
    outcome = course(study, release, answers)
    if not isinstance(outcome, Outcome):
        raise ParameterError(f"release {release.name} has {len(answers)} opened sums, and more are to come")
    return with_provenance(study, number, outcome)


def with_provenance(study: Document, number: int, outcome: Outcome[Any]) -> Estimate:
    assert study.options is not None, "what was merged is no answer to a query"
    release = study.releases[number]
    where: Any = getattr(release.statistic, "where", None)
    estimate: Estimate = outcome.estimate
    return estimate.with_provenance(
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
