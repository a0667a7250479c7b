"""Where the two axes meet: a statistic asks, a trust model answers, the price is paid in between."""

from __future__ import annotations

import dataclasses
import logging
import math
import os
import secrets
import sys
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, cast

from ogive.accounting import as_concentrated, at_least, covers, filled, gaussian_rho, in_terms_of, total_loss
from ogive.columns import Schema
from ogive.core.checks import written_fields
from ogive.errors import (
    BudgetError,
    DataError,
    NoiseWarning,
    OgiveError,
    ParameterError,
    ReleaseMismatchError,
    UnsupportedError,
    quoted,
)
from ogive.ledger.entries import plain_text
from ogive.local.oracles import RandomizedResponse
from ogive.noise import RandomSource, SystemSource
from ogive.privacy import (
    Adjacency,
    ApproxDP,
    Charge,
    GaussianDP,
    Loss,
    Privacy,
    PrivacyUnit,
    PureDP,
    ZeroConcentratedDP,
    check_adjacency,
    check_columns,
    check_privacy,
)
from ogive.provenance import Provenance, add_seen, check_batch_name
from ogive.queries import (
    Answer,
    CellsQuery,
    ClassCurvesQuery,
    CurveQuery,
    GroupBinning,
    GroupedQuery,
    KernelQuery,
    LinearGroupsQuery,
    LinearQuery,
    MomentsQuery,
    Query,
    ReportsQuery,
    undeclared,
)
from ogive.queries.histograms import ThresholdQuery
from ogive.queries.wrapped import LinearSelectedQuery, SelectedQuery
from ogive.statistics import base, kinds
from ogive.strategies.base import LOUD, noise_share
from ogive.trust.base import Opening, TrustModel, check_trust

if TYPE_CHECKING:
    from ogive.ledger import Account, Reservation


