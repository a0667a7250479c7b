"""ROC curves as users meet them: classes, orientation, undefined cases, text, pictures, bad input."""

import dataclasses
import math

import numpy as np
import pytest
from helpers.declared import public_of
from helpers.scope import size as runs_of

import ogive
from ogive.errors import BudgetError, DataError, ParameterError, UnsupportedError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.releasing.release import release
from ogive.statistics.roc.statistic import Roc
from ogive.statistics.roc.view import short_threshold
from ogive.strategies import design_path, design_square_root
from ogive.strategies.smoothing import SMOOTHINGS
from ogive.trust import Central, Clear

SOURCE = KeyedSource.from_seed(7)


def scored(n=4000, share=0.3, seed=1):
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < share
    return {"s": 1 / (1 + np.exp(-rng.normal(1.3 * labels))), "y": labels.astype(int)}


TABLE = scored()
TRUTH = release(Roc("s", "y", (0, 1), bins=64), trust=Clear(TABLE))


def released(epsilon=1, adjacency=Adjacency.REPLACE, table=TABLE, seed=7, **fields):
    statistic = Roc("s", "y", (0, 1), **{"bins": 64, **fields})
    source = KeyedSource.from_seed(seed)
    public = public_of(statistic, adjacency)
    return release(
        statistic, trust=Central(table), privacy=PureDP(epsilon), adjacency=adjacency, public=public, source=source
    )


@pytest.mark.covering
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("public_labels", [False, True])
@pytest.mark.parametrize("budget", ["joint", "split"])
@pytest.mark.parametrize("smooth", SMOOTHINGS)
def test_a_release_is_a_valid_curve_near_the_truth(smooth, budget, public_labels, adjacency):
    estimate = released(smooth=smooth, budget=budget, public_labels=public_labels, adjacency=adjacency)
    for values in (estimate.fpr, estimate.tpr):
        assert values.shape == (65,)
        assert values[0] == 0
        assert values[-1] == 1
        assert np.all(np.diff(values) >= 0)
    assert estimate.defined
    assert estimate.errors(TRUTH)["auc"] < 0.05
    assert estimate.distance(TRUTH) < 0.06
    sizes = TABLE["y"].size - TABLE["y"].sum(), TABLE["y"].sum()
    exact = public_labels and adjacency is Adjacency.REPLACE
    assert estimate.classes == pytest.approx(sizes, abs=0 if exact else 300)
    if budget == "joint" and adjacency is Adjacency.REPLACE:
        assert sum(estimate.classes) == 4000, "the sizes add up to the public number of records"


def test_silence_gives_the_exact_curve_and_orientation_turns_it():
    assert TRUTH.auc == pytest.approx(0.82, abs=0.03)
    low = release(Roc("s", "y", (0, 1), bins=64, positive_when="low"), trust=Clear(TABLE))
    assert low.auc == pytest.approx(1 - TRUTH.auc)
    swapped = release(Roc("s", "y", (0, 1), bins=64, positive=0, negative=1), trust=Clear(TABLE))
    assert swapped.auc == pytest.approx(1 - TRUTH.auc)
    assert (low.thresholds[0], low.thresholds[-1]) == (-math.inf, 1)
    assert (TRUTH.thresholds[0], TRUTH.thresholds[-1]) == (1, -math.inf)


@pytest.mark.parametrize(
    ("labels", "fields"),
    [
        (lambda y: y.astype(bool), {}),
        (lambda y: y.astype(float), {}),
        (lambda y: np.where(y, "yes", "no"), {"positive": "yes"}),
        (lambda y: np.where(y, "yes", "no"), {"positive": "yes", "negative": "no"}),
        (lambda y: y + 1, {"positive": 2}),
        (lambda y: np.where(y, ["a", "b"] * 2000, "c"), {"positive": ("a", "b"), "negative": ["c"]}),
        (lambda y: y + 1, {"positive": np.int64(2), "negative": np.array([1])}),
    ],
)
def test_classes_may_be_written_in_many_ways(labels, fields):
    table = {**TABLE, "y": labels(TABLE["y"])}
    assert release(Roc("s", "y", (0, 1), bins=64, **fields), trust=Clear(table)).auc == TRUTH.auc


