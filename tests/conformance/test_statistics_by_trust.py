"""Every statistic over every trust model, from the two lists: agrees with clear, or refuses."""

import dataclasses
import itertools
import re
from fractions import Fraction

import numpy as np
import pytest
from helpers.examples import EXAMPLES, numbers
from helpers.few_simulations import simulate_little
from helpers.scope import label, size

from ogive.errors import BudgetError, ParameterError, UnsupportedError
from ogive.noise import DerivedNodes, KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import Answer, LinearQuery
from ogive.releasing.release import release
from ogive.statistics import (
    STATISTICS,
    Ecdf,
    Quantiles,
    Ustatistic,
)
from ogive.statistics.boxplot.estimate import Boxplots
from ogive.statistics.ustatistic.estimate import UstatisticEstimate
from ogive.strategies import design_path, design_square_root
from ogive.trust import TRUST_MODELS, Clear, Local, Pairs, SecAgg, Servers, TrustModel
from ogive.trust.models import CentralOptions

SOURCE_KEY = bytes(range(32))
ADDING = (SecAgg, Servers)
GRANTS = (PureDP(1), ZeroConcentratedDP("0.5"), ApproxDP(1, "1e-6"))

CASES = [
    pytest.param(statistic, trust, id=f"{statistic.name}-{number}-{trust.name}")
    for kind in STATISTICS
    for number, statistic in enumerate(EXAMPLES[kind.name])
    for trust in TRUST_MODELS
    # these are chosen by who sees all records; that parties who only add up refuse is tested with each of them
    if not (
        trust in ADDING and getattr(statistic, "method", None) in ("five_numbers", "selected", "exponential", "joint")
    )
    # what owners do has noise that cannot be turned off; see test_local.py and test_pairs.py
    if trust not in (Local, Pairs)
]


# clear answers the truth itself, so `make test` asks it of one statistic, and every statistic of a model with noise
NEAR = [
    pytest.param(*case.values, id=case.id, marks=pytest.mark.everything if left else ())
    for case in CASES
    for left in [case.values[1] is Clear and case.values[0] is not EXAMPLES["ecdf"][0]]
]


def asked(statistic):
    """What counts as the same statistic: its kind, its method, and the form or kernel of it."""
    return statistic.name, *(label(getattr(statistic, name, None)) for name in ("method", "form", "kernel"))


def who_sees(trust):
    """What counts as the same model where all are compared with clear: those who see the records do alike."""
    return trust.name if trust in ADDING else "one who sees all records"


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    values = {"x": rng.gamma(4.0, 8.0, size=20_000), "p": rng.beta(1, 5, size=20_000)}
    values["y"] = (rng.random(20_000) < values["p"]).astype(int)
    return {**values, "z": values["y"] + rng.integers(0, 2, size=20_000)}


@pytest.fixture
def data(trust, table):
    """The table; a part of it where each record is uploaded by a client of its own, which takes long."""
    return {name: values[: size(4_000, part=2_000)] for name, values in table.items()} if trust is Servers else table


@pytest.fixture
def compared(statistic, trust, table, monkeypatch):
    """The table, or a part of it that clients upload in two batches, of which integers are compared one by one.

    Means over pairs are corrected for noise that they do not have here, by less than is seen where there are many.
    """
    if trust is not Servers:
        return table
    pairs = isinstance(statistic, Ustatistic)
    monkeypatch.setattr("ogive.trust.servers.model._CLIENTS", 1 << 11 if pairs else size(1 << 11, part=1 << 8))
    return {name: values[: 4_000 if pairs else size(4_000, part=400)] for name, values in table.items()}


@pytest.fixture(autouse=True)
def two_batches_and_few_simulations(monkeypatch):
    """Clients upload in two batches, as 20,000 would; what bands hold is tested with them."""
    monkeypatch.setattr("ogive.trust.servers.model._CLIENTS", size(1 << 11, part=1 << 10))
    monkeypatch.setattr("ogive.statistics.curve.bands.SIMULATED_VALUES", 300_000)
    simulate_little(monkeypatch)


def made(trust, table):
    """A trust model over the table; several parties hold unequal pieces of it."""
    if trust is not SecAgg:
        return trust(table)
    ends = (0, 500, 6_000, 13_000, 20_000)
    pieces = [{name: values[a:b] for name, values in table.items()} for a, b in itertools.pairwise(ends)]
    return trust(pieces)


class Silenced(TrustModel):
    """A trust model with its noise turned off, whose integers are compared with those of clear as they come back."""

    def __init__(self, trust, table):
        self._trust = made(trust, table)
        self._clear = Clear(table)
        self.name, self.private, self.options = trust.name, trust.private, self._trust.options
        self.compared = 0

    def unit(self, adjacency):
        return self._trust.unit(adjacency)

    def count(self):
        return self._trust.count()

    def resume(self, adjacency, *, secret):
        raise AssertionError("nothing is resumed here")

    def open(self, adjacency, *, source):
        opening = self._clear.open(adjacency, source=source)
        real, exactly = self._trust.open(adjacency, source=source), opening.answer

        def answer(query):
            exact = exactly(query)
            if not isinstance(query, LinearQuery):  # a selection's noise is not added to integers
                return dataclasses.replace(exact, noisy=True)
            found = real.answer(query)
            assert np.array_equal(found.values, exact.values)
            assert found.values.dtype == np.int64
            assert found.totals == exact.totals
            self.compared += 1
            return dataclasses.replace(found, noisy=True)

        opening.answer = answer
        return opening