def release(
    statistic: base.Statistic[base.EstimateT],
    *,
    trust: TrustModel,
    privacy: Privacy | None = None,
    adjacency: Adjacency = Adjacency.REPLACE,
    ledger: Account | None = None,
    batch: str | None = None,
    public: Sequence[str] | str | None = None,
    source: RandomSource | None = None,
) -> base.EstimateT:
    """Release one statistic of the records that a trust model holds.

    Every query is priced from its own fields before it is answered. A statistic that would exceed its guarantee is
    refused before noise is drawn. With a ledger the charge is recorded before noise is drawn. An interrupted release
    continues with the same noise, and a repeated question gets the stored answer at no cost.

    Args:
        statistic: The statistic, for example `Ecdf("age", bounds=(0, 120))`.
        trust: Trust model with the records, for example `Central("patients.parquet")`.
        privacy: The guarantee for everything that this release publishes. It may be omitted only if the trust model
            has no privacy; queries then have no limit.
        adjacency: Which data sets are adjacent. REPLACE makes the number of records public.
        ledger: The account to charge, from `Ledger.account`; None records no charge.
        batch: Public name of these records, for example a month or a site, for merging curves; by default the name of
            the account's part, if it is one.
        public: Public columns, in which adjacent data sets agree record by record; by default those that the account
            declares, or none.
        source: Source of the noise key; by default the operating system. Tests use a replayable source.

    Returns:
        The statistic's estimate, with its provenance.

    Raises:
        ParameterError: privacy is missing or has an unknown type, or parameters are incompatible.
        DataError: the records cannot be read.
        UnsupportedError: the trust model does not serve the queries, or the release would publish exact counts of a
            column that is not declared public.
        BudgetError: the queries cost more than `privacy`, or the account has not enough left.
        LedgerError: the ledger cannot be read or written, or has another privacy unit.
        ReleaseMismatchError: the records changed since the release was interrupted.

    Privacy:
        `privacy`, for the stated adjacency and public columns, under the trust model's assumption.
    """
    adjacency = check_adjacency(adjacency)
    base.check_statistic(statistic)
    check_trust(trust, what="release")
    if source is not None and not isinstance(source, RandomSource):
        raise ParameterError(f"`source` must be a random source such as SystemSource(), got {type(source).__name__}")
    bounded = privacy is not None
    if privacy is None:
        if trust.private:
            raise ParameterError("give a privacy guarantee, for example `privacy=PureDP(1)`")
        privacy = PureDP(1)
    check_privacy(privacy)
    named = _batch_name(batch, ledger)
    unit = unit_of(trust, adjacency, ledger, public=public)
    if public is not None:
        trust.check_columns(check_columns(public))
    statistic = base.settled(base.completed(statistic, trust.schema), unit)
    inner: Any = base.innermost(statistic)
    if getattr(inner, "left_out", None):
        tell_left_out(inner.left_out, trust.schema)
    account = ledger if trust.private else None
    described = {} if account is None else base.describe(statistic)
    payment = Payment(account, described, inner.name, privacy, unit, trust, batch=named)
    if account is not None and hasattr(inner, "before") and not payment.known:
        statistic, payment = _as_before(statistic, payment)
    stored = payment.stored()
    if stored is not None:
        return cast(base.EstimateT, _named(kinds.read_recorded(stored), named, payment.mark))
    opening = trust.open(adjacency, source=source if source is not None else SystemSource())
    warns = trust.private and source is None
    if warns:
        tell_weak(privacy)
    count = trust.count if warns and adjacency is Adjacency.REPLACE else lambda: None
    holder = _Paying(payment, opening, count, getattr(inner, "noise_beside", base.OF_RECORDS))
    terms = base.Terms(
        privacy,
        unit,
        trust.refusal,
        count=trust.count,
        preflight=holder.check,
        announce=payment.announce,
        one_loss_type=payment.paying,
        private=trust.private,
        adding=trust.adding,
        honest=trust.honest,
        cell_limit=trust.cell_limit,
        serving=trust.public_terms,
    )
    try:
        done = drive(statistic, terms, holder, bounded=bounded)
    except (DataError, ParameterError) as problem:
        raise unmet(statistic, trust, terms) or problem from None
    provenance = Provenance(
        release_id=payment.release_id,
        statistic=inner.name,
        method="+".join(dict.fromkeys(query.method for query in done.queries)),
        privacy=privacy if trust.private else None,
        price=done.price if trust.private else None,
        adjacency=adjacency,
        trust=trust.name,
        assumption=add_seen(trust.assumption, holder.opening.uploaded),
        total=done.answer.total,
        person=unit.person,
        max_rows_per_person=unit.max_rows_per_person,
        row_choice=unit.row_choice,
        public=unit.public,
        batch=named,
        account=payment.mark,
        where=None if (where := getattr(statistic, "where", None)) is None else str(where),
    )
    result = payment.record(done.estimate.with_provenance(provenance))
    warning = warning_after(result, terms.records) if warns and not holder.warned else None
    if warning is not None:
        warnings.warn(warning, stacklevel=outside())
    if warns and ledger is None and trust.name != "local":  # each owner's reports are that owner's to add up
        tell_no_ledger()
    return cast(base.EstimateT, result)


def unmet(statistic: base.Statistic[Any], trust: TrustModel, terms: base.Terms) -> OgiveError | None:
    """All that a statistic still needs, for those that can say it at once; None where that is nothing."""
    inner: Any = base.innermost(statistic)
    schema = trust.schema() if hasattr(inner, "unmet") else None
    return None if schema is None else inner.unmet(terms, schema)


def _as_before(
    statistic: base.Statistic[base.EstimateT], payment: Payment
) -> tuple[base.Statistic[base.EstimateT], Payment]:
    """What the same call asked in an earlier version, where that was paid for; else what it asks now."""
    earlier = base.before(statistic)
    if earlier is not None:
        with suppress(ReleaseMismatchError):  # asked of other records, it is no answer to this question
            asked = payment.of(base.describe(earlier))
            if asked.known:
                return earlier, asked
    return statistic, payment


