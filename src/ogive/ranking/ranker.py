"""A score that ranks one class above the other, learnt by private descent, with the interface of scikit-learn."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ogive.accounting import covers, filled, in_terms_of, total_loss
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import any_whole
from ogive.errors import BudgetError, DataError, LedgerError, ParameterError, UnsupportedError, quoted
from ogive.kernels.numbers import positive
from ogive.kernels.ranks import Greater
from ogive.ledger import Account
from ogive.noise import DiscreteGaussian, SystemSource
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, Privacy, check_privacy
from ogive.privacy import check_adjacency as known_adjacency
from ogive.ranking.gradient import (
    LARGEST_WEIGHT,
    REPORT_BITS,
    WEIGHT_BITS,
    GradientQuery,
    ReportsQuery,
    check_adjacency,
    gradient_loss,
    gradient_noise,
    intervals,
    report_loss,
    report_noise,
)
from ogive.ranking.rows import FEATURE_BITS, MOST_RECORDS, Ball, HeldRows, OwnedRows, read_features, read_labels
from ogive.releasing.release import Payment, tell_no_ledger, unit_of
from ogive.trust.base import TrustModel
from ogive.trust.table import Central, Clear, Local

# --- Descent on a ranking loss by noisy gradients, all paid for at once before the first step
#
# Each step goes against the noisy gradient g_t, in units of the length of all gradients so far:
#
#     w_(t+1) = w_t - rate / R  g_t / sqrt(|g_1|^2 + ... + |g_t|^2),
#
# and the weights are the mean of the second half of the steps. All of this follows from released and public numbers.

NAME = "pairwise_ranker"
"""Of this release in a ledger."""
SCHEMA = "ogive.ranker/1"


@dataclass(frozen=True)
class Descent:
    """How a descent goes, from public numbers alone."""

    ball: Ball
    steps: int
    rate: float

    @property
    def features(self) -> int:
        """Number of features."""
        return len(self.ball.bounds)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "bounds": [list(pair) for pair in self.ball.bounds],
            "norm": self.ball.norm,
            "steps": self.steps,
            "rate": self.rate,
        }

    def query(self, weights: Float64, step: int, law: DiscreteGaussian) -> GradientQuery | ReportsQuery:
        """The query of a step."""
        return GradientQuery(self.features, self.ball.radius, tuple(on_lattice(weights).tolist()), step, law)

    def run(self, answered: Callable[[Float64, int], Float64]) -> Float64:
        """The weights, shape (features,)."""
        weights = np.zeros(self.features)
        reached, squares = [], 0.0
        first = self.rate / (self.ball.radius / (1 << FEATURE_BITS))
        for step in range(self.steps):
            gradient = answered(weights, step)
            # summed in order, so that every machine gets the same
            squares += sum((gradient * gradient).tolist())
            if squares > 0:
                weights = weights - first / squares**0.5 * gradient
            reached.append(weights)
        later = reached[self.steps // 2 :]
        return np.asarray(sum(later[1:], later[0]) / len(later))

    def noise(self, privacy: Privacy) -> DiscreteGaussian:
        """The least noise with which all steps meet a guarantee."""
        return gradient_noise(privacy, self.features, self.steps)

    def price(self, law: DiscreteGaussian) -> GaussianDP:
        """Privacy loss of all steps."""
        return total_loss([gradient_loss(law, self.features)] * self.steps)

    def deviation(self, law: DiscreteGaussian, records: int) -> float:
        """Standard deviation of the noise of every coordinate of a gradient, features in [-1, 1]."""
        one = self.query(np.zeros(self.features), 0, law).gradient(np.ones(1, dtype=np.int64), records)
        return float(law.sigma) * float(one[0])


class ReportedDescent(Descent):
    """A descent of which every owner takes part in one step, by one report."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return super().to_dict() | {"intervals": intervals(self.steps)}

    def query(self, weights: Float64, step: int, law: DiscreteGaussian) -> ReportsQuery:
        """The query of a step, which reports answer."""
        lattice = tuple(on_lattice(weights).tolist())
        return ReportsQuery(self.features, self.ball.radius, lattice, step, self.steps, law)

    def noise(self, privacy: Privacy) -> DiscreteGaussian:
        """The least noise with which a report meets a guarantee."""
        return report_noise(privacy, self.features, self.ball.radius, self.steps)

    def price(self, law: DiscreteGaussian) -> GaussianDP:
        """Privacy loss of one report, which is all that its owner sends."""
        return report_loss(law, self.features, self.ball.radius, self.steps)

    def deviation(self, law: DiscreteGaussian, records: int) -> float:
        """Standard deviation of the noise of every number of a report, features in [-1, 1]."""
        return float(law.sigma) / (1 << FEATURE_BITS + REPORT_BITS)