@pytest.fixture
def no_noise(monkeypatch):
    """Noise of nodes is zero, whoever draws it."""
    monkeypatch.setattr(DerivedNodes, "values", lambda self, law, level, nodes: np.zeros(np.shape(nodes), np.int64))


def test_every_statistic_has_examples_and_a_name_of_its_own():
    assert sorted(EXAMPLES) == sorted(kind.name for kind in STATISTICS)
    assert len({trust.name for trust in TRUST_MODELS}) == len(TRUST_MODELS)


@pytest.mark.covering("trust", statistic=asked, trust=who_sees)
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize(("statistic", "trust"), CASES)
def test_agrees_with_clear_when_the_noise_is_off(statistic, trust, adjacency, compared, no_noise):
    data = compared
    records = len(data["x"])
    expected = release(statistic, trust=Clear(data), adjacency=adjacency)
    silenced = Silenced(trust, data)
    silent = release(statistic, trust=silenced, privacy=PureDP(1), adjacency=adjacency)
    assert silenced.compared > 0 or trust not in ADDING
    # smoothing expects noise, so quantiles read off a smoothed curve may move by one bin
    bin_width = 100 / 64
    near = bin_width if hasattr(silent, "numbers") else bin_width / 1000 if isinstance(silent, Boxplots) else 1e-6
    if isinstance(silent, UstatisticEstimate):
        near = 1e-9 + silent.quantization
        assert (silent.quantization > 0) == (silent.method == "cells" and silent.kernel in ("gini", "auc_private"))
    assert np.allclose(numbers(silent, records), numbers(expected, records), atol=near)


@pytest.mark.each_value(statistic=asked, trust="name")
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("privacy", GRANTS, ids=lambda grant: type(grant).__name__)
@pytest.mark.parametrize(("statistic", "trust"), NEAR)
def test_answers_near_the_truth_and_states_its_terms(statistic, trust, privacy, adjacency, data):
    terms = {
        "trust": made(trust, data),
        "privacy": privacy,
        "adjacency": adjacency,
        "source": KeyedSource(SOURCE_KEY),
    }
    estimate = release(statistic, **terms)
    records = len(data["x"])
    truth = numbers(release(statistic, trust=Clear(data), adjacency=adjacency), records)
    spread = np.abs(numbers(estimate, records) - truth).max()
    assert spread <= (6.0 if hasattr(estimate, "numbers") else 400 / records)
    provenance = estimate.provenance
    assert provenance.trust == trust.name
    assumption = terms["trust"].assumption
    sent = re.search(r" Uploaded .*?\.(?= What is assumed)", provenance.assumption)
    assert bool(sent) == (provenance.trust == "servers")
    assert assumption == (provenance.assumption.replace(sent[0], "") if sent else provenance.assumption)
    assert provenance.adjacency is adjacency
    assert provenance.privacy == (privacy if trust.private else None)
    assert (provenance.total == records) == (adjacency is Adjacency.REPLACE)


@pytest.mark.each_value(statistic=asked, trust="name")
@pytest.mark.parametrize(("statistic", "trust"), [case for case in CASES if case.values[1].private])
def test_the_same_source_gives_the_same_release_and_another_source_another(statistic, trust, table, monkeypatch):
    monkeypatch.setattr("ogive.trust.servers.model._CLIENTS", 1 << 8)
    data = {name: values[:400] for name, values in table.items()} if trust is Servers else table
    little = PureDP(Fraction(200, len(data["x"])))

    def run(key):
        return numbers(release(statistic, trust=made(trust, data), privacy=little, source=KeyedSource(key)))

    first = run(SOURCE_KEY)
    assert np.array_equal(first, run(SOURCE_KEY))
    # quantiles are edges of bins, so two sources may agree by chance
    assert any(not np.array_equal(first, run(bytes([other]) * 32)) for other in range(4))


@pytest.mark.parametrize(("statistic", "trust"), [case for case in CASES if case.values[1].private])
def test_privacy_is_never_guessed(statistic, trust, data):
    with pytest.raises(ParameterError, match="give a privacy guarantee"):
        release(statistic, trust=made(trust, data))
    with pytest.raises(ParameterError, match="privacy must be PureDP"):
        release(statistic, trust=made(trust, data), privacy=1.0)
    with pytest.raises(ParameterError, match="adjacency must be"):
        release(statistic, trust=made(trust, data), privacy=PureDP(1), adjacency="event")