class _Paying:
    """Who holds the records of a release: what it answers was paid for before."""

    def __init__(self, payment: Payment, opening: Opening[Any], count: Callable[[], int | None], beside: str) -> None:
        self._payment = payment
        self._count = count
        self._beside = beside
        self.opening = opening
        self.warned = False
        self._chosen: frozenset[str] = frozenset()

    def check(self, query: Query) -> None:
        """Read what a query will need, where somebody pays for what comes before it."""
        if self._payment.paying:
            self.opening.context(query)

    def pay(self, loss: Loss, query: Query) -> None:
        """Make the spend durable; warn before of noise that will hide as many records as everybody may know of."""
        silent = self.warned or (bool(self._chosen) and concerns(query, self._chosen))
        warning = None if silent else warning_before(query, self._count(), self._beside)
        self._chosen |= selected_columns(query)
        if warning is not None:
            self.warned = True
            self.opening.context(query)  # what is wrong with the records is said first, and alone
            warnings.warn(warning, stacklevel=outside())
        self.opening = self._payment.pay(loss, query, self.opening)

    def answer(self, query: Query) -> Answer:
        return self.opening.answer(query)


def _named(estimate: base.Estimate, batch: str | None, account: str | None) -> base.Estimate:
    """A stored answer with the batch name of this release, and with the account that paid."""
    source = estimate.provenance
    if source is None:
        return estimate
    if batch is not None and source.batch not in (None, batch):
        raise ParameterError(f"these records were released as batch {quoted(source.batch)}, not {quoted(batch)}")
    return estimate.with_provenance(dataclasses.replace(source, batch=batch or source.batch, account=account))


def _batch_name(batch: str | None, account: Account | None) -> str | None:
    """The name of the batch: the given one, else that of the account's part."""
    part = None if account is None else account.part_name
    if batch is not None and part is not None and batch != part:
        raise ParameterError(
            f"the account is of the part {quoted(part)}, so the batch cannot be called {quoted(batch)}"
        )
    return check_batch_name(part if batch is None else batch)


def _check_records(account: Account, question: dict[str, Any], held: str) -> None:
    """Refuse the same question about other records: whether they are others must decide neither price nor answer.

    An account with a fingerprint refuses other records itself, unless it is said that they were updated. `held` is what
    a message calls them.
    """
    if account.has_fingerprint:
        return
    public = plain_text(question | {"records": None})
    for entry in account.history:
        earlier = entry.question
        others = entry.part == account.part_name and earlier.get("records") not in (None, question["records"])
        if others and plain_text(earlier | {"records": None}) == public:
            raise ReleaseMismatchError(
                f"this question was asked of other {held} before; if these belong to another round, give the round a "
                "public name, for example `batch='second'`"
            )


def _with_records(account: Account, question: dict[str, Any], mark: str) -> dict[str, Any]:
    """A question with the keyed digest of the records, where whoever opened the account did not say what the data are.

    Without it a stored answer about some records would be given for any others. The question stays as it is where the
    ledger has the fingerprint of these very records, and where an earlier version asked it, which kept no digest.
    """
    fingerprint, questions = account.asked()
    marks = {plain_text(each | {"records": None}): each.get("records") for each in questions}
    before = marks.get(plain_text(question | {"records": None}), mark)
    if before not in (None, mark) or (before is None and fingerprint not in (None, mark)):
        raise ReleaseMismatchError(
            "this question was asked of other records before; if these are newer records of the same people, open "
            "the account with `updated=True`, and the release is paid again; use another account for other people"
        )
    return question if before is None or fingerprint == mark else {**question, "records": mark}


def unit_of(
    trust: TrustModel, adjacency: Adjacency, account: Account | None, *, public: Sequence[str] | str | None = None
) -> PrivacyUnit:
    """Whose data a release hides: as the trust model says, but for what everybody may know."""
    if public is None:
        public = () if account is None or not trust.private else account.unit.public
    unit = trust.unit(adjacency)
    return unit if unit.public == public else dataclasses.replace(unit, public=check_columns(public))


