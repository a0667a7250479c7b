"""Methods by their names, what auto takes, and what the prediction behind it is worth."""

import numpy as np
import pytest
from helpers.scope import is_everything
from helpers.scope import size as runs_of

from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.errors import ParameterError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.releasing.pointwise import PointwiseCurve
from ogive.releasing.release import release
from ogive.statistics import Ecdf, Quantiles
from ogive.statistics.base import Terms, describe
from ogive.statistics.methods import base as predicted
from ogive.statistics.methods.base import EVERY, REFERENCES, USUAL, CurveMethod, CurveTask, Shapes
from ogive.statistics.methods.choose import (
    CURVE_METHODS,
    METHODS,
    UNBIASED_METHODS,
    as_method,
    better,
    predicted_errors,
    unbiased,
)
from ogive.statistics.methods.curve_methods import HistogramQueries, Projection
from ogive.strategies import design_projection, design_tree
from ogive.trust import Central, Clear

REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE
# those of curators; reports have tests of their own
SEEN = [curve_method for name, curve_method in CURVE_METHODS.items() if name != "reports"]
SMALL = ApproxDP("0.1", "0.00003")


@pytest.fixture(autouse=True)
def fewer_shapes(monkeypatch):
    """What auto takes fails on no shape, which `test_safe_choice` tests, of all of them in `make test-all`."""
    if not is_everything():
        monkeypatch.setattr("ogive.statistics.methods.choose.EVERY", Shapes(EVERY.names[::4], EVERY.runs))
        monkeypatch.setattr("ogive.statistics.methods.choose._CHOSEN", {})


def task(privacy, records, adjacency=REPLACE, *, size=1024, expected=None, **others):
    terms = Terms(privacy, PrivacyUnit(adjacency), lambda _: None, count=lambda: records, **others)
    return CurveTask(Binning("x", Grid.linear(0, 1, bins=size), "refuse"), terms, expected_records=expected)


def test_every_curve_method_is_plain_data_under_its_own_name():
    assert tuple(CURVE_METHODS) == ("projection", "histogram", "adaptive", "selected", "reports")
    assert (*UNBIASED_METHODS, *CURVE_METHODS) == METHODS
    for name, curve_method in CURVE_METHODS.items():
        assert isinstance(curve_method, CurveMethod)
        assert as_method(name) is curve_method
        assert describe(curve_method)["name"] == name
        assert hash(curve_method) == hash(CURVE_METHODS[name])


@pytest.mark.covering(method=str, privacy=str)
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("privacy", [PureDP(1), ZeroConcentratedDP("0.05"), ApproxDP(1, "1e-6")], ids=str)
@pytest.mark.parametrize("method", [*SEEN, HistogramQueries(groups=8), Projection(degree=4)], ids=str)
def test_every_curve_method_releases_a_valid_curve_within_its_grant(method, privacy, adjacency):
    values = {"x": np.random.default_rng(2).beta(2, 3, 5000)}
    statistic = Ecdf("x", (0, 1), bins=128, method=method, expected_records=5000)
    curve = release(
        statistic, trust=Central(values), privacy=privacy, adjacency=adjacency, source=KeyedSource(bytes(32))
    )
    assert curve.probabilities[-1] == 1
    assert np.all(np.diff(curve.probabilities) >= 0)
    assert abs(curve(0.4) - np.mean(values["x"] <= 0.4)) < 0.06
    assert curve.records == pytest.approx(5000, abs=0 if adjacency is REPLACE else 120)


def test_auto_takes_few_measurements_where_noise_is_large_and_all_thresholds_where_it_is_small():
    assert [curve_method.name for curve_method in better(task(SMALL, 100))] == ["projection"]
    assert not list(better(task(ApproxDP(1, "1e-9"), 10**6)))
    values = {"x": np.random.default_rng(2).beta(2, 3, 100)}
    few = release(Ecdf("x", (0, 1), bins=1024), trust=Central(values), privacy=SMALL)
    assert few.strategy.name == "projection"
    assert (
        release(Ecdf("x", (0, 1), bins=256), trust=Central(values), privacy=PureDP(20)).strategy.name
        in UNBIASED_METHODS
    )


def test_auto_never_looks_at_the_records():
    asked = []
    for values in (np.zeros(100), np.random.default_rng(2).random(100)):
        curve = release(Ecdf("x", (0, 1), bins=64), trust=Central({"x": values}), privacy=SMALL)
        asked.append(curve.strategy)
    assert asked[0] == asked[1]


def test_auto_is_exact_without_noise_and_unbiased_where_it_knows_no_number_of_records():
    values = {"x": np.random.default_rng(2).beta(2, 3, 1000)}
    exact = release(Ecdf("x", (0, 1), bins=64), trust=Clear(values))
    assert exact.cumulative == pytest.approx(
        np.cumsum(np.bincount(Grid.linear(0, 1, bins=64).bin_of(values["x"]), minlength=64))
    )
    assert not list(better(task(SMALL, 100, private=False)))
    assert not list(better(task(SMALL, 100, ADD)))
    assert list(better(task(SMALL, None, ADD, expected=100)))
    private = release(Ecdf("x", (0, 1), bins=64), trust=Central(values), privacy=SMALL, adjacency=ADD)
    assert private.strategy.name in UNBIASED_METHODS


