import datetime
import json
from fractions import Fraction
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
import referencing
from helpers.coverage import fewest
from helpers.scope import is_everything
from helpers.scope import size as runs_of

import ogive
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.errors import ParameterError
from ogive.noise import DerivedNodes, Geometric, KeyedSource
from ogive.queries import JointQuantilesQuery, design_joint
from ogive.statistics.quantiles import selection

SCHEMAS = [
    json.loads((files("ogive") / "schemas" / name).read_text())
    for name in ("quantiles-1.schema.json", "curve-1.schema.json")
]
VALIDATOR = jsonschema.Draft202012Validator(
    SCHEMAS[0],
    registry=referencing.Registry().with_resources(
        (schema["$id"], referencing.Resource.from_contents(schema)) for schema in SCHEMAS
    ),
)
VALUES = np.random.default_rng(2).gamma(3.0, 10.0, size=8_000)
DATES = np.datetime64("2020-01-01") + np.random.default_rng(2).integers(0, 365, 4_000)


@pytest.mark.parametrize("method", ["auto", "bisection", "exponential", "joint"])
@pytest.mark.parametrize("adjacency", ogive.Adjacency)
def test_json_follows_the_schema(method, adjacency):
    for values, bounds in ((VALUES, (0, 200)), (DATES, ("2020-01-01", "2020-12-31"))):
        result = ogive.quantiles(
            values, [0, 0.5, 1], bounds=bounds, bins=64, privacy=ogive.PureDP(1), method=method, adjacency=adjacency
        )
        data = json.loads(result.to_json())
        VALIDATOR.validate(data)
        assert data["provenance"]["statistic"] == "quantiles"
    assert isinstance(result.values[0], datetime.date)
    data["quantiles"][0]["probability"] = 2
    assert not VALIDATOR.is_valid(data)


@pytest.mark.each_value
@pytest.mark.parametrize("method", ["auto", "bisection", "exponential", "joint"])
@pytest.mark.parametrize("adjacency", ogive.Adjacency)
def test_intervals_hold_all_population_quantiles_at_once(method, adjacency):
    """200 releases at level 0.9, or 15: with 171 hits of 200 the level would be refuted at 2 %; seeds are fixed."""
    wanted = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
    rng = np.random.default_rng(11)
    hits, narrow, runs = 0, 0, runs_of(200, part=15)
    for trial in range(runs):
        sample = rng.uniform(0, 64, size=1_500)
        result = ogive.release(
            ogive.Quantiles("x", wanted, bounds=(0, 64), bins=64, method=method, confidence_level=0.9),
            trust=ogive.Central({"x": sample}),
            privacy=ogive.PureDP(1),
            adjacency=adjacency,
            source=KeyedSource(trial.to_bytes(32, "big")),
        )
        truth = np.ceil(64 * wanted)
        low, high = np.array(result.low), np.array(result.high)
        hits += bool(np.all((low <= truth) & (truth <= high)))
        # control: intervals shrunk to the estimates alone must miss often
        narrow += bool(np.all(np.array(result.numbers) == truth))
        assert np.all((low <= result.numbers) & (np.array(result.numbers) <= high))
    assert hits >= fewest(runs, 0.9, chance=0.03)
    assert narrow < fewest(runs, 0.9, chance=0.03)


def ranks_off(method, adjacency, trials):
    """By how many of 1,000 records a median at epsilon 0.1 is off, on average."""
    off = []
    values = np.random.default_rng(7).uniform(0, 100, size=1_000)
    for trial in range(trials):
        found = ogive.quantiles(
            values, (0.5,), bounds=(0, 100), bins=512, privacy=ogive.PureDP("0.1"), method=method, adjacency=adjacency,
            source=KeyedSource(trial.to_bytes(32, "big")),
        )  # fmt: skip
        rank = np.searchsorted(np.sort(values), [found.numbers[0] - 100 / 512, found.numbers[0]], side="right")
        off.append(max(0, rank[0] - 500, 500 - rank[1]))
    return np.mean(off)


