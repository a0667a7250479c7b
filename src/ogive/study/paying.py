"""What whoever answers in a study pays from an account of its own, once a release."""

from __future__ import annotations

from collections.abc import Sequence

from ogive.accounting import covers, fits
from ogive.errors import BudgetError, LedgerError, OgiveError
from ogive.ledger import Account
from ogive.ledger.entries import LOST
from ogive.privacy import Charge
from ogive.releasing.release import Payment, charge_for
from ogive.statistics.base import describe, innermost, settled
from ogive.study.common import Document, StudyRelease
from ogive.study.course import first_query
from ogive.trust.base import TrustModel


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
    asked = payment.question["statistic"]
    # of what was spent after the copy was made, the ledger knows only the name of the statistic
    unknown = {"name": innermost(study.releases[number].statistic).name}
    if any(entry.state == LOST and entry.question["statistic"] in (asked, unknown) for entry in account.history):
        raise LedgerError(
            "the account lost an entry that may be this release when an older copy of the ledger was restored; its "
            "noise and its set of parties are not known any more, so the release is over for this party"
        )


def over_budget(study: Document, names: Sequence[str]) -> str | None:
    """Which releases cost more than the budget of their study, in words; None where it pays for all of them."""
    releases = [study.release_named(name) for name in names]
    if study.options is None:  # merged curves are questions without the name of a study: equal ones are paid once
        asked = [(each.statistic, each.privacy) for each in releases]
        releases = [each for place, each in enumerate(releases) if asked[place] not in asked[:place]]
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
