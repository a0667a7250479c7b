"""Measures of a risk score for censored times against definitions written out record by record, and their intervals."""

import itertools

import numpy as np
import pytest

from ogive.columns import Binning, Domain, Membership
from ogive.columns.grids import Grid
from ogive.privacy import Adjacency, PrivacyUnit, PureDP
from ogive.queries import Cells, ClassCurvesQuery
from ogive.statistics.concordance import indices
from ogive.statistics.concordance.indices import Table
from ogive.statistics.roc.designs import choose_for_classes

# --- Definitions, record by record. Times are thresholds, and events come before censorings at equal times.


def censoring(times, events, before):
    """The chance of not being censored before a time, by the product over the distinct times of censorings."""
    result = 1.0
    for time in sorted({t for t, event in zip(times, events, strict=True) if not event and t < before}):
        risk = sum(1 for t, event in zip(times, events, strict=True) if t > time or (t == time and not event))
        left = sum(1 for t, event in zip(times, events, strict=True) if t == time and not event)
        result *= 1 - left / risk
    return result


def c_index(scores, times, events, horizon, power):
    """Share of concordant pairs with weights by the chance of not being censored."""
    concordant = pairs = 0.0
    for s, t, event in zip(scores, times, events, strict=True):
        if not event or t > horizon:
            continue
        weight = censoring(times, events, t) ** -power
        for other, later, ended in zip(scores, times, events, strict=True):
            if later > t or (later == t and not ended):
                pairs += weight
                concordant += weight * ((s > other) + (s == other) / 2)
    return concordant / pairs


def dynamic_auc(scores, times, events, horizon):
    """Area below the cumulative and dynamic ROC curve."""
    concordant = pairs = 0.0
    for s, t, event in zip(scores, times, events, strict=True):
        if event and t <= horizon:
            weight = 1 / censoring(times, events, t)
            controls = [other for other, later in zip(scores, times, strict=True) if later > horizon]
            pairs += weight * len(controls)
            concordant += weight * sum((s > other) + (s == other) / 2 for other in controls)
    return concordant / pairs


def brier_score(predictions, times, events, horizon):
    """Weighted mean of squared errors of a predicted chance of an event up to the horizon."""
    total = 0.0
    for p, t, event in zip(predictions, times, events, strict=True):
        if t > horizon:
            total += p**2 / censoring(times, events, horizon + 0.5)
        elif event:
            total += (1 - p) ** 2 / censoring(times, events, t)
    return total / len(times)


def kaplan_meier(times, events, horizon):
    """Chance of an event up to a horizon."""
    survival = 1.0
    for time in sorted({t for t, event in zip(times, events, strict=True) if event and t <= horizon}):
        died = sum(1 for t, event in zip(times, events, strict=True) if event and t == time)
        survival *= 1 - died / sum(1 for t in times if t >= time)
    return 1 - survival


INTERVALS, BINS = 8, 10
MIDDLES = (np.arange(BINS) + 0.5) / BINS


@pytest.fixture(scope="module")
def cohort():
    """Whole times, events and scores that are middles of bins, of 240 records; higher scores have earlier events."""
    rng = np.random.default_rng(4)
    scores = rng.choice(MIDDLES, size=240)
    due = np.ceil(rng.exponential(9 * np.exp(-1.5 * (scores - 0.5))))
    left = np.ceil(rng.uniform(0, 14, size=240))
    return scores, np.minimum(due, left), (due <= left).astype(int)


def counts_of(scores, times, events):
    """Counts of interval, status and bin."""
    counts = np.zeros((INTERVALS + 1, 2, BINS))
    places = np.minimum(times, INTERVALS + 1).astype(int) - 1
    np.add.at(counts, (places, events, np.floor(scores * BINS).astype(int)), 1)
    return counts


MEASURES = {
    "Harrell": lambda table: indices.concordance(table, power=0),
    "Uno": lambda table: indices.concordance(table, power=2),
    "area": indices.area,
    "Brier": lambda table: indices.brier(table, MIDDLES),
    "observed": lambda table: indices.observed(table, slice(2, 6)),
    "predicted": lambda table: indices.mean_prediction(table, slice(2, 6), MIDDLES),
}
ORACLES = {
    "Harrell": lambda s, t, e, h: c_index(s, t, e, h, 0),
    "Uno": lambda s, t, e, h: c_index(s, t, e, h, 2),
    "area": dynamic_auc,
    "Brier": brier_score,
    "observed": lambda s, t, e, h: kaplan_meier(t[(s > 0.2) & (s < 0.6)], e[(s > 0.2) & (s < 0.6)], h),
    "predicted": lambda s, t, e, h: s[(s > 0.2) & (s < 0.6)].mean(),
}