def test_the_function_is_the_statistic():
    estimate = ogive.roc(
        TABLE["s"], TABLE["y"], bounds=(0, 1), bins=64, privacy=PureDP(1), source=KeyedSource.from_seed(7)
    )
    table = {"score": TABLE["s"], "label": TABLE["y"]}
    statistic = Roc("score", "label", (0, 1), bins=64)
    again = release(statistic, trust=Central(table), privacy=PureDP(1), source=KeyedSource.from_seed(7))
    assert estimate == again.with_provenance(estimate.provenance)
    assert estimate.provenance.statistic == "roc"
    assert estimate.provenance.total == 4000


@pytest.mark.each_value
@pytest.mark.parametrize("trust", [Clear, Central])
@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("public_labels", [False, True])
def test_an_absent_class_is_a_value_and_no_crash(trust, label, adjacency, public_labels):
    table = {"s": np.linspace(0, 1, 50), "y": np.full(50, label)}
    statistic = Roc("s", "y", (0, 1), bins=16, public_labels=public_labels)
    seen = set()
    for seed in range(6):
        estimate = release(
            statistic,
            trust=trust(table),
            privacy=PureDP(5),
            adjacency=adjacency,
            public=public_of(statistic, adjacency),
            source=KeyedSource.from_seed(seed),
        )
        seen.add(estimate.defined)
        assert type(estimate).from_dict(estimate.to_dict()) == estimate
        str(estimate), estimate._repr_html_(), repr(estimate), estimate.plot()
        if estimate.defined:
            continue
        assert math.isnan(estimate.auc)
        assert math.isnan(estimate.tie_bound)
        assert np.isnan(estimate.fpr).all()
        assert estimate.auc_interval() == (0, 1)
        band = estimate.band()
        assert (band.low.tolist(), band.high.tolist()) == ([0, 0], [1, 1])
        assert all(math.isnan(error) for error in estimate.errors(estimate).values())
        assert math.isnan(estimate(0.5))
        assert "not defined" in str(estimate)
        with pytest.raises(ParameterError, match="is not defined: a class has no records"):
            estimate.precision_recall()
        with pytest.raises(ParameterError, match="is not defined"):
            estimate.lift()
    assert False in seen
    if trust is Clear or (public_labels and adjacency is Adjacency.REPLACE):
        assert seen == {False}


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("budget", ["joint", "split"])
@pytest.mark.parametrize("label", [0, 1])
def test_a_class_that_is_not_there_is_not_invented(label, budget, adjacency):
    rng = np.random.default_rng(4)
    table = {"s": rng.random(2000), "y": np.full(2000, label)}
    few = {"s": rng.random(2000), "y": np.concatenate((np.full(1600, label), np.full(400, 1 - label)))}
    invented = 0
    for seed in range(runs_of(20, part=4)):
        fields = {"budget": budget, "adjacency": adjacency, "seed": seed, "bins": 256}
        estimate = released(table=table, **fields)
        invented += estimate.defined
        if not estimate.defined:
            assert math.isnan(estimate.auc)
            assert estimate.auc_interval() == (0, 1)
            assert estimate.band().mean_width == 1
            assert "not defined" in str(estimate)
        seen = released(table=few, **fields)
        assert seen.defined
        assert seen.auc_interval() != (0, 1)
        # wherever the printed interval says that a class may be empty, the curve says so too
        small = released(table={"s": rng.random(300), "y": np.arange(300) < 40}, **fields)
        assert small.defined or math.isnan(small.auc)
        assert not small.defined or small.auc_interval() != (0, 1)
    assert invented <= 1