def on_lattice(weights: Float64) -> Int64:
    """Weights as multiples of 2^-16, at most 2^14 in size."""
    whole = np.rint(np.ldexp(weights, WEIGHT_BITS))
    return np.asarray(np.clip(whole, -LARGEST_WEIGHT, LARGEST_WEIGHT)).astype(np.int64)


def exact_descent(descent: Descent, rows: Int64) -> Float64:
    """The weights without any noise; not private."""
    law = DiscreteGaussian(1)  # of which nothing is drawn

    def answered(weights: Float64, step: int) -> Float64:
        query = descent.query(weights, step, law)
        return query.gradient(query.answer(rows, None), len(rows))

    return descent.run(answered)


def private_descent(
    descent: Descent,
    trust: HeldRows,
    privacy: Privacy,
    *,
    ledger: Account | None,
    batch: str | None,
    source: RandomSource,
) -> tuple[Float64, GaussianDP, float]:
    """The weights, what they cost, and the deviation of the noise, of features in [-1, 1].

    They are paid for before the first step, and come from the ledger where they are there.
    """
    law, records = descent.noise(privacy), trust.count()
    price, noise = descent.price(law), descent.deviation(law, records)
    if not covers(privacy, price):
        raise BudgetError(f"{NAME} would cost {in_terms_of(privacy, price)}, more than the guarantee {privacy}")
    unit = unit_of(trust, Adjacency.REPLACE, ledger)
    opening = trust.open(Adjacency.REPLACE, source=source)
    question = {"name": NAME, **descent.to_dict()}
    reservation = None
    if ledger is not None:
        named = ledger.part_name if batch is None else batch
        payment = Payment(ledger, question, NAME, privacy, unit, trust, batch=named)
        stored = payment.stored()
        if stored is not None:
            return read_weights(stored, descent.features), price, noise
        # what is left of a guarantee with a delta is filled up, as for any release with Gaussian noise
        charge = filled(privacy, price) if isinstance(privacy, ApproxDP) else privacy
        reservation = ledger.reserve(payment.question, statistic=NAME, charge=charge, secret=opening.secret)
        opening = trust.resume(Adjacency.REPLACE, secret=reservation.secret)

    def answered(weights: Float64, step: int) -> Float64:
        query = descent.query(weights, step, law)
        if reservation is not None:
            reservation.bind(step, opening.context(query))
        return query.gradient(opening.answer(query).values, records)

    weights = descent.run(answered)
    if reservation is not None:
        recorded = reservation.record({"schema": SCHEMA, "weights": weights.tolist()})
        weights = read_weights(recorded, descent.features)
    return weights, price, noise


def read_weights(data: Any, features: int) -> Float64:
    """Weights that a ledger recorded."""
    listed = data.get("weights") if isinstance(data, dict) and data.get("schema") == SCHEMA else None
    if isinstance(listed, list) and len(listed) == features and all(isinstance(each, float) for each in listed):
        weights = np.array(listed)
        if np.isfinite(weights).all():
            return weights
    raise LedgerError("the ledger is damaged: the weights of a ranker cannot be read; restore the ledger from a backup")


# --- The interface

MOST_STEPS = 1000
MOST_RATE = 1000
STEPS, REPORTED_STEPS = 20, 1
"""Steps by default, of a curator and of reports."""

REFUSED = {
    "pairs": "vectors of pairs of people would have at least as much noise as their reports under `trust=Local`",
    "secagg": "a gradient over pairs is not a sum of what parties compute alone",
    "servers": "a gradient over pairs is not a sum of what clients compute alone",
}
"""Why trust models do not learn, by their names."""


