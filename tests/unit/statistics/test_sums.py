"""Numbers read off noisy sums: what they say, what is refused, and what is read of a stored one."""

import copy
import datetime
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size

import ogive
from ogive.columns import Domain, Membership
from ogive.errors import DataError, ParameterError
from ogive.local.values import rows_of
from ogive.noise import KeyedSource
from ogive.queries import Cells
from ogive.records import Records
from ogive.statistics.sums.lattice import MOST_STEPS, Lattice
from ogive.statistics.sums.measured import Deviation, Reading

PURE = ogive.PureDP(1)
REPLACE, ADD = ogive.Adjacency.REPLACE, ogive.Adjacency.ADD_OR_REMOVE
X = np.random.default_rng(2).integers(20, 81, 400).astype(float)
DATA = {"x": X, "word": np.where(X > 50, "old", "young"), "gap": np.where(X > 70, np.nan, X)}


def released(statistic, *, trust=ogive.Central, privacy=PURE, adjacency=REPLACE, seed=4):
    source = KeyedSource.from_seed(seed)
    return ogive.release(statistic, trust=trust(DATA), privacy=privacy, adjacency=adjacency, source=source)


@pytest.mark.parametrize("adjacency", [REPLACE, ADD])
def test_without_noise_numbers_are_those_of_numpy(adjacency):
    mean = released(ogive.Mean("x", (0, 120)), trust=ogive.Clear, privacy=None, adjacency=adjacency)
    assert mean.value == pytest.approx(X.mean())
    assert mean.standard_deviation == pytest.approx(X.std())
    assert mean.standard_error == mean.sampling_error == pytest.approx(X.std() / 20)
    total = released(ogive.Sum("x", (-40, 120)), trust=ogive.Clear, privacy=None, adjacency=adjacency)
    assert total.value == pytest.approx(X.sum())
    share = released(ogive.Proportion("word", positive="old"), trust=ogive.Clear, privacy=None, adjacency=adjacency)
    assert share.value == pytest.approx((X > 50).mean())
    count = released(ogive.Count("gap"), trust=ogive.Clear, privacy=None, adjacency=adjacency)
    assert count.value == (X <= 70).sum()


@pytest.mark.parametrize("adjacency", [REPLACE, ADD])
def test_the_error_of_a_standard_deviation_is_that_of_its_noise(adjacency):
    mean = ogive.Mean("x", (0, 120))
    runs = size(400, part=280)
    found = [released(mean, privacy=ogive.PureDP(8), adjacency=adjacency, seed=seed) for seed in range(runs)]
    errors = np.array([each.standard_deviation - X.std() for each in found])
    said = np.mean([each.standard_deviation_error for each in found])
    assert said > 2 * np.mean([each.noise_error for each in found]), "the noise of the mean says nothing of it"
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(said, rel=5 / math.sqrt(runs))  # about five standard errors
    exact = released(mean, trust=ogive.Clear, privacy=None, adjacency=adjacency)
    assert exact.standard_deviation_error == 0


@pytest.mark.parametrize("adjacency", [REPLACE, ADD])
def test_a_plan_says_the_noise_of_a_standard_deviation(adjacency):
    # of all values with an SD of a tenth of the bounds those by a bound, with few far away, have the most noise
    values = np.where(np.arange(1000) < 10, 100.0, 0.0)
    assert values.std() == pytest.approx(10, rel=0.01)
    mean, privacy = ogive.Mean("x", (0, 100)), ogive.PureDP(4)
    source = KeyedSource.from_seed(1)
    terms = {"trust": ogive.Central({"x": values}), "privacy": privacy, "adjacency": adjacency}
    runs = size(400, part=280)
    found = [ogive.release(mean, **terms, source=source).standard_deviation for _ in range(runs)]
    errors = ogive.plan(mean, privacy=privacy, records=1000, adjacency=adjacency).chosen.errors
    seen = np.sqrt(np.mean((np.array(found) - values.std()) ** 2))
    assert seen == pytest.approx(errors["sd_noise"], rel=5 / math.sqrt(runs))  # about five standard errors
    assert seen > 3 * errors["noise"], "the noise of the mean says nothing of it"


def test_a_standard_deviation_has_the_digits_that_its_own_noise_leaves():
    found = released(ogive.Mean("x", (0, 120)), privacy=ogive.PureDP("0.3"))
    assert 2.5 < found.standard_deviation_error < 25
    assert f"SD:       {found.standard_deviation:.0f} (noise: +/- " in str(found)


def test_the_interval_of_an_exact_proportion_is_wilsons():
    share = released(ogive.Proportion("word", positive="old"), trust=ogive.Clear, privacy=None)
    p, n, z = float((X > 50).mean()), len(X), 1.959963984540054
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert share.interval() == pytest.approx((middle - half, middle + half), abs=1e-9)