def test_a_selected_median_of_few_records_is_off_by_few_ranks():
    """Standard errors are near 1, of 50 trials 1.7; controls: the other adjacency, of twice the noise, and a curve."""
    trials = runs_of(150, part=50)
    assert ranks_off("exponential", ogive.Adjacency.ADD_OR_REMOVE, trials) < 15.5
    assert 18 < ranks_off("exponential", ogive.Adjacency.REPLACE, trials) < 36
    assert ranks_off("hat_ls", ogive.Adjacency.ADD_OR_REMOVE, trials=runs_of(20, part=10)) > 30


def test_a_value_that_half_of_the_records_have_is_selected():
    values = np.concatenate([np.linspace(1, 50, 250), np.full(500, 60.0), np.linspace(61, 99, 250)])
    for seed in range(20):
        found = ogive.quantiles(
            values, (0.5,), bounds=(0, 100), bins=100, privacy=ogive.PureDP("0.2"), method="exponential",
            source=KeyedSource(seed.to_bytes(32, "big")),
        )  # fmt: skip
        assert found.values == [60.0]


def held(adjacency, trials):
    """How often the interval of a selected median of 1,500 records holds the population's."""
    hits, widths, rng = 0, [], np.random.default_rng(12)
    for trial in range(trials):
        found = ogive.quantiles(
            rng.uniform(0, 64, size=1_500), (0.5,), bounds=(0, 64), bins=512, privacy=ogive.PureDP(1),
            method="exponential", adjacency=adjacency, source=KeyedSource(trial.to_bytes(32, "big")),
        )  # fmt: skip
        hits += found.low[0] <= 32 <= found.high[0]
        widths.append(found.high[0] - found.low[0])
    return hits, np.mean(widths)


@pytest.mark.parametrize("adjacency", ogive.Adjacency)
def test_intervals_of_selected_quantiles_need_their_margins(adjacency, monkeypatch):
    trials = runs_of(150, part=30)
    hits, width = held(adjacency, trials)
    assert hits >= 14 / 15 * trials
    assert width < 20
    monkeypatch.setattr(selection, "_strays", lambda query, chance: 0)
    monkeypatch.setattr(selection, "_sampling", lambda *given: selection._Margin(Fraction(0), 1))
    assert held(adjacency, trials)[0] < 0.8 * trials


def test_a_line_lies_above_the_margin_of_sampling_for_every_number_of_records():
    for guess in (None, 100, 10**6):
        line = selection._sampling(Fraction(1, 2), None, guess, 0.01)
        for records in (1, 50, 1_000, 10**5, 10**8):
            exact = selection._sampling(Fraction(1, 2), records, None, 0.01)
            assert exact.share == 0
            assert line.share * records + line.records >= exact.records - 1
        near = selection._sampling(Fraction(1, 2), guess or 10_000, None, 0.01)
        assert line.share * (guess or 10_000) + line.records <= 1.5 * near.records
    assert selection._sampling(Fraction(1, 1000), None, 100, 0.01).share == Fraction(1, 1000)


def test_tertiles_in_floating_point_are_thirds():
    values = np.random.default_rng(7).uniform(0, 90, size=3_000)
    found = ogive.quantiles(
        values, [1 / 3, 2 / 3], bounds=(0, 90), bins=90, privacy=ogive.PureDP(20), method="joint", interval_share=0
    )
    assert np.allclose(found.numbers, [30, 60], atol=3)
    assert selection.short_shares([2 / 3, 0.1, 0.125]) == (Fraction(2, 3), Fraction(1, 10), Fraction(1, 8))
    with pytest.raises(ParameterError, match=r"common denominator of at most 8192, got 0.123456789"):
        selection.short_shares([0.123456789])
    for method in ("auto", "joint"):
        with pytest.raises(ParameterError, match=r"must be in \[0, 1\], got 1.0000001"):
            ogive.quantiles(values, [1.0000001], bounds=(0, 90), privacy=ogive.PureDP(1), method=method)


