"""Bounds found privately: what they promise, against exact tails, simulation and controls that must fail."""

import dataclasses
import itertools
import json
import math
from fractions import Fraction
from importlib.resources import files

import jsonschema
import mpmath
import numpy as np
import pytest
import referencing
from helpers.scope import size as runs_of
from scipy import stats

import ogive
from ogive.errors import DataError, OgiveError, ParameterError, ScaleError
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import CurveQuery
from ogive.records import Records
from ogive.releasing.release import release
from ogive.statistics import Bounds, Terms
from ogive.statistics.bounds.estimate import (
    AT_BOTH_ENDS,
    BoundsEstimate,
    extended,
    needed_beside,
    reach,
    sum_reach,
    tail,
)
from ogive.statistics.bounds.statistic import flat_strategy
from ogive.statistics.kinds import read_estimate
from ogive.strategies import LeastSquaresTree
from ogive.trust import Central, Clear

SCHEMAS = [
    json.loads((files("ogive") / "schemas" / name).read_text())
    for name in ("bounds-1.schema.json", "curve-1.schema.json")
]
VALIDATOR = jsonschema.Draft202012Validator(
    SCHEMAS[0],
    registry=referencing.Registry().with_resources(
        (schema["$id"], referencing.Resource.from_contents(schema)) for schema in SCHEMAS
    ),
)
LAWS = [DiscreteLaplace(scale) for scale in ("1/8", 2, 20, 4096)] + [
    DiscreteGaussian(s) for s in ("1/8", 2, 20, 63, 64)
]


def exact_tail(law, start):
    """P(Z >= start) in 40 digits, from the definition of the law."""
    with mpmath.workdps(40):
        if isinstance(law, DiscreteLaplace):
            rate = mpmath.mpf(law.scale.denominator) / law.scale.numerator
            return mpmath.exp(-start * rate) / (1 + mpmath.exp(-rate))
        sigma = mpmath.mpf(law.sigma.numerator) / law.sigma.denominator
        far = int(30 * sigma) + 30
        weights = [mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * sigma**2)) for k in range(far)]
        return sum(weights[start:], mpmath.mpf(0)) / (2 * sum(weights) - 1)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_tails_are_exact_and_never_too_small(law):
    spread = max(1, round(math.sqrt(law.variance)))
    for start in (1, spread, 3 * spread, 6 * spread):
        exact = exact_tail(law, start)
        found = tail(law, start)
        assert found >= exact * (1 - mpmath.mpf(10) ** -12) or exact < 1e-300
        large = isinstance(law, DiscreteGaussian) and law.sigma >= 64
        assert found <= exact * (1.15 if large else 1 + 1e-8) + 1e-300


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize(("size", "chance"), [(1, 0.5), (170, 0.01), (4096, 1e-6)])
def test_the_threshold_is_the_smallest_that_keeps_its_promise(law, size, chance):
    threshold = reach(law, size, chance)
    passes = 1 - (1 - exact_tail(law, threshold)) ** size
    assert passes <= chance
    if isinstance(law, DiscreteGaussian) and law.sigma >= 64:
        threshold -= 1 + threshold // 200
    if threshold > 1:
        assert 1 - (1 - exact_tail(law, threshold - 1)) ** size > chance


@pytest.mark.parametrize("law", [DiscreteLaplace(2), DiscreteLaplace("1/8"), DiscreteGaussian(3)], ids=str)
@pytest.mark.parametrize("terms", [1, 5, 60])
def test_sums_of_noise_stay_within_their_reach(law, terms):
    """200 000 sums (or 20 000) at chance 0.01, level 1e-6; the control is a reach half as long."""
    draws = (
        law.sample(runs_of(200_000, part=20_000) * terms, source=KeyedSource(bytes(32))).reshape(-1, terms).sum(axis=1)
    )
    far = sum_reach(law, terms, 0.01)
    beyond = int((draws > far).sum())
    assert stats.binomtest(beyond, len(draws), 0.01, alternative="greater").pvalue > 1e-6
    if far > 2:
        control = int((draws > far / 2).sum())
        assert stats.binomtest(control, len(draws), 0.01, alternative="greater").pvalue < 1e-6
    assert sum_reach(law, 0, 0.01) == 0