class Payment:
    """The account's side of one release; does nothing where there is no account."""

    def __init__(
        self,
        account: Account | None,
        statistic: dict[str, Any],
        name: str,
        privacy: Privacy,
        unit: PrivacyUnit,
        trust: TrustModel,
        *,
        batch: str | None,
    ) -> None:
        self._account = account
        self.paying = account is not None
        self._statistic = statistic
        self._batch = batch
        self._name = name
        self._privacy = privacy
        self._trust = trust
        self._unit = unit
        self._reservation: Reservation | None = None
        self._bound = 0
        self._charged: Charge | None = None
        self._announced: Loss | None = None
        self._release_id = secrets.token_hex(16)
        self.question: dict[str, Any] = {} if account is None else self._question_to(account)

    def of(self, statistic: dict[str, Any]) -> Payment:
        """The same for another statistic."""
        return Payment(self._account, statistic, self._name, self._privacy, self._unit, self._trust, batch=self._batch)

    def _question_to(self, account: Account) -> dict[str, Any]:
        """The whole question, as the ledger of an account stores it."""
        account.check_unit(self._unit)
        trust = self._trust
        question: dict[str, Any] = {
            "statistic": self._statistic,
            "privacy": self._privacy.to_dict(),
            "unit": self._unit.to_dict(),
            "trust": trust.name,
        }
        if trust.options.terms is not None:
            # what was released counting on fewer that collude is not an answer to who counts on more
            question["terms"] = written_fields(trust.options.terms)
        digest = trust.data_digest() if trust.digest_in_question or not account.has_fingerprint else None
        if digest is None:
            return question
        mark = account.fingerprint(digest)
        if not trust.digest_in_question:
            return _with_records(account, question, mark)
        question |= {"batch": self._batch, "records": mark}
        _check_records(account, question, trust.holds)
        return question

    @property
    def release_id(self) -> str:
        """Names the release; the same when it is resumed."""
        return self._release_id if self._reservation is None else self._reservation.release_id

    @property
    def mark(self) -> str | None:
        """Tells what the account paid for from other releases; None without one."""
        return None if self._account is None else self._account.mark

    def announce(self, loss: Loss) -> None:
        """Note what all measurements together will cost."""
        self._announced = loss

    @property
    def known(self) -> bool:
        """Whether this very question was answered, or paid for and interrupted."""
        account = self._account
        return account is not None and bool(account.find(self.question) or account.reserved(self.question))

    def stored(self) -> dict[str, Any] | None:
        """The answer that was recorded for this very question, as plain data."""
        return None if self._account is None else self._account.find(self.question)

    def pay(self, loss: Loss, query: Query, opening: Opening[Any]) -> Opening[Any]:
        """Make the spend durable before the noise of a measurement is drawn."""
        if self._account is None:
            return opening
        context = opening.context(query)  # reads the records: what is wrong with them is found before the spend
        charge = charge_for(self._privacy, loss, query, announced=self._announced, before=self._charged)
        self._charged = charge
        if self._reservation is None:
            self._account = self._begun(self._account, charge)
            self._reservation = self._account.reserve(
                self.question, statistic=self._name, charge=charge, secret=opening.secret
            )
            if self._reservation.secret != opening.secret:
                opening = self._trust.resume(self._unit.adjacency, secret=self._reservation.secret)
                context = opening.context(query)
        else:
            self._reservation.charge(charge)
        self._reservation.bind(self._bound, context)
        self._bound += 1
        return opening

    def _begun(self, account: Account, charge: Charge) -> Account:
        """The account that pays; where its ledger is yet to be made, it is made, unless the charge would be refused."""
        if account.begin is None:
            return account
        account.check_affordable(charge)
        begun = account.begin()
        self.question = self._question_to(begun)
        return begun

    def record(self, estimate: base.Estimate) -> base.Estimate:
        """Record the answer; where another process was first, take its answer, which has the same noise."""
        if self._reservation is None:
            return estimate
        written = estimate.to_dict()
        recorded = self._reservation.record(written)
        return estimate if recorded == written else kinds.read_recorded(recorded)


# --- The loop of every release and of every plan: a statistic asks, a holder of records pays and answers


