"""The course of a release: which query comes next, given the sums that were opened before, and its estimate.

Coordinator, parties and servers each follow it on their own from the study and the opened sums alone, so nobody is told
what to ask, and everybody knows the price of a query before it is answered. Whoever tells other sums than were opened
chooses other queries of the same course; the price holds for any choice. Whoever answers pays once a release, from an
account of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ogive.accounting import covers, fits
from ogive.crypto.domains import HashDomain, digest
from ogive.crypto.domains import number as written
from ogive.errors import BudgetError, LedgerError, OgiveError, ParameterError, PeerError
from ogive.ledger.entries import LOST
from ogive.privacy import Adjacency, Charge, Loss, PrivacyUnit
from ogive.provenance import Provenance
from ogive.queries import Answer, LinearQuery, Query
from ogive.releasing.release import Outcome, Payment, charge_for, drive
from ogive.statistics.base import Estimate, Terms, describe, innermost, settled
from ogive.study.common import Document, StudyRelease
from ogive.trust.base import Opening, QueryT, TrustModel
from ogive.trust.models import CentralOptions

if TYPE_CHECKING:
    from ogive.ledger import Account  # a device that uploads has none


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


def estimate_of(study: Document, number: int, answers: Sequence[Answer]) -> Estimate | None:
    """What a release comes to; None where more sums are to be opened."""
    outcome = course(study, study.releases[number], answers) if answers else None
    return with_provenance(study, number, outcome) if isinstance(outcome, Outcome) else None


def with_provenance(study: Document, number: int, outcome: Outcome[Any]) -> Estimate:
    assert study.options is not None, "what was merged is not an answer to a query"
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


# --- What whoever answers pays from an account of its own


class Own(TrustModel):
    """What one participant of a study holds and pays with; an answer is that of all together."""

    def __init__(self, study: Document) -> None:
        assert study.options is not None, "curves that are merged are paid for as any release"
        self.study = study
        self.options = study.options

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        return self.study.unit


class OwnOpening(Opening[QueryT]):
    """A participant's part of one release."""

    def __init__(self, secret: bytes) -> None:
        self.secret = secret

    def answer(self, query: QueryT) -> Answer:
        raise NotImplementedError("all who take part answer together")


def payment_of(study: Document, number: int, account: Account, records: TrustModel) -> Payment:
    """The account's side of a release, which is a question of its own in every study."""
    release = study.releases[number]
    question = {
        "study": study.digest.hex(),
        "release": release.name,
        **describe(settled(release.statistic, study.unit)),
    }
    name = innermost(release.statistic).name
    return Payment(account, question, name, release.privacy, study.unit, records, batch=study.name)


def check_budget(study: Document, number: int, account: Account, payment: Payment) -> None:
    """Refuse before anything is sent what the account could not pay."""
    release = study.releases[number]
    if account.reserved(payment.question) is not None or account.limit is None:
        return
    remaining = account.remaining
    if remaining is None or (type(remaining) is type(release.privacy) and not covers(remaining, release.privacy)):
        left = "nothing" if remaining is None else remaining
        raise BudgetError(f"release {release.name} costs {release.privacy}, and the account has {left} left")


def check_paid(study: Document, number: int, account: Account, payment: Payment, *, paid: bytes | None) -> None:
    """Refuse to answer a release under a second noise, which would thin out the noise that all parties count on."""
    reserved = account.reserved(payment.question)
    if reserved is not None and paid in (None, reserved.release_id.encode()):
        return
    if paid is not None:
        raise LedgerError(
            "another ledger or account paid for this release, and its noise is there; start the agent with that one"
        )
    statistic = payment.question["statistic"]
    # of what was spent after the copy was made, the ledger knows only the name of the statistic
    unknown = {"name": innermost(study.releases[number].statistic).name}
    if any(entry.state == LOST and entry.question["statistic"] in (statistic, unknown) for entry in account.history):
        raise LedgerError(
            "the account lost an entry that may be this release when an older copy of the ledger was restored; its "
            "noise and its set of parties are not known any more, so the release is over for this party"
        )


def over_budget(study: Document, names: Sequence[str]) -> str | None:
    """Which releases cost more than the budget of their study, in words; None where it pays for all of them."""
    releases = [study.release_named(name) for name in names]
    if study.options is None:  # merged curves are questions without the name of a study: equal ones are paid once
        questions = [(each.statistic, each.privacy) for each in releases]
        releases = [each for place, each in enumerate(releases) if questions[place] not in questions[:place]]
    if fits(study.budget, [_charge(study, release) for release in releases]):
        return None
    each = [f"{release.name} ({release.privacy})" for release in releases]
    if len(each) == 1:
        return f"release {each[0]} costs more than the study's budget of {study.budget}"
    listed = f"{', '.join(each[:-1])} and {each[-1]}"
    return f"releases {listed} together cost more than the study's budget of {study.budget}"


def check_together(study: Document, paid: Sequence[str], name: str) -> None:
    """Refuse a release that costs more than the study's budget together with those that were paid for."""
    over = over_budget(study, [*paid, name])
    if over is not None:
        raise BudgetError(f"release {name} is refused: {over}")


def _charge(study: Document, release: StudyRelease) -> Charge:
    try:
        query, loss = first_query(study, release)
        return charge_for(release.privacy, loss, query)
    except OgiveError as problem:
        raise problem.prefixed(f"release {release.name}") from None
