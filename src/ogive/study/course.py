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

from ogive.errors import OgiveError, ParameterError, PeerError
from ogive.privacy import Loss
from ogive.queries import Answer, LinearQuery, Query
from ogive.releasing.release import Outcome, drive
from ogive.statistics.base import Terms, settled
from ogive.study.common import Document, StudyRelease
from ogive.trust.options import CentralOptions


@dataclass(frozen=True)
class Step:
    """The query that comes next.

    Fields:
        number: Of the query within the release, from 0.
        query: What is asked.
    """

    number: int
    query: LinearQuery


def _unpaid(loss: Loss, query: Query) -> None:
    """Nobody pays: the coordinator holds no records, and a party looks ahead."""


def course(
    study: Document,
    release: StudyRelease,
    answers: Sequence[Answer],
    *,
    pay: Callable[[Loss, LinearQuery], None] = _unpaid,
) -> Step | Outcome[Any]:
    """Follow a release as far as its opened sums go."""
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
    """What a release asks first, of any kind, and its loss."""
    first = _First()
    with suppress(_Waiting):
        drive(settled(release.statistic, study.unit), terms_of(study, release), first)
    assert first.paid is not None, "every release asks something, and pays before"
    return first.paid


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


class _First:
    def __init__(self) -> None:
        self.paid: tuple[Query, Loss] | None = None

    def pay(self, loss: Loss, query: Query) -> None:
        self.paid = query, loss

    def answer(self, query: Query) -> Answer:
        raise _Waiting


class _Follower:
    def __init__(self, answers: Sequence[Answer], pay: Callable[[Loss, LinearQuery], None]) -> None:
        self._answers = answers
        self._pay = pay
        self.used = 0
        self.next: Step | None = None

    def pay(self, loss: Loss, query: Query) -> None:
        assert isinstance(query, LinearQuery), "other queries are not served"
        self._pay(loss, query)

    def answer(self, query: Query) -> Answer:
        if self.used == len(self._answers):
            assert isinstance(query, LinearQuery), "other queries are not served"
            self.next = Step(self.used, query)
            raise _Waiting
        self.used += 1
        return self._answers[self.used - 1]