class PairwiseRanker:
    """Learn a linear score that ranks records of one class above those of the other, with one guarantee for all steps.

    The loss of a pair of records of both classes is ln(1 + e^-m), m the positive record's score less the negative
    one's, as in RankNet; its mean over all pairs bounds one less the AUC. Each of a fixed number of steps takes the
    gradient over all pairs, with noise.

    The class follows scikit-learn's conventions and does not need scikit-learn: `clone`, pipelines and the scorer
    "roc_auc" take it. Cross-validation fits several times, and each fit is a release with its own price.

    Args:
        bounds: Smallest and largest value of a feature, public: (low, high) for all features, or a list of one pair
            for each. Values outside are clipped. They must not be read off the records.
        privacy: The guarantee for the fitted score: `ApproxDP(epsilon, delta)` or `ZeroConcentratedDP(rho)`. It may be
            omitted only with `trust=Clear`.
        classes: The negative and the positive label, public.
        norm: Largest Euclidean norm of a record whose features were mapped from their bounds to [-1, 1]; longer records
            are shortened to it while learning. Noise grows with it.
        steps: Number of gradients, 1 to 1000; by default 20, or 1 with `trust=Local`. A curator's gradients each get an
            equal part of the guarantee; reports are divided over the steps, and every owner takes part in one.
        rate: Length of the first step times `norm`.
        trust: `Central`, a curator who sees all records; `Local`, owners who each send one report with noise, simulated
            here; or `Clear`, a curator's descent without noise and without privacy.
        adjacency: REPLACE, which makes the number of records public.

    Raises:
        ParameterError: when fitting: a parameter is out of range or missing.
        UnsupportedError: when fitting: the trust model cannot compute gradients over pairs.

    Privacy:
        `privacy`, for one row replaced by any other, label included; give each person one row. The number of rows is
        public, labels and how many rows are of each class are not.

    Source:
        Bell, Bellet, Gascon and Kulkarni 2020, equation 8; proof in `docs/proofs/gradients.md`.

    Example:
        >>> import numpy as np, ogive
        >>> random = np.random.default_rng(1)
        >>> X = random.uniform(-1, 1, (5000, 3))
        >>> y = X @ [2, -1, 0] + random.normal(size=5000) > 0
        >>> ranker = ogive.PairwiseRanker((-1, 1), privacy=ogive.ApproxDP(1, "1e-6"), classes=(False, True))
        >>> ranker.fit(X, y).score(X, y) > 0.8
        True
    """

    def __init__(
        self,
        bounds: Any = None,
        *,
        privacy: Privacy | None = None,
        classes: Sequence[Any] = (0, 1),
        norm: float = 2.0,
        steps: int | None = None,
        rate: float = 10.0,
        trust: type[TrustModel] = Central,
        adjacency: Adjacency = Adjacency.REPLACE,
    ) -> None:
        # as scikit-learn wants it: parameters stay as they are, and are checked when they are used
        self.bounds = bounds
        self.privacy = privacy
        self.classes = classes
        self.norm = norm
        self.steps = steps
        self.rate = rate
        self.trust = trust
        self.adjacency = adjacency

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        ledger: Account | None = None,
        batch: str | None = None,
        source: RandomSource | None = None,
    ) -> Self:
        """Learn the score.

        All steps are charged once, before the first. The same question about the same records is answered from the
        ledger at no cost, and a fit that was interrupted goes on with the same noise.

        Args:
            X: Features, shape (n, features), numbers without NaN.
            y: Labels, shape (n,), each one of the two classes.
            ledger: The account to charge, from `Ledger.account`; None records no charge.
            batch: Public name of these records.
            source: Source of the noise key; by default the operating system. Tests use a replayable source.

        Returns:
            The ranker itself, with `coef_`, `intercept_`, `classes_`, `n_features_in_`, `price_` (the privacy loss;
            None without privacy) and `noise_` (standard deviation of each coordinate of a gradient; with `trust=Local`
            of each number of a report).

        Raises:
            ParameterError: a parameter is out of range or missing.
            DataError: features or labels are not numbers or of no class, or there are fewer than 2 or too many records.
            UnsupportedError: the trust model cannot compute gradients over pairs.
            BudgetError: the account has not enough left.
            LedgerError: the ledger cannot be used, or has another privacy unit.
            ReleaseMismatchError: this was asked of other records before.

        Privacy:
            As the class states. Fits are separate releases, whose prices add up.
        """
        self._check_trust()
        classes = self._check_classes()
        features = read_features(X)
        descent = self._descent(features.shape[1])
        if not 2 <= len(features) <= MOST_RECORDS:
            raise DataError(f"a gradient over pairs needs 2 to {MOST_RECORDS} records, got {len(features)}")
        labels = read_labels(y, len(features), classes)
        rows = np.column_stack([descent.ball.lattice(features), labels])
        if self.trust is Clear:
            if self.privacy is not None or ledger is not None:
                raise ParameterError("`trust=Clear` has no privacy; leave out `privacy` and `ledger`")
            weights, price, noise = exact_descent(descent, rows), None, 0.0
        else:
            if self.privacy is None:
                raise ParameterError('give a guarantee, for example `privacy=ApproxDP(1, "1e-6")`', parameter="privacy")
            check_privacy(self.privacy)
            weights, price, noise = private_descent(
                descent,
                OwnedRows(rows) if self.trust is Local else HeldRows(rows),
                self.privacy,
                ledger=ledger,
                batch=batch,
                source=SystemSource() if source is None else source,
            )
            if ledger is None and source is None and self.trust is not Local:
                tell_no_ledger()
        low, high = np.array(descent.ball.bounds).T
        self.coef_ = weights / ((high - low) / 2)
        self.intercept_ = -float(self.coef_ @ (low + (high - low) / 2))
        self.classes_ = np.asarray(classes)
        self.n_features_in_ = features.shape[1]
        self.price_ = price
        self.noise_ = noise
        self._ball = descent.ball
        return self

    def decision_function(self, X: Any) -> Float64:
        """Scores, the larger the more likely positive, of records whose features are clipped to their bounds.

        Args:
            X: Features, shape (n, features).

        Returns:
            Scores, shape (n,). Only their order means something.

        Raises:
            DataError: the ranker was not fitted, or these are other features.
        """
        if not hasattr(self, "coef_"):
            raise DataError("this ranker is not fitted yet; call `fit` first")
        features = read_features(X)
        if features.shape[1] != self.n_features_in_:
            raise DataError(f"the ranker was fitted on {self.n_features_in_} features, got {features.shape[1]}")
        low, high = np.array(self._ball.bounds).T
        return np.asarray(np.clip(features, low, high) @ self.coef_ + self.intercept_)

    def score(self, X: Any, y: Any) -> float:
        """The exact AUC of the scores of records, ties counted half; not private.

        Args:
            X: Features, shape (n, features).
            y: Labels, shape (n,).

        Raises:
            DataError: features or labels do not fit, or a class has no record.
        """
        scores = self.decision_function(X)
        labels = read_labels(y, len(scores), self._check_classes())
        if not 0 < labels.sum() < len(labels):
            raise DataError("an AUC needs records of both classes")
        return Greater("half").exact(scores[:, np.newaxis], labels)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, as scikit-learn reads them.

        Args:
            deep: Of no effect, since no parameter is an estimator.
        """
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name.

        Raises:
            ParameterError: there is no parameter of a name.
        """
        for name, value in parameters.items():
            if name not in _PARAMETERS:
                raise ParameterError(f"there is no parameter {quoted(name)}; there are {', '.join(_PARAMETERS)}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of an estimator: one of two classes, which needs labels."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(multi_class=False),
            input_tags=InputTags(),
        )

    def __repr__(self) -> str:
        shown = {name: repr(getattr(self, name)) for name in _PARAMETERS}
        changed = [f"{name}={shown[name]}" for name, default in _PARAMETERS.items() if shown[name] != repr(default)]
        return f"PairwiseRanker({', '.join(changed)})"

    def _descent(self, features: int) -> Descent:
        if self.bounds is None:
            raise ParameterError(
                "give the public bounds of the features, for example `bounds=(0, 1)`", parameter="bounds"
            )
        reported = self.trust is Local
        usual = REPORTED_STEPS if reported else STEPS
        steps = usual if self.steps is None else any_whole(self.steps, "steps", 1, MOST_STEPS)
        rate = positive(self.rate, "rate")
        if rate > MOST_RATE:
            raise ParameterError(f"`rate` must be at most {MOST_RATE}, got {quoted(self.rate)}", parameter="rate")
        return (ReportedDescent if reported else Descent)(Ball.of(self.bounds, self.norm, features), steps, rate)

    def _check_classes(self) -> tuple[Any, Any]:
        classes = tuple(self.classes) if isinstance(self.classes, list | tuple | np.ndarray) else ()
        if len(classes) != 2 or classes[0] == classes[1]:
            raise ParameterError(
                f"`classes` must be the negative and the positive label, got {quoted(self.classes)}",
                parameter="classes",
            )
        return classes[0], classes[1]

    def _check_trust(self) -> None:
        check_adjacency(known_adjacency(self.adjacency))
        if self.trust in (Central, Clear, Local):
            return
        reason = REFUSED.get(getattr(self.trust, "name", ""))
        if reason is not None:
            raise UnsupportedError(f"trust {self.trust.name} does not learn a ranking: {reason}; use Central or Local")
        raise ParameterError(
            f"`trust` must be the class Central, Local or Clear, got {quoted(self.trust)}", parameter="trust"
        )


_PARAMETERS = {
    name: parameter.default
    for name, parameter in inspect.signature(PairwiseRanker.__init__).parameters.items()
    if name != "self"
}
"""Parameters by name, with their defaults."""