def false_alarms(lower, key=1):
    """How often some bin of a table without records in it passes a threshold lowered by `lower`."""
    trials = runs_of(1_500, part=150)
    statistic = Bounds("x", base=16, false_alarm=0.05)
    trust = Central({"x": np.full(400, 3.0)})
    rng = np.random.default_rng(key)
    alarms = 0
    for _ in range(trials):
        found = release(statistic, trust=trust, privacy=PureDP(1), source=KeyedSource(rng.bytes(32)))
        passed = np.array(found.counts) >= found.threshold - lower
        empty = found.grid.bin_of(np.array([3.0]))[0]
        alarms += bool(np.delete(passed, empty).any())
    return alarms, trials


def test_bins_without_records_pass_as_rarely_as_promised():
    """1500 releases (or 150) at 0.05, level 1e-6; a threshold lower by three must fail."""
    alarms, trials = false_alarms(0)
    assert stats.binomtest(alarms, trials, 0.05, alternative="greater").pvalue > 1e-6
    assert stats.binomtest(alarms, trials, 0.02, alternative="less").pvalue > 1e-6  # nor is it wasteful
    control, trials = false_alarms(3)
    assert stats.binomtest(control, trials, 0.05, alternative="greater").pvalue < 1e-6


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("privacy", [PureDP("0.2"), ZeroConcentratedDP("0.02")], ids=["pure", "zcdp"])
def test_the_records_outside_are_as_few_as_promised(privacy, adjacency):
    """600 releases (or 60) at 0.9, level 1e-6; the control counts against a tenth of the promise where it can fail."""
    values = np.random.default_rng(4).standard_t(1.2, size=3_000) * 50
    statistic, trust = Bounds("x", confidence_level=0.9), Central({"x": values})
    rng, runs = np.random.default_rng(5), runs_of(600, part=60)
    broken = control = 0
    for _ in range(runs):
        found = release(statistic, trust=trust, privacy=privacy, adjacency=adjacency, source=KeyedSource(rng.bytes(32)))
        outside = int(((values < found.low) | (values > found.high)).sum())
        broken += outside > found.records_outside
        control += outside > found.records_outside / 100
    assert stats.binomtest(broken, runs, 0.1, alternative="greater").pvalue > 1e-6
    assert stats.binomtest(control, runs, 0.1, alternative="greater").pvalue < 1e-6


CASES = {
    "positive": (np.full(1000, 5.0), (4, 8)),
    "zero": (np.zeros(1000), (0, 2.0**-20)),
    "negative": (np.full(1000, -5.0), (-8, -4)),
    "both": (np.repeat([-3.0, 100.0], 500), (-4, 128)),
    "tiny": (np.full(1000, 1e-300), (0, 2.0**-20)),
    "tiny_negative": (np.full(1000, -1e-300), (-(2.0**-20), 0)),
    "huge": (np.full(1000, 1e300), (2.0**62, 2.0**63)),
    "huge_negative": (np.full(1000, -1e300), (-(2.0**63), -(2.0**62))),
    "powers": (np.repeat([1.0, 8.0], 500), (0.5, 8)),
    "zero_and_more": (np.repeat([0.0, 3.0], 500), (0, 4)),
    "no_one_alone": (np.concatenate([np.full(1000, 5.0), [1e9]]), (4, 8)),
}


@pytest.mark.parametrize("name", CASES)
def test_bounds_are_the_outermost_magnitudes_with_records(name):
    values, expected = CASES[name]
    found = ogive.find_bounds(values, privacy=PureDP(10), source=KeyedSource(bytes(32)))
    assert found.bounds == expected
    assert found.defined
    assert found.low < found.high
    ogive.ecdf(values, bounds=found.bounds, bins=4, privacy=PureDP(1))


def test_exact_bounds_hold_every_record():
    values = np.random.default_rng(1).normal(0, 1e6, size=100)
    truth = release(Bounds("x"), trust=Clear({"x": values}))
    assert truth.low <= values.min() < values.max() <= truth.high
    assert truth.records_outside == 0
    assert truth.errors(truth) == {"outside": 0.0, "too_wide": 0.0}
    assert "not private" in str(truth)


