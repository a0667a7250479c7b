"""The error of a release on real records: a logistic regression on bank-full, trained on one half, judged on both."""

import numpy as np
import pandas
import pytest
from helpers.scope import size as runs_of
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PureDP
from ogive.releasing.release import release
from ogive.statistics.roc.statistic import Roc
from ogive.strategies import design_path
from ogive.trust import Central, Clear

BINS = 1024


@pytest.fixture(scope="module")
def table(shared_data):
    people = pandas.read_csv(shared_data("bank-full.csv.gz"), sep=";")
    features = pandas.get_dummies(people.drop(columns="y")).astype(float)
    bought = (people["y"] == "yes").to_numpy()
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
    model.fit(features[::2], bought[::2])
    return {"s": model.predict_proba(features)[:, 1], "y": bought}


@pytest.fixture(scope="module")
def truth(table):
    return release(Roc("s", "y", (0, 1), bins=BINS), trust=Clear(table))


def errors(table, truth, runs, **fields):
    found = []
    for seed in range(runs):
        estimate = release(
            Roc("s", "y", (0, 1), bins=BINS, **fields),
            trust=Central(table),
            privacy=PureDP(1),
            source=KeyedSource.from_seed(seed),
        )
        found.append([estimate.auc - truth.auc, estimate.distance(truth)])
    return np.array(found)


def test_the_exact_area_is_that_of_scikit_learn_up_to_ties(table, truth):
    exact = roc_auc_score(table["y"], table["s"])
    assert abs(truth.auc - exact) <= truth.tie_bound
    # bins are half-open at the left: each score moves up to its threshold
    assert truth.auc == pytest.approx(roc_auc_score(table["y"], np.ceil(table["s"] * BINS)), abs=1e-12)
    assert truth.tie_bound < 0.001


def test_the_area_is_within_a_hundredth_in_95_of_100_releases_at_epsilon_1(table, truth):
    found = errors(table, truth, 100)
    assert np.sum(np.abs(found[:, 0]) <= 0.01) >= 95
    # and by far: no release is off by more than half of that, as measured with other seeds too
    assert np.abs(found[:, 0]).max() <= 0.006


def test_the_distance_from_the_true_curve_is_at_most_six_tenths_of_the_paper_s(table, truth):
    paper = design_path(BINS, privacy=PureDP("1/2"), adjacency=Adjacency.REPLACE, constants="paper")
    ours = errors(table, truth, 25)[:, 1].mean()
    theirs = errors(table, truth, 25, method=paper, budget="split", smooth="least_squares")[:, 1].mean()
    assert ours <= 0.6 * theirs
    assert ours <= 0.004


@pytest.mark.one_in(3)
@pytest.mark.parametrize("epsilon", [1, 100, 1000])
def test_the_sample_s_interval_and_band_hold_the_curve_of_the_scores_themselves(table, epsilon):
    exact = roc_auc_score(table["y"], table["s"])
    fpr, tpr, _ = roc_curve(table["y"], table["s"], drop_intermediate=False)
    reached = tpr[np.searchsorted(fpr, fpr, side="right") - 1]  # the curve is vertical at most of its points
    inside = held = without_ties = 0
    runs = runs_of(10, part=5)
    for seed in range(runs):
        estimate = release(
            Roc("s", "y", (0, 1), bins=BINS),
            trust=Central(table),
            privacy=PureDP(epsilon),
            source=KeyedSource.from_seed(seed),
        )
        assert estimate.defined
        interval = estimate.auc_interval(target="sample")
        inside += interval.low <= exact <= interval.high
        # ties add about twice their bound, and hardly anything where noise is large
        assert interval.high - interval.low <= (0.009 if epsilon == 1 else 0.0012)
        ties = 0 if epsilon == 1 else estimate.tie_bound
        without_ties += interval.low + ties <= exact <= interval.high - ties
        low, high = estimate.band(target="sample")(fpr)
        held += bool(np.all(low <= reached) and np.all(reached <= high))
    assert inside >= runs - 1
    assert held >= runs - 1
    if epsilon > 1:
        assert without_ties == 0, "the control: at almost no noise, ties are all that is left"