class Holder(Protocol):
    """Who answers for records, real or imagined."""

    def pay(self, loss: Loss, query: Query) -> None:
        """Pay for a measurement before it is answered."""

    def answer(self, query: Query) -> Answer:
        """Answer a query whose measurement was paid for."""


@dataclass(frozen=True)
class Outcome(Generic[base.EstimateT]):
    """One procedure from the first query to the estimate.

    Fields:
        measured: The first query of each measurement, in the order asked.
    """

    estimate: base.EstimateT
    queries: tuple[Query, ...]
    measured: tuple[Query, ...]
    price: Loss
    answer: Answer


def drive(
    statistic: base.Statistic[base.EstimateT], terms: base.Terms, holder: Holder, *, bounded: bool = True
) -> Outcome[base.EstimateT]:
    """Ask everything that a statistic asks, and price each measurement before it is answered."""
    queries: list[Query] = []
    measured: dict[Hashable, Query] = {}
    losses: list[Loss] = []
    refusal = terms.refusal
    terms = dataclasses.replace(terms, refusal=lambda query: as_asked(refusal(query), query, statistic))
    procedure = statistic.questions(terms)
    query: Query = next(procedure)
    while True:
        reason = terms.refusal(query) or (undeclared(query, terms.unit) if terms.private else None)
        if reason is not None:
            raise UnsupportedError(reason)
        if query.measurement not in measured:
            losses.append(query.price(terms.unit))
            price = total_loss(losses)
            if bounded and not covers(terms.privacy, price):
                cost = in_terms_of(terms.privacy, price)
                name = base.innermost(statistic).name
                raise BudgetError(f"{name} would cost {cost}, more than the privacy guarantee {terms.privacy}")
            holder.pay(price, query)
            measured[query.measurement] = query
        queries.append(query)
        answer = holder.answer(query)
        try:
            query = procedure.send(answer)
        except StopIteration as stop:
            return Outcome(stop.value, tuple(queries), tuple(measured.values()), price, answer)


def as_asked(reason: str | None, query: Query, statistic: base.Statistic[Any]) -> str | None:
    """A reason that begins with the method of a query, with what the user asked for in its place.

    That is the method where another than the usual one was named, else the statistic.
    """
    if reason is None or not reason.startswith(f"{query.method} "):
        return reason
    statistic = base.innermost(statistic)
    method, usual = getattr(statistic, "method", None), getattr(type(statistic), "method", None)
    name = statistic.name if method == usual else getattr(method, "name", method)
    return f"{name}{reason.removeprefix(query.method)}"


# --- The charge of a measurement


def charge_for(
    privacy: Privacy, loss: Loss, query: Query, *, announced: Loss | None = None, before: Charge | None = None
) -> Charge:
    """The charge of a release so far."""
    # what was granted is charged, so that budgets stay round numbers; where the mechanism's loss is of
    # another type it is the stronger statement and composes better
    if isinstance(loss, ApproxDP) or type(loss) is type(privacy):
        return privacy
    if not isinstance(privacy, ApproxDP):
        return privacy if isinstance(loss, GaussianDP) else loss
    if announced is not None:  # all of them are pure, or they add up in zCDP
        if isinstance(announced, PureDP):
            return PureDP(privacy.epsilon)
        whole = gaussian_rho(privacy)
        if not isinstance(announced, GaussianDP) or as_concentrated(announced).rho <= whole.rho:
            return whole
        return filled(privacy, announced)  # of a subset more rho, within the exact delta of Gaussian noise
    # a first measurement is charged as all that may follow it, so that whoever asks in rounds has enough
    # for the last one, whatever others spend meanwhile
    if before is not None and at_least(before, loss):
        return before
    match loss:
        case PureDP():
            return PureDP(privacy.epsilon)
        case GaussianDP():
            return filled(privacy, loss)
    if before is None:
        return loss if isinstance(query, LinearQuery) else gaussian_rho(privacy)
    earlier = as_concentrated(before) if isinstance(before, PureDP) else loss
    return max(earlier, loss, key=lambda each: each.rho)