def test_errors_count_records_outside_and_empty_magnitudes_inside():
    values = np.repeat([1.5, 3.0, 6.0, 12.0], [1, 10, 10, 4])
    truth = release(Bounds("x"), trust=Clear({"x": values}))
    counts = np.array(truth.counts)

    def shifted(first, last):
        kept = np.zeros_like(counts)
        at = np.flatnonzero(counts)[0]
        kept[[at + first, at + last]] = 1
        return dataclasses.replace(truth, counts=tuple(kept.tolist()))

    assert shifted(1, 2).errors(truth) == {"outside": pytest.approx(5 / 25), "too_wide": 0.0}
    assert shifted(-2, 3).errors(truth) == {"outside": 0.0, "too_wide": 2.0}
    assert shifted(0, 4).errors(truth) == {"outside": 0.0, "too_wide": 1.0}
    none = dataclasses.replace(truth, counts=(0,) * len(counts))
    assert none.errors(truth) == {"outside": 1.0, "too_wide": 0.0}


def test_too_few_records_for_the_price_are_a_value_and_no_crash():
    found = ogive.find_bounds([5.0, 6.0], privacy=PureDP("0.1"), source=KeyedSource(bytes(32)))
    assert not found.defined
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.records_outside is None
    assert "undefined" in str(found)
    again = read_estimate(json.loads(found.to_json()))
    assert again.to_dict() == found.to_dict()


GRANTS = [PureDP("0.5"), ZeroConcentratedDP("0.1"), ApproxDP("0.5", "1e-6")]


@pytest.mark.parametrize(
    "unit", [PrivacyUnit(Adjacency.REPLACE), PrivacyUnit(Adjacency.ADD_OR_REMOVE, "p", 3)], ids=str
)
@pytest.mark.parametrize("privacy", GRANTS, ids=str)
def test_the_noise_costs_no_more_than_granted_and_little_less(privacy, unit):
    binning = Bounds("x").binning()
    strategy = flat_strategy(binning, Terms(privacy, unit, lambda query: None), chance=0.01)
    price = CurveQuery(binning, strategy).price(unit)
    assert ogive.accounting.covers(privacy, price)
    if isinstance(price, PureDP):
        # a record is in one bin; replaced, it leaves one and joins one; three rows cost three times as much
        moved = 2 if unit.adjacency is Adjacency.REPLACE else 3
        assert price.epsilon == moved / strategy.laws[0].scale
        assert price.epsilon >= Fraction(99, 100) * getattr(privacy, "epsilon", 0)


def test_gaussian_noise_is_taken_where_it_reaches_less_far():
    terms = Terms(ZeroConcentratedDP("0.1"), PrivacyUnit(Adjacency.REPLACE), lambda query: None)
    strategy = flat_strategy(Bounds("x").binning(), terms, chance=0.01)
    assert isinstance(strategy.laws[0], DiscreteGaussian)
    refused = Terms(terms.privacy, terms.unit, lambda query: "this model answers nothing; use central")
    with pytest.raises(ogive.UnsupportedError, match="use central"):
        flat_strategy(Bounds("x").binning(), refused, chance=0.01)
    with pytest.raises(ScaleError, match="for a count needs noise above"):
        ogive.find_bounds([1.0], privacy=PureDP("1e-20"))


@pytest.mark.parametrize("adjacency", Adjacency)
def test_json_follows_the_schema_and_reads_back_equal(adjacency, tmp_path):
    values = np.random.default_rng(2).gamma(3.0, 10.0, size=2_000)
    found = ogive.find_bounds(values, privacy=PureDP(1), adjacency=adjacency)
    exact = release(Bounds("x", base=10, smallest=0.001, largest=1e6), trust=Clear({"x": values}), adjacency=adjacency)
    for estimate in (found, exact):
        text = estimate.to_json(tmp_path / "bounds.json")
        data = json.loads(text)
        VALIDATOR.validate(data)
        assert read_estimate(data) == estimate
        assert json.loads((tmp_path / "bounds.json").read_text()) == data
    assert (found.total == 2_000) == (adjacency is Adjacency.REPLACE)
    assert found.provenance.statistic == "bounds"
    data["counts"][0] = 0.5
    assert not VALIDATOR.is_valid(data)


def too_wide(needed_by, trials=1_500):
    """How often noise extends bounds beyond all records, counts needed beside them being changed by `needed_by`."""
    law, size, at = DiscreteLaplace(20), 40, 20
    threshold = reach(law, size, 1e-4)
    needed = tuple(needed_by(count) for count in needed_beside(law, size, 0.05, threshold))
    counts = law.sample(trials * size, source=KeyedSource(bytes(32))).reshape(trials, size)
    wide = 0
    for row in counts.tolist():
        wide += bool(extended(row[:at][::-1], needed) or extended(row[at + 1 :], needed))
    return wide, trials


