"""Labels from votes in one call: priced beforehand, paid from a ledger, and the same for a repeated question."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ogive.accounting import least_epsilon
from ogive.core.arrays import Int64
from ogive.errors import DataError, ParameterError
from ogive.ledger import Account
from ogive.noise.base import RandomSource
from ogive.pate.votes import check_votes, read_votes
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, Loss, Privacy, PrivacyUnit, PureDP, Rational, exact
from ogive.provenance import trust_statement
from ogive.queries import Aggregate, Ballots, Kind, Query
from ogive.releasing.release import release
from ogive.statistics import Terms
from ogive.statistics.labels.estimate import LabelsEstimate
from ogive.statistics.labels.statistic import Aggregator, Labels
from ogive.trust.base import TrustModel, TrustOptions
from ogive.trust.table import CentralOpening

# --- Vote counts that a curator already has: a trust model that answers questions about ballots from them


@dataclass(frozen=True)
class TallyOptions(TrustOptions):
    """Which queries there are counts of.

    Fields:
        ballots: The numbered queries and the number of classes.
    """

    name: ClassVar[str] = "central"
    serves: ClassVar[frozenset[Kind]] = frozenset({"linear", "curator"})
    assumption: ClassVar[str] = trust_statement(
        holds="One curator holds the votes of all teachers and adds the noise.",
        sees="The curator sees every teacher's votes and the noise; everyone else learns only what is published.",
        assumed="The curator keeps the votes and the noise secret.",
    )

    ballots: Ballots

    def refusal(self, query: Query) -> str | None:
        """All but questions about these ballots."""
        if super().refusal(query) is None and query.aggregate == self.ballots:
            return None
        return f"vote counts answer only queries on these {len(self.ballots.queries)} queries alone; use trust central"


class Tallied(TrustModel):
    """A trusted curator who holds vote counts, not the votes of single teachers, and adds the noise.

    Queries are numbered, so other rounds use the same names; a digest of the votes distinguishes the rounds.

    Args:
        votes: Counts, shape (queries, classes); every row adds up to the number of teachers.
        person: Name for an owner of several teachers, for example "hospital"; None if every owner has one teacher.
        max_rows_per_person: Largest number of teachers of one owner.

    Raises:
        DataError: the votes are not vote counts.
        ParameterError: the number of teachers is out of range, or `person` is missing.
    """

    options_type = TallyOptions
    digest_in_question = True
    holds = "votes"

    def __init__(self, votes: Any, *, person: str | None = None, max_rows_per_person: int = 1) -> None:
        self._several = PrivacyUnit(Adjacency.ADD_OR_REMOVE, person, max_rows_per_person)
        self.votes: Int64 = check_votes(votes)
        queries, classes = self.votes.shape
        self.options: TallyOptions = TallyOptions(Ballots(tuple(map(str, range(queries))), classes))

    def data_digest(self) -> bytes:
        """SHA-256 of the votes; as secret as the votes."""
        return hashlib.sha256(b"ogive votes 1\n" + repr(self.votes.shape).encode() + self.votes.tobytes()).digest()

    @property
    def ballots(self) -> Ballots:
        """The numbered queries and the number of classes."""
        return self.options.ballots

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """One teacher, or all teachers of one owner.

        Raises:
            ParameterError: a person may have several teachers, and their number is public.
        """
        return PrivacyUnit(adjacency, self._several.person, self._several.max_rows_per_person)

    def count(self) -> int:
        """Teachers."""
        return int(self.votes[0].sum())

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> CentralOpening:
        """Continue a release from its noise key."""
        return CentralOpening(self, adjacency, secret)

    def aggregate(self, aggregate: Aggregate) -> Int64:
        """The counts themselves.

        Raises:
            DataError: the query is not for these votes.
        """
        if aggregate != self.ballots:
            raise DataError("vote counts contain only the votes of their own queries")
        return self.votes


# --- Labels in one call


def label(
    votes: Any,
    aggregator: Aggregator,
    *,
    privacy: Privacy | None = None,
    target_delta: Rational | None = None,
    ballots: Ballots | None = None,
    max_answers: int | None = None,
    probabilities: Any = None,
    name: str | None = None,
    adjacency: Adjacency = Adjacency.REPLACE,
    ledger: Account | None = None,
    batch: str | None = None,
    source: RandomSource | None = None,
) -> LabelsEstimate:
    """Release labels by a noisy vote of teachers.

    The charge does not depend on the votes. It covers one check for each query and the largest allowed number of
    answers, whether or not they are given.

    Args:
        votes: Vote counts, shape (queries, classes), or a file of them (.npy, .npz, CSV, Parquet); or a trust model
            whose records are teachers, such as `SecAgg(teachers)` for `LargestMargins`, `Servers(teachers)` for any
            aggregator, or `Tallied(votes, person="hospital", max_rows_per_person=4)` where a hospital may have several
            teachers. Two servers find labels of votes that neither sees, if both follow the protocol (semi-honest).
        aggregator: The aggregator that turns votes into labels.
        privacy: The guarantee. By default it is the exact cost of the labels, at `target_delta` for Gaussian noise;
            none if the trust model has no privacy.
        target_delta: Delta of the guarantee, if `privacy` is omitted.
        ballots: The columns of the queries and the number of classes, if `votes` is a trust model.
        max_answers: Largest number of answers, after which the run ends; by default the number of queries.
        probabilities: Predictions of a public student, shape (queries, classes), for `InteractiveGNMax`.
        name: Name of the array in a file of several (.npz).
        adjacency: Which sets of teachers are adjacent. REPLACE makes their number public.
        ledger: The account to charge; None records no charge.
        batch: Public name of these votes.
        source: Source of the noise key; by default the operating system. Tests use a replayable source.

    Returns:
        The labels, with their provenance.

    Raises:
        ParameterError: parameters are incompatible, or neither `privacy` nor `target_delta` is given.
        DataError: the votes are not vote counts.
        UnsupportedError: the trust model does not serve the query.
        BudgetError: the labels cost more than `privacy`, or the account has not enough left.

    Privacy:
        The guarantee holds for a change of one teacher's votes, and therefore for every person whose data only one
        teacher learned from. It holds for several teachers of one owner if the trust model says so. Under
        ADD_OR_REMOVE the number of teachers is private too, at the same price.

    Example:
        >>> import numpy as np
        >>> from ogive.pate import ConfidentGNMax, label
        >>> votes = np.random.default_rng(1).multinomial(250, [0.9, 0.1], size=100)
        >>> found = label(votes, ConfidentGNMax(200, 150, 40), target_delta="1e-5", max_answers=60)
        >>> len(found.labels)
        100
    """
    trust = _trust(votes, name)
    if isinstance(trust, Tallied):
        if ballots is not None:
            raise ParameterError("vote counts determine the numbers of queries and classes; leave out ballots")
        ballots = trust.ballots
    elif ballots is None:
        raise ParameterError("give the vote columns and the number of classes with `ballots=`")
    wanted = Labels(aggregator, ballots, max_answers=max_answers, probabilities=probabilities)
    if privacy is None and trust.private:
        privacy = exact_guarantee(wanted, trust, adjacency, target_delta)
    elif target_delta is not None:
        raise ParameterError("`privacy` and `target_delta` exclude each other; give one of them")
    return release(wanted, trust=trust, privacy=privacy, adjacency=adjacency, ledger=ledger, batch=batch, source=source)


def labels_price(wanted: Labels, trust: TrustModel, adjacency: Adjacency = Adjacency.REPLACE) -> Loss:
    """What labels cost, from their parameters and the number of queries alone."""
    if getattr(wanted.aggregator, "sigma", 1) is None:
        raise ParameterError("the noise is derived from the guarantee; give it with `privacy=`")
    unit = trust.unit(adjacency)
    terms = Terms(PureDP(1), unit, trust.refusal, count=trust.count)
    query = wanted.aggregator.query(
        wanted.ballots, terms, max_answers=wanted.max_answers, probabilities=wanted.probabilities
    )
    return query.price(unit)


def exact_guarantee(wanted: Labels, trust: TrustModel, adjacency: Adjacency, target_delta: Rational | None) -> Privacy:
    """A guarantee that is just what the labels cost."""
    loss = labels_price(wanted, trust, adjacency)
    if not isinstance(loss, GaussianDP):
        if target_delta is not None:
            raise ParameterError("Laplace noise has a guarantee without a delta; leave out `target_delta`")
        return loss
    if target_delta is None:
        raise ParameterError(
            "give a privacy guarantee with `privacy=`, or `target_delta=` to spend the exact cost of the labels"
        )
    delta = exact(target_delta, "target_delta")
    return ApproxDP(least_epsilon(loss, delta), delta)


def _trust(votes: Any, name: str | None) -> TrustModel:
    if isinstance(votes, str | Path):
        return Tallied(read_votes(votes, name=name))
    if name is not None:
        raise ParameterError("`name` is for a file of several arrays (.npz)")
    return votes if isinstance(votes, TrustModel) else Tallied(votes)
