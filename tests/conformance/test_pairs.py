"""Pairs of people: their means agree with the exact answer within what they state, and all else is refused."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from helpers.declared import public_of
from helpers.examples import NEW, example_of

import ogive
from ogive.columns import Binning, Domain
from ogive.columns.grids import Grid
from ogive.crypto.circuits.arithmetic import absolute_difference, less
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.kernels import measure_of
from ogive.noise import KeyedSource
from ogive.pate import LargestMargins
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import Ballots, PairsQuery, RowValues
from ogive.releasing.release import release
from ogive.statistics import (
    Bounds,
    Boxplot,
    Count,
    Crosstab,
    Describe,
    Ecdf,
    GroupAuc,
    Grouped,
    Histogram,
    HosmerLemeshow,
    Labels,
    Mean,
    Proportion,
    Quantiles,
    Roc,
    Sum,
    Ustatistic,
)
from ogive.statistics.kinds import KINDS
from ogive.statistics.ustatistic.pairs import Paired
from ogive.trust import Clear, Pairs, SecAgg, Servers

N = 4_000
RNG = np.random.default_rng(5)
LABELS = (RNG.random(N) < 0.4).astype(int)
TABLE = {
    "x": RNG.beta(2, 5, size=N),
    "y": LABELS,
    "s": np.clip(RNG.normal(0.4 + 0.2 * LABELS, 0.2), 0, 1),
    "a": RNG.integers(1, 5, size=N),
}
TABLE["b"] = np.clip(TABLE["a"] + RNG.integers(-1, 2, size=N), 1, 5)
GINI = Ustatistic("x", "gini", bounds=(0, 1))
TAU = Ustatistic(("a", "b"), "kendall", categories=(1, 2, 3, 4, 5))
AUC = Ustatistic(("s", "y"), "auc", bounds=(0, 1), public_labels=True)
ASKED = [
    GINI,
    Ustatistic("x", "variance", bounds=(0, 1)),
    Ustatistic("x", "gini_coefficient", bounds=(0, 1)),
    Ustatistic("a", "collision", categories=(1, 2, 3, 4, 5)),
    TAU,
    Ustatistic(("a", "b"), "kendall_b", categories=(1, 2, 3, 4, 5)),
    Ustatistic(("a", "b"), "gamma", bounds=(1, 5), grid="integers"),
    AUC,
    dataclasses.replace(AUC, public_labels=False),
]
METHODS = [
    Paired(),
    Paired(rounds=3),
    Paired(rounds=2, design="permutations"),
    Paired(rounds=2, noise="laplace"),
    Paired(rounds=3, design="independent"),
]
CASES = [
    pytest.param(dataclasses.replace(asked, method=method), id=f"{asked.measure.name}-{number}")
    for asked in ASKED
    for number, method in enumerate(METHODS)
    if not (asked is AUC and method.design == "independent")
]
REFUSED = [
    Ecdf("x", (0, 1), bins=64),
    Quantiles("x", (0.5,), bounds=(0, 1), bins=64),
    Boxplot("x", (0, 1), bins=16),
    Roc("s", "y", (0, 1), bins=16),
    HosmerLemeshow("x", "y", bins=16, groups=4),
    Grouped(Ecdf("x", (0, 1), bins=64), "y", (0, 1)),
    Bounds("x"),
    Mean("x", (0, 1)),
    Sum("x", (0, 1)),
    Proportion("y"),
    Count("y", among=1),
    Histogram("y", values=(0, 1)),
    Crosstab("y", "x", rows=(0, 1), columns=(0, 1)),
    Describe(("x",), bounds={"x": (0, 1)}),
    GroupAuc("s", "y", "a", (0, 1), bins=16, group_values=(1, 2, 3, 4)),
    Labels(LargestMargins(None, keep=1), Ballots(("y",), classes=2)),
    *(example_of(kind) for kind in NEW if not kind.people),
]


def released(statistic, privacy, key=bytes(32), **options):
    model = Pairs(TABLE, **{"circuits": "clear", **options})
    return release(statistic, trust=model, privacy=privacy, public=public_of(statistic), source=KeyedSource(key))


@pytest.mark.one_in(3)  # of five methods, so that each is met
@pytest.mark.parametrize("statistic", CASES)
def test_is_within_five_standard_errors_of_the_exact_value(statistic):
    truth = release(dataclasses.replace(statistic, method="auto"), trust=Clear(TABLE))
    found = released(statistic, ApproxDP(20, "1e-9"))
    assert found.method == "paired"
    assert found.provenance.trust == "pairs"
    assert abs(found.value - truth.value) <= 5 * found.standard_error + found.quantization
    assert found.standard_error < 0.3 * (found.limits[1] - found.limits[0]), "an error that says nothing was not tried"


def test_every_other_statistic_is_refused_in_one_line_that_says_what_works():
    assert {each.name for each in REFUSED} == {kind.name for kind in KINDS if not kind.people}
    for statistic in REFUSED:
        with pytest.raises(UnsupportedError) as caught:
            released(statistic, PureDP(1))
        assert "\n" not in str(caught.value)
        assert "pairs of people answer ustatistic alone" in str(caught.value)


def test_others_do_not_answer_for_pairs_of_people():
    asked = dataclasses.replace(GINI, method="paired")
    pieces = [{"x": TABLE["x"][:2000]}, {"x": TABLE["x"][2000:]}]
    for model in (ogive.Central(TABLE), SecAgg(pieces), Servers(TABLE), ogive.Clear(TABLE)):
        if model.private:
            with pytest.raises(UnsupportedError, match="pairs of people compute between themselves; use trust pairs"):
                release(asked, trust=model, privacy=PureDP(1))
    with pytest.raises(UnsupportedError, match="use trust pairs"):
        release(asked, trust=ogive.Local(TABLE), privacy=PureDP(1))


def test_garbled_circuits_say_what_the_circuits_say_in_the_clear():
    few = {name: values[:600] for name, values in TABLE.items()}
    for statistic in (GINI, TAU, AUC, dataclasses.replace(GINI, method=Paired(noise="laplace"))):
        found = [
            release(
                statistic,
                trust=Pairs(few, circuits=circuits),
                privacy=ApproxDP(2, "1e-9"),
                public=public_of(statistic),
                source=KeyedSource(bytes(range(32))),
            )
            for circuits in ("garbled", "clear")
        ]
        assert found[0].value == found[1].value
        assert found[0].standard_error == found[1].standard_error


def test_a_function_with_a_circuit_of_its_own_is_released():
    def apart(x, y):
        return less(x.bits[0].builder.constant(1 << (x.width - 3), x.width), absolute_difference(x, y))

    mine = measure_of(lambda x, y: abs(x - y) > 0.25, range=(0, 1), name="far apart", circuit=apart)
    asked = Ustatistic("x", mine, bounds=(0, 1))
    truth = release(asked, trust=Clear(TABLE)).value
    for method in (Paired(rounds=2), Paired(noise="laplace")):
        found = released(dataclasses.replace(asked, method=method), ApproxDP(8, "1e-9"))
        assert abs(found.value - truth) < 5 * found.standard_error
        assert found.standard_error < 0.05
    other = measure_of(lambda x, y: abs(x - y) > 0.75, range=(0, 1), name="far apart", circuit=apart)
    with pytest.raises(ParameterError, match="the circuit of far apart says 1 where the function says 0"):
        released(dataclasses.replace(asked, kernel=other), PureDP(1))


def test_long_work_tells_how_far_it_is():
    told = []
    model = ogive.Simulation(Pairs, circuits="clear").telling(lambda done, whole: told.append((done, whole)))
    several = dataclasses.replace(TAU, method=Paired(rounds=9, design="independent"))
    release(several, trust=model.over(TABLE), privacy=PureDP(1))
    assert told == sorted(set(told))
    assert told[-1] == (9 * N // 2, 9 * N // 2)
    assert len(told) > 2


def test_the_same_source_gives_the_same_release_and_another_source_another():
    first = released(TAU, PureDP(1))
    assert first.value == released(TAU, PureDP(1)).value
    assert first.value != released(TAU, PureDP(1), key=bytes(31) + b"1").value


def test_a_release_that_was_cut_off_goes_on_with_the_same_pairs(tmp_path, monkeypatch):
    def account():
        ledger = ogive.Ledger.open(tmp_path / "books.db")
        return ledger.account("people", unit=PrivacyUnit(Adjacency.REPLACE), limit=PureDP(1))

    class KilledError(Exception):
        pass

    import ogive.trust.pairs as module

    real = module.PairsOpening.answer
    seen = []

    def cut_off(self, query):
        seen.append(real(self, query).values)
        raise KilledError

    model = Pairs(TABLE, circuits="clear")
    monkeypatch.setattr(module.PairsOpening, "answer", cut_off)
    with pytest.raises(KilledError):
        release(TAU, trust=model, privacy=PureDP(1), ledger=account())
    monkeypatch.setattr(
        module.PairsOpening, "answer", lambda self, query: (seen.append(real(self, query).values), real(self, query))[1]
    )
    estimate = release(TAU, trust=model, privacy=PureDP(1), ledger=account())
    assert np.array_equal(seen[0], seen[1])
    assert release(TAU, trust=model, privacy=PureDP(1), ledger=account()).value == estimate.value
    with pytest.raises(ogive.BudgetError):
        release(GINI, trust=model, privacy=PureDP(1), ledger=account())


def test_people_who_do_not_come_cost_only_their_pairs():
    truth = release(TAU, trust=Clear(TABLE)).value
    found = released(TAU, PureDP(8), absent=0.4)
    whole = released(TAU, PureDP(8))
    assert found.records == whole.records == N
    assert abs(found.value - truth) < 5 * found.standard_error
    assert 1.1 < found.standard_error / whole.standard_error < 1.6  # about 1 / sqrt(0.6)
    with pytest.raises(ParameterError, match="no pair is left"):
        release(
            TAU,
            trust=Pairs({"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]}, absent=0.999),
            privacy=PureDP(1),
            source=KeyedSource(bytes(32)),
        )


def account_of(tmp_path, limit, public=()):
    ledger = ogive.Ledger.open(tmp_path / "books.db")
    return ledger.account("people", unit=PrivacyUnit(Adjacency.REPLACE, public=public), limit=limit)


FEW = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


@pytest.mark.parametrize(
    ("statistic", "labels", "absent", "message"),
    [
        (AUC, [0] * 6, 0.0, "one class is empty"),
        (AUC, [1, 0, 0, 0, 0, 0], 0.0, "only one pair came about"),
        (
            dataclasses.replace(AUC, method=Paired(rounds=3)),
            [1, 0, 0, 0, 0, 0],
            0.0,
            "have a person in common",
        ),
        (dataclasses.replace(AUC, method=Paired(rounds=5)), [0, 1] * 3, 0.0, "people would meet twice"),
        (Ustatistic("s", "gini", bounds=(0, 1)), [0] * 6, 0.999, "no pair is left"),
    ],
)
def test_people_who_cannot_tell_an_error_are_refused_before_anything_is_spent(
    tmp_path, statistic, labels, absent, message
):
    model = Pairs({"s": FEW, "y": labels}, circuits="clear", absent=absent)
    account = account_of(tmp_path, PureDP(1), public_of(statistic))
    with pytest.raises((DataError, ParameterError), match=message):
        release(statistic, trust=model, privacy=PureDP(1), ledger=account)
    assert account_of(tmp_path, PureDP(1), public_of(statistic)).spent is None


def test_noise_that_somebody_in_many_pairs_could_not_draw_is_refused_before_anything_is_spent(tmp_path):
    grant = ApproxDP("0.01", "1e-30")
    asked = dataclasses.replace(GINI, method=Paired(rounds=2, design="independent", noise="laplace"))
    with pytest.raises(UnsupportedError, match="cannot be drawn precisely enough"):
        release(asked, trust=Pairs(TABLE, circuits="clear"), privacy=grant, ledger=account_of(tmp_path, grant))
    assert account_of(tmp_path, grant).spent is None


def test_other_pairs_of_the_same_people_never_have_the_same_noise():
    columns = tuple(Binning(name, Grid.linear(0.0, 1.0, bins=2)) for name in ("x",))
    asked = PairsQuery(
        RowValues(Domain(columns)),
        measure_of("gini"),
        False,
        Fraction(1),
        Fraction(0),
        "round_robin",
        1,
        "response",
        16,
    )

    def context(absent):
        return Pairs(TABLE, circuits="clear", absent=absent).resume(Adjacency.REPLACE, secret=bytes(32)).context(asked)

    assert context(0.3) == context(0.3)
    assert len({context(0.0), context(0.3), context(0.31)}) == 3


@pytest.mark.parametrize(
    ("privacy", "price"),
    [(PureDP(1), PureDP), (ApproxDP(1, "1e-6"), PureDP), (ZeroConcentratedDP("0.5"), PureDP)],
)
def test_randomized_responses_are_pure_whatever_is_granted(privacy, price):
    assert isinstance(released(GINI, privacy).provenance.price, price)


def test_laplace_noise_states_the_delta_of_its_truncation():
    asked = dataclasses.replace(GINI, method=Paired(noise="laplace", rounds=2))
    found = released(asked, ApproxDP(1, "1e-6"))
    price = found.provenance.price
    assert isinstance(price, ApproxDP)
    assert 0 < price.delta <= ApproxDP(1, "1e-6").delta
    assert 0.999999 < price.epsilon <= 1
    for privacy in (PureDP(1), ZeroConcentratedDP(1)):
        with pytest.raises(UnsupportedError, match="cut off far out, which requires a delta"):
            released(asked, privacy)


def test_what_does_not_fit_is_refused_before_anything_is_asked():
    with pytest.raises(ParameterError, match="the number of records cannot be private"):
        release(GINI, trust=Pairs(TABLE), privacy=PureDP(1), adjacency=Adjacency.ADD_OR_REMOVE)
    for options, message in (
        ({"circuits": "open"}, "circuits must be garbled or clear, got 'open'"),
        ({"absent": 1}, "absent must be a share from 0 to less than 1, got 1"),
        ({"absent": float("nan")}, "absent must be a share"),
    ):
        with pytest.raises(ParameterError, match=message):
            Pairs(TABLE, **options)
    for options, message in (
        ({"rounds": 0}, "rounds must be auto or a whole number of at least 1"),
        ({"rounds": True}, "rounds must be auto"),
        ({"design": "tournament"}, "design must be one of round_robin, permutations, independent"),
        ({"noise": "gauss"}, "noise must be one of auto, response, laplace"),
        ({"bits": 31}, "bits must be a whole number from 1 to 30"),
    ):
        with pytest.raises(ParameterError, match=message):
            Paired(**options)
    with pytest.raises(ParameterError, match="at least 4 of them, got 3"):
        release(GINI, trust=Pairs({"x": [0.1, 0.2, 0.3]}), privacy=PureDP(1))
    five = {"x": [0.1, 0.2, 0.3, 0.4, 0.5]}
    with pytest.raises(ParameterError, match="can meet in at most 5 rounds, got 9"):
        release(dataclasses.replace(GINI, method=Paired(rounds=9)), trust=Pairs(five), privacy=PureDP(1))
    with pytest.raises(ParameterError, match="independent pairs are of any two people"):
        released(dataclasses.replace(AUC, method=Paired(design="independent")), PureDP(1))
    with pytest.raises(UnsupportedError, match="there is no circuit of"):
        released(Ustatistic("x", measure_of(lambda a, b: abs(a - b), range=(0, 1)), bounds=(0, 1)), PureDP(1))
    surface = Ustatistic(("s", "a"), "vus", bounds={"s": (0, 1)}, categories={"a": (1, 2, 3, 4)})
    with pytest.raises(ParameterError, match="method paired is for pairs of records"):
        released(surface, PureDP(1))


def test_plain_data_of_a_method_by_hand_comes_back():
    asked = dataclasses.replace(GINI, method=Paired(rounds=3, design="permutations", noise="laplace", bits=12))
    assert Ustatistic.from_dict(asked.to_dict()).method == asked.method
    assert dataclasses.replace(GINI, method=Paired()).method == "paired"
    for damaged in ({"name": "paired"}, {**Paired().to_dict(), "rounds": -1}):
        with pytest.raises(ParameterError):
            Paired.from_dict(damaged)


def test_a_few_pairs_that_all_say_the_same_still_have_the_error_of_their_noise():
    gini = Ustatistic("x", "gini", bounds=(0, 1), method=Paired(noise="response"))
    trust = Pairs({"x": np.linspace(0, 1, 6)}, circuits="clear")
    found = [release(gini, trust=trust, privacy=PureDP(2), source=KeyedSource(bytes([key]) * 32)) for key in range(20)]
    noise = np.exp(2) / (np.exp(2) - 1) ** 2 / 3  # of the mean of three answered bits
    highest, lowest = 0.5 + 0.5 / np.tanh(1), 0.5 - 0.5 / np.tanh(1)
    same = [each for each in found if np.isclose(each.value, lowest) or np.isclose(each.value, highest)]
    assert same
    assert len(same) < len(found)
    assert all(np.isclose(each.randomization_error, noise**0.5) for each in same)
    assert all(each.randomization_error >= 0.999 * noise**0.5 for each in found)
