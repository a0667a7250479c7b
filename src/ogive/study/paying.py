"""What whoever answers in a study pays from an account of its own, once a release."""

from __future__ import annotations

from ogive.accounting import covers
from ogive.errors import BudgetError
from ogive.ledger import Account
from ogive.releasing import Payment
from ogive.statistics.base import describe, innermost, settled
from ogive.study.common import Document
from ogive.trust.base import TrustModel


def payment_of(study: Document, number: int, account: Account, records: TrustModel) -> Payment:
    """The account's side of a release, which is a question of its own in every study.

    Args:
        study: The study.
        number: Of the release, from 0.
        account: That pays.
        records: Which the account is of.
    """
    release = study.releases[number]
    question = {
        "study": study.digest.hex(),
        "release": release.name,
        **describe(settled(release.statistic, study.unit)),
    }
    return Payment(
        account,
        question,
        innermost(release.statistic).name,
        release.privacy,
        study.unit,
        records,
        batch=study.name,
    )


def check_budget(study: Document, number: int, account: Account, payment: Payment) -> None:
    """Refuse before anything is sent what the account could not pay.

    Raises:
        BudgetError: it could not.
    """
    release = study.releases[number]
    if account.reserved(payment.question) is not None or account.limit is None:
        return
    remaining = account.remaining
    if remaining is None or (type(remaining) is type(release.privacy) and not covers(remaining, release.privacy)):
        left = "nothing" if remaining is None else remaining
        raise BudgetError(f"release {release.name} costs {release.privacy}, and the account has {left} left")