@pytest.mark.parametrize("horizon", [1, 5, 8])
@pytest.mark.parametrize("name", MEASURES)
def test_measures_of_counts_are_those_of_the_records(cohort, name, horizon):
    value = MEASURES[name](Table.until(counts_of(*cohort), horizon)).value
    assert value == pytest.approx(ORACLES[name](*cohort, horizon), abs=1e-12)


@pytest.mark.parametrize("name", MEASURES)
def test_gradients_are_those_of_finite_differences(cohort, name):
    counts = counts_of(*cohort) + 0.3
    gradient = MEASURES[name](Table.until(counts, 5)).gradient
    slopes = np.empty_like(counts)
    for place in np.ndindex(counts.shape):
        step = np.zeros_like(counts)
        step[place] = 1e-4
        up, down = (MEASURES[name](Table.until(counts + sign * step, 5)).value for sign in (1, -1))
        slopes[place] = (up - down) / 2e-4
    assert np.abs(gradient).max() > 0
    assert np.allclose(gradient, slopes, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("horizon", [3, 8])
def test_peers_say_the_same_of_times_on_the_grid(cohort, horizon):
    """Censorings come a little after events of the same time, which is what Kaplan and Meier take them to do."""
    peer = pytest.importorskip("sksurv.metrics")
    lifelines = pytest.importorskip("lifelines.utils")
    scores, times, events = cohort
    structured = np.array(
        list(zip(events == 1, times + (events == 0) / 4, strict=True)), dtype=[("event", bool), ("time", float)]
    )
    within = np.where(times > horizon, 0, events)
    cut = np.array(list(zip(within == 1, structured["time"], strict=True)), dtype=structured.dtype)
    table = Table.until(counts_of(*cohort), horizon)
    harrell = peer.concordance_index_censored(cut["event"], cut["time"], scores)[0]
    assert indices.concordance(table, power=0).value == pytest.approx(harrell, abs=1e-12)
    assert lifelines.concordance_index(cut["time"], -scores, within) == pytest.approx(harrell, abs=1e-12)
    uno = peer.concordance_index_ipcw(structured, structured, scores, tau=horizon + 0.5)[0]
    assert indices.concordance(table, power=2).value == pytest.approx(uno, abs=1e-12)
    [area], _ = peer.cumulative_dynamic_auc(structured, structured, scores, [horizon + 0.5])
    _, [brier] = peer.brier_score(structured, structured, 1 - scores[:, None], [horizon + 0.5])
    assert indices.brier(table, MIDDLES).value == pytest.approx(brier, abs=1e-12)
    assert indices.area(table).value == pytest.approx(area, abs=1e-12)


# --- Privacy: the price of curves whose classes are combinations of columns, by enumeration


def strategy_for(size, epsilon, adjacency=Adjacency.ADD_OR_REMOVE, method="auto"):
    unit, options = PrivacyUnit(adjacency), {"public_labels": False, "budget": "joint", "method": method}
    return choose_for_classes(size, PureDP(epsilon), unit, refusal=lambda _: None, **options)


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("method", ["tree_ls", "hat_ls"])
def test_the_price_is_the_largest_loss_of_any_change_of_one_record(method, adjacency):
    strategy = strategy_for(3, 2, adjacency, method)
    domain = Domain(
        (Binning("t", Grid.integers(0, 1)), Membership("e", (1,), others=(0,)), Binning("s", Grid.integers(0, 2)))
    )
    query = ClassCurvesQuery(Cells(domain), strategy)
    assert query.shape == (4, 3)
    scales = np.concatenate([np.repeat(float(level.law.scale), level.nodes) for level in strategy.levels])
    moved = np.stack([query.measure(one) for one in np.eye(12, dtype=np.int64)])
    changes = moved if adjacency is Adjacency.ADD_OR_REMOVE else [a - b for a, b in itertools.product(moved, moved)]
    worst = max(float((np.abs(change) / scales).sum()) for change in changes)
    assert worst == pytest.approx(float(query.price(PrivacyUnit(adjacency)).epsilon), rel=1e-9)
