"""Without noise, survival is that of lifelines, scikit-survival and statsmodels on the data that they ship."""

import numpy as np
import pytest

import ogive

lifelines = pytest.importorskip("lifelines", reason="lifelines is not installed, which survival is compared with")
sksurv = pytest.importorskip("sksurv", reason="scikit-survival is not installed, which survival is compared with")
statsmodels = pytest.importorskip("statsmodels", reason="statsmodels is not installed, which survival is compared with")

import lifelines.datasets as shipped  # noqa: E402
import sksurv.datasets as more  # noqa: E402
from lifelines.statistics import logrank_test  # noqa: E402
from lifelines.utils import restricted_mean_survival_time  # noqa: E402
from sksurv.compare import compare_survival  # noqa: E402
from sksurv.nonparametric import (  # noqa: E402
    cumulative_incidence_competing_risks,
    kaplan_meier_estimator,
    nelson_aalen_estimator,
)
from statsmodels.duration.survfunc import CumIncidenceRight, SurvfuncRight, survdiff  # noqa: E402


def of_frame(frame, time, event, group):
    return tuple(frame[name].to_numpy() for name in (time, event, group))


def of_arrays(covariates, outcome, group):
    event, time = (outcome[name] for name in outcome.dtype.names)
    return time, event.astype(int), covariates[group].astype(str).to_numpy()


DATA = {
    "rossi": lambda: of_frame(shipped.load_rossi(), "week", "arrest", "fin"),
    "waltons": lambda: of_frame(shipped.load_waltons(), "T", "E", "group"),
    "lung": lambda: of_frame(shipped.load_lung(), "time", "status", "sex"),
    "leukemia": lambda: of_frame(shipped.load_leukemia(), "t", "status", "Rx"),
    "gbsg2": lambda: of_arrays(*more.load_gbsg2(), "horTh"),
    "whas500": lambda: of_arrays(*more.load_whas500(), "sho"),
    "veterans": lambda: of_arrays(*more.load_veterans_lung_cancer(), "Treatment"),
}


@pytest.fixture(scope="module", params=DATA)
def records(request):
    """Times rounded up to 120 thresholds up to the 95th percentile, events, groups, and the bound."""
    times, events, groups = DATA[request.param]()
    bound = float(np.ceil(np.quantile(times, 0.95)))
    thresholds = ogive.Survival("t", "e", bounds=(0, bound)).axis.thresholds
    beyond = times > bound
    places = np.minimum(np.searchsorted(thresholds, times), len(thresholds) - 1)
    rounded = np.where(beyond, bound + 1, thresholds[places])
    return rounded, np.where(beyond, 0, events).astype(int), groups, bound


def exact(times, events, bound, **options):
    question = ogive.Survival("t", "e", bounds=(0, bound), **options)
    return ogive.release(question, trust=ogive.Clear({"t": times, "e": events}))


def at(thresholds, times, values, start):
    """Values of a step function at the thresholds."""
    return np.concatenate(([start], values))[np.searchsorted(times, thresholds, side="right")]


def test_survival_is_that_of_three_packages(records):
    times, events, _, bound = records
    estimate = exact(times, events, bound)
    grid = estimate.timeline
    theirs = lifelines.KaplanMeierFitter().fit(times, events)
    assert theirs.survival_function_at_times(grid).to_numpy() == pytest.approx(estimate(grid), abs=1e-12)
    assert at(grid, *kaplan_meier_estimator(events == 1, times), 1.0) == pytest.approx(estimate(grid), abs=1e-12)
    third = SurvfuncRight(times, events)
    assert at(grid, third.surv_times, third.surv_prob, 1.0) == pytest.approx(estimate(grid), abs=1e-12)
    errors = [estimate.number(t).standard_error for t in grid]
    assert at(grid, third.surv_times, third.surv_prob_se, 0.0) == pytest.approx(errors, abs=1e-12)


def test_hazard_median_and_restricted_mean_are_those_of_the_packages(records):
    times, events, _, bound = records
    estimate = exact(times, events, bound)
    grid = estimate.timeline
    hazard = estimate.cumulative_hazard(grid)
    theirs = lifelines.NelsonAalenFitter(nelson_aalen_smoothing=False).fit(times, events)
    assert theirs.cumulative_hazard_at_times(grid).to_numpy() == pytest.approx(hazard, abs=1e-12)
    assert at(grid, *nelson_aalen_estimator(events == 1, times), 0.0) == pytest.approx(hazard, abs=1e-12)
    fitted = lifelines.KaplanMeierFitter().fit(times, events)
    if np.isfinite(estimate.median):
        assert estimate.median == fitted.median_survival_time_
    area = restricted_mean_survival_time(fitted, t=grid[100])
    if estimate.grid.kind != "integers":  # steps at the thresholds, less what falls evenly between them
        area += np.diff(estimate(grid[:101]), prepend=1.0) @ np.diff(grid[:101], prepend=estimate.grid.low) / 2
    assert estimate.restricted_mean(grid[100]).value == pytest.approx(area, rel=1e-12)


@pytest.mark.parametrize(
    ("weights", "of_lifelines", "of_statsmodels"),
    [("log-rank", None, None), ("gehan", "wilcoxon", "gb"), ("tarone-ware", "tarone-ware", "tw")],
)
def test_tests_of_two_groups_are_those_of_the_packages(records, weights, of_lifelines, of_statsmodels):
    times, events, groups, bound = records
    first = groups == np.unique(groups)[0]
    one, other = (exact(times[of], events[of], bound) for of in (first, ~first))
    test = one.log_rank(other, weights)
    ours = (test.statistic / test.standard_error) ** 2
    theirs = logrank_test(times[first], times[~first], events[first], events[~first], weightings=of_lifelines)
    assert ours == pytest.approx(theirs.test_statistic, rel=1e-11)
    assert test.p_value == pytest.approx(theirs.p_value, rel=1e-9)
    assert ours == pytest.approx(survdiff(times, events, first, weight_type=of_statsmodels)[0], rel=1e-11)
    if weights == "log-rank":
        outcome = np.array(list(zip(events == 1, times, strict=True)), dtype=[("event", bool), ("time", float)])
        assert ours == pytest.approx(compare_survival(outcome, first)[0], rel=1e-11)


def test_incidence_of_competing_causes_is_that_of_the_packages(records):
    times, events, _, bound = records
    causes = events * np.random.default_rng(3).choice([1, 2], p=[0.7, 0.3], size=len(events))
    estimate = exact(times, causes, bound, causes=(1, 2))
    grid = estimate.timeline
    moments, incidence = cumulative_incidence_competing_risks(causes, times)
    third = CumIncidenceRight(times, causes)
    for cause in (1, 2):
        ours = estimate.cumulative_incidence(grid, cause)
        assert at(grid, moments, incidence[cause], 0.0) == pytest.approx(ours, abs=1e-12)
        assert at(grid, third.times, third.cinc[cause - 1], 0.0) == pytest.approx(ours, abs=1e-12)