def joint_ranks_off(method, adjacency, trials, **options):
    """By how many of 1,000 records the quartiles at epsilon 0.1 are off, on average."""
    off, values, wanted = [], np.random.default_rng(7).uniform(0, 100, size=1_000), np.array([0.25, 0.5, 0.75])
    for trial in range(trials):
        found = ogive.quantiles(
            values, wanted, bounds=(0, 100), bins=512, privacy=ogive.PureDP("0.1"), method=method, adjacency=adjacency,
            source=KeyedSource(trial.to_bytes(32, "big")), **options,
        )  # fmt: skip
        numbers = np.array(found.numbers)
        below, upto = (np.searchsorted(np.sort(values), numbers - step, side="right") for step in (100 / 512, 0))
        off.append(np.maximum(0, np.maximum(below - 1_000 * wanted, 1_000 * wanted - upto)).mean())
    return np.mean(off)


@pytest.mark.parametrize(
    ("adjacency", "most"),
    [
        (ogive.Adjacency.ADD_OR_REMOVE, 21),
        pytest.param(ogive.Adjacency.REPLACE, 38, marks=pytest.mark.everything),
    ],
)
def test_quartiles_are_off_by_fewer_ranks_together_than_each_by_itself(adjacency, most):
    """The whole guarantee, its three quarters, and single selections.

    Standard errors are near 1 and 2, or 1.4 and 2.8 of half of the trials.
    """
    trials = runs_of(60, part=30)
    alone = joint_ranks_off("joint", adjacency, trials, interval_share=0)
    assert alone < most
    assert alone < joint_ranks_off("joint", adjacency, trials) < 1.6 * alone
    assert joint_ranks_off("exponential", adjacency, trials // 2) > 1.5 * alone


def test_intervals_of_joint_quantiles_need_their_curve(monkeypatch):
    """100 releases at level 0.9, or 20: 83 or fewer hits would refute it at 2 percent; the control has no margin."""
    trials = runs_of(100, part=20)

    def hits():
        found, rng = 0, np.random.default_rng(11)
        wanted = np.array([0.25, 0.5, 0.75])
        for trial in range(trials):
            result = ogive.quantiles(
                rng.uniform(0, 64, size=1_500), wanted, bounds=(0, 64), bins=256, privacy=ogive.PureDP(1),
                method="joint", confidence_level=0.9, source=KeyedSource(trial.to_bytes(32, "big")),
            )  # fmt: skip
            found += bool(np.all((np.array(result.low) <= 64 * wanted) & (64 * wanted <= np.array(result.high))))
        return found

    assert hits() >= fewest(trials, 0.9, chance=0.03)
    monkeypatch.setattr(selection, "quantile_bins", lambda *given, **named: (np.full(3, 255), np.zeros(3, int)))
    assert hits() < trials / 5


def test_without_a_share_for_intervals_they_are_the_bounds():
    found = ogive.quantiles(
        VALUES, (0.75, 0.25), bounds=(0, 200), privacy=ogive.PureDP(1), method="joint", interval_share=0
    )
    assert found.intervals == [(0.0, 200.0)] * 2
    assert found.numbers[0] > found.numbers[1]
    with pytest.raises(ParameterError, match=r"interval_share must be from 0 to 0.9, got 1"):
        ogive.Quantiles("x", (0.5,), bounds=(0, 1), interval_share=1)
    # what it is does not matter to other methods, nor to what is written of the question
    other = ogive.Quantiles("x", (0.5,), bounds=(0, 1), method="hat_ls", interval_share="0.1")
    assert other.canonical() == ogive.Quantiles("x", (0.5,), bounds=(0, 1), method="hat_ls").canonical()


@pytest.mark.each_value
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("quantiles", [1, 3, 5])
def test_expected_distances_of_joint_selections_are_those_of_simulated_ones(quantiles, free):
    """Standard errors are below 8 %, or 12 % of 60 selections; the control is what is expected at twice the epsilon."""
    bins = 1 << 12 if is_everything() else 1 << 10
    shares = [Fraction(k, quantiles + 1) for k in range(1, quantiles + 1)]
    unit = ogive.PrivacyUnit(ogive.Adjacency.ADD_OR_REMOVE if free else ogive.Adjacency.REPLACE)
    binning = Binning("x", Grid.linear(0, 1, bins=bins))
    query = design_joint(binning, shares, privacy=ogive.PureDP("0.02"), unit=unit)
    counts = np.full(bins, 3)
    wanted, upto = 3 * bins * np.array([float(share) for share in shares]), np.cumsum(counts)
    off = []
    for trial in range(runs_of(150, part=60)):
        chosen = query.answer(counts, DerivedNodes(trial.to_bytes(32, "big"), b""))
        off.append(np.maximum(0, np.maximum(upto[chosen] - 3 - wanted, wanted - upto[chosen])))
    told = selection.joint_ranks_off(query)
    assert np.mean(off) == pytest.approx(told.mean, rel=0.25)
    assert np.mean(np.max(off, axis=1)) == pytest.approx(told.largest, rel=0.25)
    half = JointQuantilesQuery(binning, shares, Geometric(query.law.scale / 2), free)
    assert np.mean(off) > 1.4 * selection.joint_ranks_off(half).mean


def test_selections_that_cannot_be_are_refused_in_one_line():
    asked = {"bounds": (0, 1), "method": "exponential"}
    with pytest.raises(ParameterError, match="method='exponential' is for at most 9 quantiles, got 10"):
        ogive.Quantiles("x", np.linspace(0, 1, 10), **asked)
    with pytest.raises(ParameterError, match="fraction with a denominator of at most 1000"):
        ogive.Quantiles("x", (1 / 3,), **asked)
    with pytest.raises(ParameterError, match="a joint selection is of 1 to 9 quantiles, got 10"):
        ogive.Quantiles("x", np.linspace(0, 1, 10), bounds=(0, 1), method="joint")
    with pytest.raises(ParameterError, match="at most 65536 for a joint selection"):
        ogive.Quantiles("x", (0.5,), bounds=(0, 1), bins=1 << 17, method="joint")
    assert "exponential" not in ogive.Quantiles("x", (1 / 3,), bounds=(0, 1)).alternatives()
    assert "exponential" in ogive.Quantiles("x", (0.5,), bounds=(0, 1)).alternatives()


def test_quantiles_and_their_intervals_increase():
    wanted = [0.9, 0.5, 0.52, 0.1]
    for seed in range(20):
        result = ogive.quantiles(
            VALUES, wanted, bounds=(0, 200), bins=256, privacy=ogive.PureDP("0.02"), method="bisection",
            source=KeyedSource(seed.to_bytes(32, "big")),
        )  # fmt: skip
        order = np.argsort(wanted)
        for row in (result.numbers, result.low, result.high):
            assert np.all(np.diff(np.array(row)[order]) >= 0)


def test_reads_quantiles_off_a_curve_that_it_hands_over():
    result = ogive.quantiles(VALUES, [0.5], bounds=(0, 200), privacy=ogive.PureDP(1), few="curve")
    assert result.curve is not None
    assert result.values[0] == result.curve.quantile(0.5)
    assert result.curve.provenance == result.provenance
    assert "0.5" in str(result)
    assert "epsilon = 1" in str(result)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"probabilities": []}, "at least one probability"),
        ({"probabilities": [1.5]}, r"probabilities must be in \[0, 1\], got 1.5"),
        ({"probabilities": [float("nan")]}, "probabilities must be in"),
        ({"bounds": (1, 0)}, "lower bound must be below"),
        ({"bounds": None}, "say which values are possible"),
        ({"method": "magic"}, "method must be one of auto, "),
        ({"bins": 0}, "bins must be"),
    ],
)
def test_refuses_bad_parameters_in_one_line(options, message):
    arguments = {"probabilities": [0.5], "bounds": (0, 200), "privacy": ogive.PureDP(1), **options}
    with pytest.raises(ParameterError, match=message) as error:
        ogive.quantiles(VALUES, arguments.pop("probabilities"), **arguments)
    assert "\n" not in str(error.value)


def test_refuses_a_confidence_level_outside_the_open_unit_interval():
    with pytest.raises(ParameterError, match="confidence_level"):
        ogive.Quantiles("x", [0.5], bounds=(0, 1), confidence_level=1)
    for level, bins in ((0.99999999, 64), (0.9999, 1 << 20)):
        with pytest.raises(ParameterError, match=r"confidence_level must be .*at most 0\.99"):
            ogive.Quantiles("x", [0.5], bounds=(0, 1), bins=bins, confidence_level=level)
