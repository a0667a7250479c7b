"""Means over triples as released: by a curator and from reports, with errors that hold, and what is refused."""

import dataclasses
import math

import numpy as np
import pytest

import ogive
from ogive.columns import Binning, Categories, Domain
from ogive.columns.grids import Grid
from ogive.errors import DataError, OgiveError
from ogive.kernels import Mean, TripleTable
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PureDP
from ogive.releasing.release import release
from ogive.statistics import Ustatistic
from ogive.statistics.ustatistic.estimate import UstatisticEstimate
from ogive.trust import Central, Clear, Local, Pairs, SecAgg

RNG = np.random.default_rng(4)
PARTIES = ("red", "green", "blue", "grey")
TABLE = {
    "party": RNG.choice(PARTIES, size=3_000, p=(0.4, 0.3, 0.2, 0.1)),
    "wait": RNG.gamma(2, 1, size=3_000).clip(0, 8),
}
PARTY = Categories("party", PARTIES)
WAIT = Binning("wait", Grid.linear(0, 8, bins=8))
DIFFER = Ustatistic(PARTY, Mean(TripleTable.of(PARTY, lambda x, y, z: len({x, y, z}) == 3), "three parties"))
SKEWED = Ustatistic(WAIT, TripleTable.of(WAIT, lambda x, y, z: np.sign(x + y - 2 * z)))


def released(statistic, trust, privacy, key=0, **how):
    return release(statistic, trust=trust, privacy=privacy, source=KeyedSource(bytes([key] * 32)), **how)


@pytest.mark.parametrize("statistic", [DIFFER, SKEWED], ids=["categories", "bins"])
def test_the_exact_value_is_the_mean_over_triples(statistic):
    found = release(statistic, trust=Clear(TABLE))
    column = statistic.columns
    values = TABLE[column.column]
    symbols = column.symbols(values) if column is WAIT else np.array([PARTIES.index(each) for each in values])
    shares = np.bincount(symbols) / len(values)
    table = statistic.measure.kernels[0].table
    with_repeats = np.einsum("abc,a,b,c", table, shares, shares, shares)
    assert found.value == pytest.approx(with_repeats, abs=3 / len(values))
    assert (found.method, found.records, found.quantization) == ("exact", 3_000, 0)


@pytest.mark.each_value
@pytest.mark.parametrize("privacy", [PureDP(1), ApproxDP(1, 1e-6)], ids=["pure", "approximate"])
@pytest.mark.parametrize("statistic", [DIFFER, SKEWED], ids=["categories", "bins"])
def test_a_curator_s_noise_is_three_swings_over_the_number_of_records(statistic, privacy):
    exact = release(statistic, trust=Clear(TABLE)).value
    found = [released(statistic, Central(TABLE), privacy, key) for key in range(60)]
    kernel = statistic.measure.kernels[0]
    scale = kernel.scale(Domain((statistic.columns,)), 30)
    expected = math.sqrt(2) * 3 * float(scale.unit * scale.swing) / 3_000
    assert {each.method for each in found} == {"kernel"}
    assert found[0].randomization_error == pytest.approx(expected, rel=1e-3)
    ratios = np.array([(each.value - exact) / each.randomization_error for each in found])
    assert abs(ratios.mean()) < 5 / math.sqrt(60)
    assert 0.3 < np.mean(ratios**2) < 2.2
    assert not 0.3 < np.mean((ratios * 3) ** 2) < 2.2, "control"