def test_auto_skips_what_the_smoothing_or_the_trust_model_does_not_serve():
    values = {"x": np.random.default_rng(2).beta(2, 3, 1000)}
    kept = release(Ecdf("x", (0, 1), bins=64, smooth="shrinkage"), trust=Central(values), privacy=SMALL)
    assert kept.strategy.name in UNBIASED_METHODS

    class NoProjections(Central):
        def refusal(self, query):
            return "no projections here" if query.method == "projection" else None

    other = release(Ecdf("x", (0, 1), bins=64), trust=NoProjections(values), privacy=SMALL)
    assert other.strategy.name != "projection"


def simulated(way, records, seed, runs):
    """Energy distances by whole imagined releases with other random numbers than the prediction's."""
    found = []
    for shape, curve in enumerate(USUAL.curves(256)):
        share = np.maximum(np.diff(curve, prepend=0), 0)
        random = np.random.default_rng([seed, shape])
        counts = random.multinomial(records, share / share.sum(), size=runs)
        curves = np.array([predicted.simulated_curve(way, each, records, random) for each in counts])
        found.append(np.sqrt(2 * np.mean((curves - curve) ** 2)))
    return np.array(found)


@pytest.mark.parametrize(
    ("privacy", "records"),
    [
        pytest.param(SMALL, 1000, id="few", marks=pytest.mark.everything),
        pytest.param(ApproxDP(1, "1e-6"), 10_000, id="many"),
    ],
)
def test_the_prediction_is_what_releases_show_and_auto_is_nearly_the_best(privacy, records):
    wanted = task(privacy, records, size=256)
    strategies = {name: unbiased(name, wanted) for name in UNBIASED_METHODS}
    strategies |= {name: CURVE_METHODS[name].strategy(wanted) for name in ("projection", "histogram")}
    measured = {name: simulated(strategy, records, 5, runs_of(48, part=8)) for name, strategy in strategies.items()}
    for name, energies in measured.items():
        foreseen = predicted_errors(name, wanted).energy
        assert predicted.typical(foreseen) == pytest.approx(predicted.typical(energies), rel=0.35)
    ahead = next(better(wanted), None)
    chosen = unbiased("auto", wanted).name if ahead is None else ahead.name
    least = np.min(list(measured.values()), axis=0)
    assert np.all(measured[chosen] <= 2.5 * least)
    # the control: histograms of a few groups fail on spikes wherever there are many records
    assert records < 10_000 or np.any(measured["histogram"] > 2.5 * least)


def test_predictions_are_kept_and_those_of_large_grids_made_on_smaller_ones():
    large = task(SMALL, 1000, size=1 << 20)
    assert large.at_most().size == 4096
    assert len(predicted_errors("histogram", large).ks) == len(REFERENCES)
    assert task(SMALL, 1000).at_most().size == 1024


def test_typical_errors_are_geometric_means():
    assert predicted.typical((0.1, 0.4)) == pytest.approx(0.2)


def test_by_hand_is_beside_the_named_ones():
    assert tuple(Ecdf("x", (0, 1)).alternatives()) == METHODS
    assert "histogram by hand" in Ecdf("x", (0, 1), method=HistogramQueries(groups=12)).alternatives()
    assert "histogram by hand" not in Ecdf("x", (0, 1), method=HistogramQueries()).alternatives()
    strategy = design_projection(64, privacy=ApproxDP(1, "1e-6"), adjacency=REPLACE)
    assert "projection by hand" in Ecdf("x", (0, 1), bins=64, method=strategy).alternatives()
    assert (*METHODS, "bisection") == tuple(Quantiles("x", bounds=(0, 1), few="curve").alternatives())
    assert (*METHODS, "bisection", "joint") == tuple(Quantiles("x", bounds=(0, 1), few="selected").alternatives())
    few = Quantiles("x", (0.5,), bounds=(0, 1)).alternatives()
    assert tuple(few) == (*METHODS, "bisection", "exponential", "joint", "counted")


def test_what_is_no_method_is_refused_in_one_line():
    for method in ("magic", 3, Projection, None):
        with pytest.raises(ParameterError, match="method must be"):
            Ecdf("x", (0, 1), method=method)
    for records in (0, -5, 1.5, True, "many"):
        with pytest.raises(ParameterError, match="expected_records must be a whole number"):
            Ecdf("x", (0, 1), expected_records=records)
    with pytest.raises(ParameterError, match="basis must be one of"):
        Projection(basis="fourier")
    with pytest.raises(ParameterError, match="degree must be"):
        Projection(degree=-1)
    with pytest.raises(ParameterError, match="noise must be one of auto, gaussian, laplace"):
        HistogramQueries(noise="loud")
    tree = design_tree(32, privacy=PureDP(1), adjacency=REPLACE)
    with pytest.raises(ParameterError, match="covers 32 thresholds"):
        release(Ecdf("x", (0, 1), bins=64, method=tree), trust=Central({"x": [0.5]}), privacy=PureDP(1))
    with pytest.raises(ParameterError, match="cannot be opened at single points"):
        PointwiseCurve.open(Ecdf("x", (0, 1), method="projection"), trust=Central({"x": [0.5]}), privacy=PureDP(1))