def test_noise_extends_bounds_as_rarely_as_promised():
    """1500 draws at 8/3 of 0.05, level 1e-6; counts smaller by a scale of the noise must fail."""
    promised = 0.05 * AT_BOTH_ENDS
    assert promised == pytest.approx(8 / 3 * 0.05)
    wide, trials = too_wide(lambda count: count)
    assert stats.binomtest(wide, trials, promised, alternative="greater").pvalue > 1e-6
    control, trials = too_wide(lambda count: count - 20)
    assert stats.binomtest(control, trials, promised, alternative="greater").pvalue < 1e-6


def test_a_bin_needs_more_records_the_further_off_it_is_and_never_more_than_by_itself():
    law = DiscreteLaplace(20)
    needed = needed_beside(law, 100, 0.01, most := reach(law, 100, 1e-4))
    assert len(needed) == 100
    assert needed == tuple(min(most, reach(law, 1, 0.01 / 4**place)) for place in range(100))
    assert needed[0] < needed[1] < needed[-1] == most
    assert extended([5, 9, 0, 8], (6, 9, 20, 30)) == 2
    assert extended([6, 0, 20, 0], (6, 9, 20, 30)) == 3
    assert extended([5, 8, 19, 29], (6, 9, 20, 30)) == extended([], (6,)) == 0


def test_bounds_reach_to_records_beside_those_that_stand_out():
    values = np.repeat([0.0, 2.0, 12.0, 24.0, 1e6], [2_000, 300, 300, 300, 150])
    told = {}
    for beside in (None, 0.01):
        found = release(
            Bounds("x", smallest=1, beside=beside),
            trust=Central({"x": values}),
            privacy=PureDP("0.05"),
            source=KeyedSource(bytes(32)),
        )
        told[beside] = found
        again = read_estimate(json.loads(found.to_json()))
        VALIDATOR.validate(found.to_dict())
        assert again == found
    assert told[None].bounds == (0, 1)
    assert told[0.01].bounds == (0, 32)
    assert "97.33 % confidence" in str(dataclasses.replace(told[0.01], false_alarm=1e-9))
    assert told[0.01].records_outside < told[None].records_outside


def test_the_records_outside_are_never_more_than_there_are():
    values = np.repeat([1.0, 1e9], [40, 3])
    found = ogive.find_bounds(values, privacy=PureDP("0.5"), source=KeyedSource(bytes(32)))
    assert found.records_outside is None or found.records_outside <= 43


def test_bounds_are_read_back_from_json_and_from_a_file(tmp_path):
    found = ogive.find_bounds(np.full(500, 5.0), privacy=PureDP(1), source=KeyedSource(bytes(32)))
    path = tmp_path / "bounds.json"
    assert BoundsEstimate.from_json(found.to_json(path)) == BoundsEstimate.from_json(path) == found


DAMAGES = {
    "schema": "ogive.bounds/2",
    "column": 5,
    "counts": [1, 2],
    "grid": {"kind": "linear"},
    "strategy": {"name": "tree_ls"},
    "adjacency": "near",
    "total": -1,
    "false_alarm": 0,
    "confidence_level": 1.0,
    "low": 1.0,
    "provenance": {},
}


@pytest.mark.parametrize("field", DAMAGES)
def test_damaged_bounds_are_refused_in_one_line(field):
    data = ogive.find_bounds(np.full(500, 5.0), privacy=PureDP(1), source=KeyedSource(bytes(32))).to_dict()
    for changed in ({**data, field: DAMAGES[field]}, {k: v for k, v in data.items() if k != field}):
        with pytest.raises(OgiveError) as caught:
            BoundsEstimate.from_dict(changed)
        assert "\n" not in str(caught.value)