@pytest.mark.parametrize(
    ("bounds", "step"), [((0, 120), "1/50"), ((0, 1), "1/10000"), ((0, 200_000), 20), ((-5, 5), "1/1000")], ids=str
)
def test_steps_are_round_numbers_and_not_too_many(bounds, step):
    lattice = Lattice.of(bounds, None)
    assert lattice.step == Fraction(step)
    assert lattice.steps <= MOST_STEPS


def test_whole_numbers_are_added_up_exactly():
    exact = released(ogive.Sum("x", (0, 120)), trust=ogive.Clear, privacy=None)
    assert exact.value == X.sum()


def test_a_number_that_noise_hides_is_undefined_and_leaves_everything_open():
    little = {"privacy": ogive.PureDP("1/100000"), "adjacency": ADD}
    found = [released(ogive.Mean("x", (0, 120)), **little, seed=seed) for seed in range(9)]
    hidden = [each for each in found if not each.defined]
    assert 0 < len(hidden) < len(found)
    assert all(math.isnan(each.value) and each.interval() == (0, 120) for each in hidden)
    assert all("undefined" in str(each) for each in hidden)
    for each in found:  # little is said where the number of records is noise and happens to be above 0
        low, high = each.interval()
        assert low <= X.mean() <= high


def test_what_is_stored_is_read_again_and_a_lower_price_is_refused():
    for statistic in (ogive.Mean("x", (0, 120)), ogive.Proportion("word", positive="old"), ogive.Count("x"),
                      ogive.Sum("x", (0, 120))):  # fmt: skip
        found = released(statistic, adjacency=ADD)
        assert type(found).from_dict(found.to_dict()) == found
        cheaper = copy.deepcopy(found.to_dict())
        cheaper["provenance"]["price"]["epsilon"] = "1/2"
        with pytest.raises(DataError, match="contradicts itself"):
            type(found).from_dict(cheaper)
        free = copy.deepcopy(found.to_dict())
        free["measured"]["noise"] = None
        with pytest.raises(DataError, match="contradicts itself"):
            type(found).from_dict(free)


def test_a_number_of_another_kind_is_refused():
    mean = released(ogive.Mean("x", (0, 120)))
    with pytest.raises(DataError, match="not a sum"):
        ogive.SumEstimate.from_dict(mean.to_dict())
    short = mean.to_dict() | {"measured": mean.to_dict()["measured"] | {"values": [3]}}
    with pytest.raises(DataError, match="must be 2"):
        ogive.MeanEstimate.from_dict(short)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "bounds"),
        ({"bounds": (3, 1)}, "below"),
        ({"bounds": (0, 1), "step": 2}, "step"),
        ({"bounds": (0, 1), "step": "1e-9"}, "at least"),
    ],
    ids=str,
)
def test_bounds_and_steps_that_cannot_be_used_are_refused_in_one_line(options, said):
    with pytest.raises(ParameterError, match=said):
        ogive.Mean("x", **options)


FAR = 2.0**50


@pytest.mark.parametrize("width", [128, 300, 1000])
def test_a_step_that_floats_do_not_tell_apart_is_refused_with_one_that_they_do(width):
    asked = {"bounds": (FAR, FAR + width), "privacy": ogive.PureDP(1), "trust": "clear"}
    with pytest.raises(ParameterError, match=r"finer than floating point; use .*step=") as refused:
        ogive.mean(FAR + np.arange(100.0), step="0.02", **asked)
    step = re.search(r"step=([0-9.]+)", str(refused.value)).group(1)
    assert ogive.mean(FAR + np.arange(100.0), step=step, **asked).value == pytest.approx(FAR + 49.5, abs=float(step))


def test_bounds_that_floats_do_not_tell_apart_have_no_step():
    with pytest.raises(ParameterError, match="take a number near them away from the values and from bounds"):
        ogive.mean(2.0**60 + np.arange(3) * 256, bounds=(2.0**60, 2.0**60 + 256), privacy=ogive.PureDP(1))


def test_missing_values_mean_what_was_said():
    drop = ogive.Proportion("gap", positive=(20, 21, 22), missing="drop")
    with pytest.raises(ParameterError, match="missing='no'"):
        released(drop)
    with pytest.raises(DataError, match="missing"):
        released(ogive.Proportion("gap", positive=20))
    kept = released(drop, trust=ogive.Clear, privacy=None, adjacency=ADD)
    assert kept.records == (X <= 70).sum()


def test_owners_and_tables_agree_on_who_is_a_member():
    values = ["a", "b", None, "a", "c"]
    for column in (Membership("w", ("a", "c"), "no"), Membership("w", None, "no")):
        table = Records.of({"w": values}).aggregate(Cells(Domain((column,)))).tolist()
        owners = rows_of(Domain((column,)), {"w": values}).ravel()
        assert table == [int((owners == 0).sum()), int((owners == 1).sum())]
    with pytest.raises(DataError, match="missing"):
        rows_of(Domain((Membership("w", ("a",)),)), {"w": values})