def test_noise_larger_than_the_data_is_a_value_too():
    tiny = {"s": np.array([0.2, 0.7]), "y": np.array([0, 1])}
    for seed in range(20):
        estimate = released(epsilon="0.001", table=tiny, seed=seed, adjacency=Adjacency.ADD_OR_REMOVE)
        assert 0 <= estimate.auc <= 1 or not estimate.defined
        low, high = estimate.auc_interval()
        assert 0 <= low <= high <= 1
        assert high - low > 0.5
        assert estimate.band().mean_width > 0.9


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"score": 3}, "score must be a column's name"),
        ({"label": 3}, "the label must be a column's name"),
        ({"bounds": None}, "say which values are possible"),
        ({"bounds": (1, 0)}, "the lower bound must be below the upper bound"),
        ({"positive": ()}, "positive must be the value or values of a class"),
        ({"positive": None}, "positive must be the value or values of a class"),
        ({"positive": 1, "negative": (1, 2)}, "1 cannot be in both classes"),
        ({"positive_when": "up"}, "positive_when must be high or low, got 'up'"),
        ({"budget": "half"}, "budget must be joint or split, got 'half'"),
        ({"public_labels": 1}, "public_labels must be True or False"),
        ({"method": 3}, "method must be a name or a strategy"),
        ({"method": "magic"}, "method must be one of auto, "),
        ({"smooth": "magic"}, "smooth must be one of auto, "),
        ({"missing": "drop"}, "missing scores cannot be dropped"),
        ({"outside": "drop"}, "outside must be"),
        ({"confidence_level": 1}, "confidence_level must be above 0 and at most 0.9999, got 1"),
        (
            {
                "method": design_square_root(64, privacy=ZeroConcentratedDP(1), adjacency=Adjacency.REPLACE),
                "smooth": "least_absolute",
            },
            "not offered for sqrt",
        ),
    ],
)
def test_bad_parameters_are_refused_in_one_line_before_anything_is_read(fields, message):
    with pytest.raises(ParameterError, match=message) as refusal:
        Roc(**{"score": "s", "label": "y", "bounds": (0, 1), **fields})
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("table", "fields", "message"),
    [
        ({"y": np.arange(4000) % 3}, {}, "neither class"),
        ({"y": np.arange(4000) % 3}, {"positive": 2}, "more than two classes"),
        ({"y": np.where(np.arange(4000) % 9, 1.0, np.nan)}, {}, "class"),
        ({"s": np.where(np.arange(4000) % 9, 0.5, np.nan)}, {}, "missing values"),
        ({"s": TABLE["s"] * 2}, {}, "outside 0"),
    ],
)
def test_records_that_do_not_fit_are_refused_in_one_line(table, fields, message):
    with pytest.raises(DataError, match=message) as refusal:
        released(table={**TABLE, **table}, **fields)
    assert "\n" not in str(refusal.value)


def test_scores_outside_are_clipped_and_missing_ones_counted_where_that_is_asked_for():
    clipped = release(Roc("s", "y", (0.4, 0.6), bins=8, outside="clip"), trust=Clear(TABLE))
    expected = release(Roc("s", "y", (0.4, 0.6), bins=8), trust=Clear({**TABLE, "s": TABLE["s"].clip(0.4, 0.6)}))
    assert clipped.auc == expected.auc
    holes = np.where(np.arange(4000) % 9, TABLE["s"], np.nan)
    low = release(Roc("s", "y", (0, 1), bins=8, missing="low"), trust=Clear({**TABLE, "s": holes}))
    filled = release(Roc("s", "y", (0, 1), bins=8), trust=Clear({**TABLE, "s": np.nan_to_num(holes)}))
    assert low.auc == filled.auc