@pytest.mark.each_value
@pytest.mark.parametrize("statistic", [DIFFER, SKEWED], ids=["categories", "bins"])
@pytest.mark.parametrize("epsilon", [1, 3])
def test_the_stated_errors_of_reports_hold(statistic, epsilon):
    exact = release(statistic, trust=Clear(TABLE)).value
    found = [released(statistic, Local(TABLE), PureDP(epsilon), key) for key in range(60)]
    assert {each.method for each in found} == {"krr"}
    ratios = np.array([(each.value - exact) / each.randomization_error for each in found])
    assert abs(ratios.mean()) < 5 / math.sqrt(60)
    assert 0.4 < np.mean(ratios**2) < 1.9
    assert not 0.4 < np.mean((ratios * 2.2) ** 2) < 1.9, "control"
    inside = [low <= exact <= high for low, high in (each.interval(target="sample") for each in found)]
    assert np.mean(inside) > 0.85


def test_samples_of_one_population_vary_as_the_sampling_error_says():
    """The distance of exact means from that of the population, over what reports estimate of it."""
    shares, table = np.array([0.4, 0.3, 0.2, 0.1]), DIFFER.measure.kernels[0].table
    population = float(np.einsum("abc,a,b,c", table, shares, shares, shares))
    ratios = []
    for key in range(60):
        drawn = {"party": np.random.default_rng(key).choice(PARTIES, size=400, p=shares)}
        whole = released(DIFFER, Local(drawn), PureDP(5), key)
        assert whole.sampling_error is not None
        ratios.append((release(DIFFER, trust=Clear(drawn)).value - population) / whole.sampling_error)
    assert 0.4 < np.mean(np.square(ratios)) < 1.9


@pytest.mark.parametrize(
    ("trust", "how", "message"),
    [
        (Pairs(TABLE), {}, "method paired is for pairs of records, and three parties looks at three"),
        (
            SecAgg([{"party": part} for part in np.split(TABLE["party"], 3)]),
            {},
            "ustatistic needs all records in one place",
        ),
        (Central(TABLE), {"method": "cells"}, "method cells is for pairs of records"),
        (Central(TABLE), {"adjacency": Adjacency.ADD_OR_REMOVE}, "a mean over triples depends on the number of rec"),
        (Local(TABLE), {"method": "haar"}, "read off responses of krr only"),
        (Local(TABLE), {"method": "unary"}, "read off responses of krr only"),
        (Local(TABLE), {"method": "hierarchy"}, "hierarchy is for an AUC"),
        (Local(TABLE), {"rounding": "randomized"}, "rounds nothing at random"),
    ],
    ids=["pairs", "secagg", "cells", "private_number", "haar", "unary", "hierarchy", "rounding"],
)
def test_what_is_not_built_is_refused_by_name(trust, how, message):
    given = {name: value for name, value in how.items() if name != "adjacency"}
    asked = dataclasses.replace(DIFFER, **given)
    with pytest.raises(OgiveError, match=message):
        released(asked, trust, PureDP(1), **({"adjacency": how["adjacency"]} if "adjacency" in how else {}))


def test_two_records_make_no_triple():
    small = {"party": np.array(["red", "blue"])}
    for trust in (Clear(small), Central(small), Local(small)):
        with pytest.raises(DataError, match=r"at least (three records|3 reports), got 2"):
            release(DIFFER, trust=trust, **({} if isinstance(trust, Clear) else {"privacy": PureDP(1)}))


def test_a_statistic_and_its_estimate_are_plain_data():
    for statistic in (DIFFER, SKEWED):
        assert Ustatistic.from_dict(statistic.to_dict()).measure.kernels == statistic.measure.kernels
        found = released(statistic, Local(TABLE), PureDP(2))
        assert UstatisticEstimate.from_json(found.to_json()).value == found.value
        assert statistic.measure.name in str(found)


def test_the_report_speaks_of_triples():
    found = released(DIFFER, Central(TABLE), PureDP(1))
    assert "about triples of records" in " ".join(map(str, found.view().chapter().released))


def test_a_plan_predicts_the_errors():
    for trust, privacy in ((Central, PureDP(1)), (Local, PureDP(3))):
        planned = ogive.plan(DIFFER, records=3_000, privacy=privacy, trust=trust)
        assert "krr" in str(planned) if trust is Local else "kernel" in str(planned)