def test_a_sum_of_persons_says_that_it_is_of_the_kept_records():
    table = {"x": np.ones(40), "who": np.arange(40) // 4}
    trust = ogive.Central(table, person="who", max_rows_per_person=2)
    found = ogive.release(
        ogive.Sum("x", (0, 1)), trust=trust, privacy=ogive.PureDP(100), adjacency=ogive.Adjacency.ADD_OR_REMOVE
    )
    assert round(found.value) == 20
    assert "for the kept records, at most 2 of each person: noise" in str(found)
    alone = ogive.release(ogive.Sum("x", (0, 1)), trust=ogive.Central(table), privacy=ogive.PureDP(100))
    assert "for these records: noise" in str(alone)


def test_a_standard_deviation_that_noise_hides_is_not_shown_as_zero():
    texts = []
    for seed in range(20):
        found = ogive.release(
            ogive.Mean("x", (0, 1_000_000)),
            trust=ogive.Central({"x": np.arange(4.0)}),
            privacy=ogive.PureDP("0.01"),
            source=KeyedSource.from_seed(seed),
        )
        texts.append((found.standard_deviation, str(found)))
    hidden = [text for deviation, text in texts if deviation == 0]
    assert hidden
    assert all("SD:       - (undefined: noise made the variance 0)" in text for text in hidden)
    assert "SD:       1.1" in str(ogive.release(ogive.Mean("x", (0, 10)), trust=ogive.Clear({"x": np.arange(4.0)})))


@pytest.mark.parametrize("low", ["2024-01-01", datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1)])
def test_means_of_dates_are_refused_with_the_median(low):
    with pytest.raises(ParameterError, match=r"got the date '2024-01-01.*release the median instead") as refused:
        ogive.Mean("day", bounds=(low, "2024-12-31"))
    assert refused.value.parameter == "bounds"
    assert ogive.Mean("day", bounds=("1/2", "1e3")).bounds == ("1/2", "1e3")


def test_a_summary_says_whether_the_number_of_records_is_public_and_what_values_outside_the_bounds_are():
    within = str(released(ogive.Mean("x", (0, 120))))
    assert "records:  400 (public)" in within
    assert "values outside 0 to 120 count as the nearer bound" in within
    assert "most values may lie outside" not in within
    outside = str(released(ogive.Mean("x", (200, 300)), adjacency=ADD))
    assert "the mean is at a bound, so most values may lie outside" in outside
    assert "records:  about 397 (private)" in outside


@pytest.mark.parametrize("statistic", [ogive.Proportion("word", positive="Old"), ogive.Count("word", among="Old")])
def test_a_value_that_no_record_may_have_is_told(statistic):
    assert "perhaps no record has the value Old; check its spelling" in str(released(statistic))
    assert "spelling" not in str(released(ogive.Proportion("word", positive="old")))


@pytest.mark.parametrize("adjacency", [REPLACE, ADD])
@pytest.mark.parametrize("privacy", [PURE, ogive.PureDP(30), ogive.ZeroConcentratedDP("0.02")], ids=str)
def test_ends_of_intervals_are_those_of_halving_alone(adjacency, privacy, monkeypatch):
    """To the last bit, since files keep them; of most halvings secants tell the outcome."""
    asked = []
    contradicts = Deviation.contradicts
    monkeypatch.setattr(Deviation, "contradicts", lambda *args: asked.append(args) or contradicts(*args))

    def ends(seed):
        mean = released(ogive.Mean("x", (0, 120)), privacy=privacy, adjacency=adjacency, seed=seed)
        share = released(ogive.Proportion("word", positive="old"), privacy=privacy, adjacency=adjacency, seed=seed)
        return [
            end
            for found in (mean.reading, share.reading)
            for level in (0.3, 0.8, 0.95, 0.999)
            for sampling in (False, True)
            for end in found.interval(level, sampling=sampling)
        ]

    seeds = range(size(40, part=4))
    found, fewer = [ends(seed) for seed in seeds], len(asked)
    monkeypatch.setattr(Reading, "_around_end", lambda *args: (0.0, math.inf))
    assert [ends(seed) for seed in seeds] == found
    assert fewer < (len(asked) - fewer) / 2


@pytest.mark.parametrize("statistic", [ogive.Mean, ogive.Sum])
@pytest.mark.parametrize("column", [0, ("a", "b"), None])
def test_a_column_is_named_by_a_text(statistic, column):
    # as columns of pandas may be called 0 or ("a", "b")
    with pytest.raises(ogive.ParameterError, match="column must be a column's name, got"):
        statistic(column, bounds=(0, 1))