def test_a_strategy_by_hand_is_priced_for_both_classes():
    half = design_path(64, privacy=PureDP("1/2"), adjacency=Adjacency.REPLACE, constants="paper")
    estimate = released(method=half, budget="split", smooth="least_squares")
    assert estimate.provenance.price.epsilon <= 1
    whole = design_path(64, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
    with pytest.raises(BudgetError, match="more than the privacy guarantee"):
        released(method=whole)
    released(method=whole, public_labels=True)


def test_a_smoothing_that_gives_up_loses_nothing_that_was_paid_for(monkeypatch):
    from ogive.strategies.smoothing import smooth

    def give_up(strategy, answer, *, kind, **options):
        if kind != "isotonic":
            raise ArithmeticError("did not converge")
        return smooth(strategy, answer, kind=kind, **options)

    monkeypatch.setattr("ogive.statistics.roc.statistic.smooth", give_up)
    for fields in ({}, {"budget": "split", "method": "path"}, {"budget": "split", "method": "tree_ls"}):
        estimate = released(smooth="least_squares", **fields)
        assert {estimate.negatives.smoothing, estimate.positives.smoothing} == {"isotonic"}
    with pytest.raises(UnsupportedError, match="not offered for sqrt"):
        release(
            Roc("s", "y", (0, 1), bins=64, method="sqrt", smooth="least_absolute"),
            trust=Central(TABLE),
            privacy=ZeroConcentratedDP(1),
        )


def test_the_text_says_what_a_reader_needs():
    estimate = released()
    text = str(estimate)
    for words in ("epsilon = 1", "about", "hat_ls", "AUC", "95 % CI", "specificity", "trust"):
        assert words in text
    assert "not private" in str(TRUTH)
    assert "<table " in estimate._repr_html_()
    hostile = dataclasses.replace(
        estimate,
        negatives=dataclasses.replace(estimate.negatives, column="<b>"),
        positives=dataclasses.replace(estimate.positives, column="<b>"),
    )
    assert "<b>" not in hostile._repr_html_()
    # the stated operating point is the loosest within that share
    at = int(np.searchsorted(estimate.fpr, 0.1, side="right")) - 1
    assert f"> {short_threshold(estimate, at):g} " in text


def test_the_text_never_takes_long():
    estimate = released(bins=1 << 17, method="path")
    assert "auc_interval() simulates" in str(estimate)
    assert ", for the population)" in str(release(Roc("s", "y", (0, 1), bins=1 << 17), trust=Clear(TABLE)))


def test_dates_can_be_scores():
    days = np.datetime64("2020-01-01") + np.arange(400) % 365
    table = {"s": days, "y": (np.arange(400) % 365 > 200).astype(int)}
    bounds = (days.min().item(), days.max().item())
    estimate = release(Roc("s", "y", bounds, bins=64), trust=Central(table), privacy=PureDP(3), source=SOURCE)
    assert estimate.auc > 0.9
    assert "2020-" in str(estimate)
    assert type(estimate).from_json(estimate.to_json()) == estimate


def test_very_high_confidence_is_served_up_to_a_point_and_refused_beyond():
    estimate = released()
    for target in ("sample", "population"):
        narrow, wide = (np.diff(estimate.auc_interval(level, target=target))[0] for level in (0.99, 0.9999))
        assert narrow < wide
        assert estimate.band(0.99, target=target).mean_width < estimate.band(0.9999, target=target).mean_width
    public = released(public_labels=True)
    assert public.band(0.9999).mean_width > public.band(0.99).mean_width
    for level in (0.99991, 0.99999999):
        for ask in (estimate.auc_interval, estimate.band, public.band, TRUTH.auc_interval):
            with pytest.raises(ParameterError, match=r"at most 0\.9999"):
                ask(level)
        with pytest.raises(ParameterError, match=r"at most 0\.9999"):
            Roc("s", "y", (0, 1), confidence_level=level)


def test_the_picture_shows_curve_band_and_guarantee():
    estimate = released()
    axes = estimate.plot()
    drawn = [line for line in axes.get_lines() if len(line.get_xdata()) == 65]
    assert len(drawn) == 1
    assert np.array_equal(drawn[0].get_ydata(), estimate.tpr)
    assert any("epsilon = 1" in text.get_text() for text in axes.texts)
    assert len(axes.collections) == 1
    assert len(estimate.plot(confidence_level=None).collections) == 0
    assert estimate.plot(axes) is axes
    with pytest.raises(ParameterError, match="target must be"):
        estimate.plot(target="everybody")


def test_asking_out_of_range_is_refused():
    estimate = released()
    for ask in (estimate, estimate.band()):
        with pytest.raises(ParameterError, match="fpr must be between 0 and 1"):
            ask(1.5)
        for fpr in ("a", None, ["x", 0.2], object(), float("nan")):
            with pytest.raises(ParameterError, match="fpr must be"):
                ask(fpr)
    with pytest.raises(ParameterError, match="target must be population or sample"):
        estimate.auc_interval(target="x")
    with pytest.raises(ParameterError, match=r"above 0 and at most 0\.9999"):
        estimate.auc_interval(1.0)
    with pytest.raises(ParameterError, match=r"above 0 and at most 0\.9999"):
        estimate.band(0)
    assert isinstance(estimate(0.2), float)
    assert estimate([0.2, 0.4]).shape == (2,)
    with pytest.raises(ParameterError, match="measured alike"):
        dataclasses.replace(estimate, positives=TRUTH.positives)
    for change, message in (
        ({"positive_when": "x"}, "positive_when"),
        ({"budget": "x"}, "budget"),
        ({"total": -1}, "at least 0"),
        ({"confidence_level": 2}, "confidence_level"),
    ):
        with pytest.raises(ParameterError, match=message):
            dataclasses.replace(estimate, **change)
    public = released(public_labels=True)
    with pytest.raises(ParameterError, match="must add up"):
        dataclasses.replace(public, total=7)