# --- Cautions about a release that is in no ledger, that noise hides, or that protects little; none is refused for that
#
# Cautions before the spend follow from public numbers alone. Where the number of records is private, whether noise
# drowns them is private too until it is released, so the caution can follow only the release.

NO_LEDGER = (
    "ogive: this release is in no ledger, so nothing adds up the privacy cost of several releases of the same records"
)

LARGEST_EPSILON, LARGEST_RHO = 10, 50
"""Above these a guarantee says little of one person. Pure epsilon = 10 implies rho = 50."""

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_LOGGER = logging.getLogger("ogive.cautions")


class _Warned:
    """The cautions that this process has given."""

    without_ledger = False
    weak = False


def outside() -> int:
    """At which level of the stack, above who calls this, a warning is of the first line outside of the package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


def tell_no_ledger() -> None:
    """Say once in a process, by the logger `ogive.cautions`, that a release is in no ledger."""
    if not _Warned.without_ledger:
        _Warned.without_ledger = True
        _LOGGER.warning(NO_LEDGER)


def tell_weak(privacy: Privacy) -> None:
    """Say once in a process, by the same logger, that so large a guarantee protects little, before it is spent."""
    largest = f"epsilon = {LARGEST_EPSILON}"
    if isinstance(privacy, ZeroConcentratedDP):
        large, largest = privacy.rho > LARGEST_RHO, f"rho = {LARGEST_RHO}, which {largest} implies"
    else:
        large = privacy.epsilon > LARGEST_EPSILON
    if large and not _Warned.weak:
        _Warned.weak = True
        _LOGGER.warning(
            "ogive: %s protects little: already at %s, whoever thinks two answers equally likely may be 99.995 %% sure "
            "of one after the release",
            privacy,
            largest,
        )


def tell_left_out(left_out: Mapping[str, str], schema: Callable[[], Schema | None]) -> None:
    """Say by the same logger which columns of a table a statistic leaves out, and why, before anything is spent."""
    known = schema()
    for name, reason in left_out.items():
        if known is not None and known.kind(name) == "text":
            reason = known.number_remedy(name) or reason
        _LOGGER.warning("ogive: %s: not described, since %s", name, reason)


def no_ledger_wanted() -> None:
    """Give no caution about releases that are in no ledger, since none is wanted."""
    _Warned.without_ledger = True


@dataclass(frozen=True)
class _Noise:
    """How large noise is, and beside what."""

    share: float
    beside: str = base.OF_RECORDS


_NO_NOISE = _Noise(0.0)


def warning_before(query: Query, records: int | None, beside: str = base.OF_RECORDS) -> NoiseWarning | None:
    """A warning of a measurement whose noise will hide what it is for; None where it will not."""
    noise = _NO_NOISE if records is None else _noise(query, float(max(records, 1)))
    if noise.share < LOUD:
        return None
    words = beside if noise.beside == base.OF_RECORDS else noise.beside
    return NoiseWarning(f"{_loud(noise.share, words, 'will be')}; a plan predicts what other choices give")


def selected_columns(query: Query) -> frozenset[str]:
    """The columns of which a query selects quantiles. What is asked of them afterwards is how sure these are.

    Noise of that makes intervals wider, and hides no quantile.
    """
    return frozenset(each.binning.column for each in _inner(query) if getattr(each, "selects", False))


def concerns(query: Query, columns: Set[str]) -> bool:
    """Whether a query is one of such columns."""
    return any(getattr(getattr(each, "binning", None), "column", None) in columns for each in _inner(query))


def _inner(query: Any) -> Iterator[Any]:
    """The queries within conditions and of groups, to one who sees all records or of parties who add up."""
    if isinstance(query, LinearSelectedQuery):
        query = query.selected
    elif isinstance(query, LinearGroupsQuery):
        query = query.joined
    if isinstance(query, SelectedQuery):
        yield from _inner(query.query)
    elif isinstance(query, ClassCurvesQuery) and isinstance(query.classes, GroupBinning):
        yield CurveQuery(query.classes.values, query.strategy)
    elif isinstance(query, GroupedQuery):
        for part in query.asked:
            yield from _inner(part)
    else:
        yield query


def warning_after(estimate: Any, records: int | None) -> NoiseWarning | None:
    """A warning of a release whose noise hides what it tells, which was not known before; None where it does not."""
    share = estimate.noise_share()
    if share < LOUD:
        return None
    why = "the number of records is private" if records is None else "it followed from noisy answers"
    noise = f"{_loud(share, estimate.noise_beside, 'is')}{estimate.noise_hides}"
    return NoiseWarning(f"{noise}; {why}, so this was not known before the spend")


def _noise(query: Query, records: float) -> _Noise:
    """The noise of what is measured; nothing where it is not known before the answer."""
    if isinstance(query, LinearSelectedQuery):
        query = query.selected
    if isinstance(query, SelectedQuery):
        return _noise(query.query, records)  # at most all records satisfy the condition
    if isinstance(query, LinearGroupsQuery):
        query = query.joined
    if isinstance(query, GroupedQuery):
        # not all groups have more than an even part of the records
        return min((_noise(part, records / len(query.parts)) for part in query.asked), key=lambda noise: noise.share)
    if isinstance(query, MomentsQuery):
        return _noise_of_sum(query, records)
    if isinstance(query, CellsQuery):
        # of the records in half of all cells, as of a curve at a threshold in the middle
        share = math.sqrt(query.cells.domain.size / 2) * _deviation(query.law.variance, query.bits) / records
        return _Noise(share, base.OF_COUNT)
    if isinstance(query, KernelQuery):
        return _noise_of_means(query, records)
    if isinstance(query, ReportsQuery):
        return _noise_of_reports(query, records)
    if isinstance(query, ThresholdQuery):
        # thresholds of later rounds, and what lies between them, halve the error at most
        return _Noise(_deviation(query.law.variance, query.bits) / (2 * records))
    strategy = getattr(query, "strategy", None)
    if strategy is None:
        return _NO_NOISE
    # of classes or groups, not all have more than an even part of the records
    curves = max(1, len(query.levels) // max(1, len(strategy.levels)))
    return _Noise(noise_share(strategy, records / curves, total_known=True))


def _noise_of_sum(query: MomentsQuery, records: float) -> _Noise:
    """Of a sum of places, as a share of the most that they can add up to: of two places the number of records."""
    weights = query.weights
    if not weights.slope:
        return _NO_NOISE
    share = _deviation(query.law.variance, query.bits) / (weights.slope * query.last * records)
    return _Noise(share, base.OF_COUNT if query.last == 1 else base.OF_BOUNDS)


def _noise_of_means(query: KernelQuery, records: float) -> _Noise:
    """Of the noisiest mean of a kernel, as a share of its range; there are most pairs where classes are even."""
    reach = records / max(2, query.samples)
    scales = [records if query.counted and number == 1 else reach for number in range(len(query.laws))]
    return _Noise(
        max(_deviation(law.variance, query.bits) / scale for law, scale in zip(query.laws, scales, strict=True)),
        base.OF_RANGE,
    )


def _noise_of_reports(query: ReportsQuery, records: float) -> _Noise:
    """Of reports of one of two places; how other reports are read, and with what error, depends on the statistic."""
    oracle = query.oracle
    if not isinstance(oracle, RandomizedResponse) or oracle.size != 2:
        return _NO_NOISE
    keep = float(oracle.keep)
    other = (1 - keep) / 2
    return _Noise(
        math.sqrt(other * (1 - other) / records) / keep,
        base.OF_BOUNDS if query.rounding == "randomized" else base.OF_COUNT,
    )


def _deviation(variance: Fraction | float, bits: int) -> float:
    return math.ldexp(math.sqrt(variance), -bits)


def _loud(share: float, beside: str, verb: str) -> str:
    if share == float("inf"):
        return f"noise {verb} as large as the records, of which it leaves none, so that this release says nothing"
    return f"noise {verb} {share:.2g} {beside}, so that this release says little or nothing"