def test_bounds_with_another_kind_of_strategy_are_refused():
    found = ogive.find_bounds(np.full(500, 5.0), privacy=PureDP(1))
    size = found.grid.bins
    deeper = LeastSquaresTree(size, (1, 2), (DiscreteLaplace(2),) * 2)
    with pytest.raises(DataError, match="must count every bin once"):
        BoundsEstimate.from_dict({**found.to_dict(), "strategy": deeper.to_dict()})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"column": 5}, "column must be a column's name"),
        ({"base": 1}, "base must be above 1"),
        ({"smallest": 0}, "magnitudes must be above 0 and increase"),
        ({"smallest": 2, "largest": 1}, "magnitudes must be above 0 and increase"),
        ({"base": 1.0001}, "more than 4096 magnitudes; use a larger base"),
        ({"beside": 0.2}, "beside must be from 1e-09 to 0.1, got 0.2"),
        ({"missing": "zero"}, "missing must be refuse, low, high, drop, or a public value"),
    ],
)
def test_parameters_out_of_range_are_refused(arguments, words):
    with pytest.raises(ParameterError, match=words):
        Bounds(**{"column": "x", **arguments})


def test_dates_have_no_magnitude():
    with pytest.raises(DataError, match="holds dates, but the bounds are numbers"):
        ogive.find_bounds(np.array(["2024-01-01"], dtype="datetime64[D]"), privacy=PureDP(1))


def test_decimal_magnitudes_are_exact():
    grid = Bounds("x", base=10, smallest=0.001, largest=1000).binning().grid
    assert [end for end in grid.thresholds.tolist() if end > 0] == [0.001, 0.01, 0.1, 1, 10, 100, 1000]


@pytest.mark.parametrize("adjacency", Adjacency)
def test_no_output_tells_neighbors_apart_by_more_than_the_price(adjacency):
    """Tables of up to three records in the bins of a small grid, through the records themselves; exact and tight."""
    statistic = Bounds("x", base=4, smallest=1, largest=4)
    unit = PrivacyUnit(adjacency)
    strategy = flat_strategy(statistic.binning(), Terms(PureDP(1), unit, lambda query: None), chance=0.01)
    (law,) = strategy.laws
    places = (-5.0, -4.0, -1.0, -0.5, 0.0, 0.5, 3.0, 9.0)
    tables = [rows for size in (1, 2, 3) for rows in itertools.combinations_with_replacement(places, size)]

    def neighbors(rows):
        for i in range(len(rows)):
            rest = rows[:i] + rows[i + 1 :]
            if adjacency is Adjacency.REPLACE:
                yield from ((*rest, other) for other in places)
            elif rest:
                yield rest

    def counts(rows):
        return Records.of({"x": list(rows)}).aggregate(statistic.binning())

    worst = 0.0
    for rows in tables[:: 1 if adjacency is Adjacency.ADD_OR_REMOVE else 7]:
        mine = counts(rows)
        for other in neighbors(rows):
            moved = np.abs(mine - counts(other))
            # beyond both centers the log-ratio of one count is largest; counts are independent
            worst = max(
                worst,
                float(
                    sum(
                        law.log_probability(np.array([9]))[0] - law.log_probability(np.array([9 + d]))[0] for d in moved
                    )
                ),
            )
    assert worst == pytest.approx(float(CurveQuery(statistic.binning(), strategy).price(unit).epsilon), rel=1e-9)


def test_bounds_of_persons_with_several_rows_are_found():
    table = {"p": np.repeat(np.arange(2_000), 5), "x": np.tile([3.0, 5.0, 9.0, 17.0, 33.0], 2_000)}
    found = release(
        Bounds("x"),
        trust=Central(table, person="p", max_rows_per_person=2),
        privacy=PureDP(1),
        adjacency=Adjacency.ADD_OR_REMOVE,
        source=KeyedSource(bytes(32)),
    )
    assert found.bounds == (2, 64)
    assert found.strategy.laws[0].scale >= 2
    assert abs(sum(found.counts) - 4_000) < 400  # two rows of each person were counted, not five
    assert found.provenance.unit.words.startswith("one person (column p) with up to 2 rows")


@pytest.mark.parametrize("level", [0, 1, "0.99991", "0.99999999999999999999"])
def test_confidence_beyond_what_others_serve_is_refused(level):
    with pytest.raises(ParameterError, match="confidence_level must be above 0 and at most"):
        Bounds("x", confidence_level=level)


@pytest.mark.parametrize("chance", [0, 1, 1e-12])
def test_a_false_alarm_out_of_range_is_refused(chance):
    with pytest.raises(ParameterError, match="false_alarm must be from 1e-09 to below 1"):
        Bounds("x", false_alarm=chance)