def test_what_is_no_trust_model_source_column_or_method_is_refused_in_one_line(table):
    statistic = Ecdf("x", (0, 100), bins=64)
    with pytest.raises(ParameterError, match="trust must be a trust model"):
        release(statistic, trust=table["x"], privacy=PureDP(1))
    with pytest.raises(ParameterError, match="source must be a random source"):
        release(statistic, trust=Clear(table), source=3)
    for arguments, message in (
        ({"column": 0}, "column must be"),
        ({"method": 3}, "method must be"),
        ({"bounds": 5}, "say which values"),
        ({"smooth": "magic"}, "smooth must be"),
    ):
        with pytest.raises(ParameterError, match=message):
            Ecdf(**{"column": "x", "bounds": (0, 100), **arguments})


def test_a_smoothing_that_no_method_offers_is_refused_before_anything_is_asked(table):
    trust = CountingTrust(table)
    statistic = Ecdf("x", (0, 100), bins=64, method="sqrt", smooth="least_absolute")
    with pytest.raises(UnsupportedError, match="not offered for sqrt"):
        release(statistic, trust=trust, privacy=ZeroConcentratedDP(1))
    assert trust.asked == 0
    by_hand = design_square_root(64, privacy=ZeroConcentratedDP(1), adjacency=Adjacency.REPLACE)
    with pytest.raises(ParameterError, match="not offered for sqrt"):
        Ecdf("x", (0, 100), bins=64, method=by_hand, smooth="least_absolute")
    chosen = Ecdf("x", (0, 100), bins=64, smooth="least_absolute")
    assert release(chosen, trust=trust, privacy=ZeroConcentratedDP(1)).strategy.name != "sqrt"


def test_a_solver_that_gives_up_loses_nothing_that_was_paid_for(table, monkeypatch):
    def give_up(strategy, answer, *, total, kind):
        if kind != "isotonic":
            raise ArithmeticError("did not converge")
        return strategy.estimate(answer, total)

    monkeypatch.setattr("ogive.statistics.methods.base.smooth", give_up)
    curve = release(Ecdf("x", (0, 100), bins=64, smooth="least_squares"), trust=CountingTrust(table), privacy=PureDP(1))
    assert curve.smoothing == "isotonic"


@dataclasses.dataclass(frozen=True)
class CountingOptions(CentralOptions):
    """Of a model that refuses everything or nothing."""

    name = "counting"
    refuses: str | None = None

    def refusal(self, query):
        return self.refuses


class CountingTrust(TrustModel):
    """A trust model that counts how often it was asked."""

    options_type = CountingOptions

    def __init__(self, table, refuses=None):
        self._clear = Clear(table)
        self.options = CountingOptions(refuses)
        self.asked = 0

    def unit(self, adjacency):
        return PrivacyUnit(adjacency)

    def count(self):
        return self._clear.count()

    def resume(self, adjacency, *, secret):
        raise AssertionError("nothing is resumed here")

    def open(self, adjacency, *, source):
        opening = self._clear.open(adjacency, source=source)
        answer = opening.answer

        def count(query) -> Answer:
            self.asked += 1
            return dataclasses.replace(answer(query), noisy=True)

        opening.answer = count
        return opening


def test_a_statistic_that_would_overspend_is_stopped_before_anything_is_asked(table):
    trust = CountingTrust(table)
    costly = Ecdf("x", (0, 100), bins=64, method=design_path(64, privacy=PureDP(2), adjacency=Adjacency.REPLACE))
    with pytest.raises(BudgetError, match=r"would cost epsilon = 2, more than the privacy guarantee epsilon = 1"):
        release(costly, trust=trust, privacy=PureDP(1))
    assert trust.asked == 0
    release(costly, trust=trust, privacy=PureDP(2))
    assert trust.asked == 1


def test_a_strategy_designed_for_the_other_adjacency_is_priced_for_this_one(table):
    half = design_path(64, privacy=PureDP(1), adjacency=Adjacency.ADD_OR_REMOVE)
    with pytest.raises(BudgetError):
        release(Ecdf("x", (0, 100), bins=64, method=half), trust=Clear(table), privacy=PureDP(1))


def test_a_bisection_is_priced_once_however_often_it_asks(table):
    trust = CountingTrust(table)
    statistic = Quantiles("x", (0.1, 0.5, 0.9), bounds=(0, 100), bins=64, method="bisection")
    estimate = release(statistic, trust=trust, privacy=PureDP(1))
    assert trust.asked > 3
    assert estimate.provenance.price == PureDP(1)


def test_a_trust_model_that_cannot_answer_says_what_would_work(table):
    trust = CountingTrust(table, refuses="this model answers nothing; use central")
    with pytest.raises(UnsupportedError, match="use central"):
        release(Ecdf("x", (0, 100), bins=64), trust=trust, privacy=PureDP(1))
    assert trust.asked == 0


def test_dropping_missing_values_needs_a_private_number_of_records():
    table = {"x": np.array([1.0, np.nan, 3.0])}
    statistic = Ecdf("x", (0, 4), bins=4, missing="drop")
    with pytest.raises(ParameterError, match="missing='drop' would publish"):
        release(statistic, trust=Clear(table))
    curve = release(statistic, trust=Clear(table), adjacency=Adjacency.ADD_OR_REMOVE)
    assert curve(2) == 0.5
