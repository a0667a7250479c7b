"""The error of a release on real records: a logistic regression on bank-full, trained on one half, judged on both."""

import numpy as np
import pandas
import pytest
from helpers.data import shared_data
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PureDP
from ogive.releasing import release
from ogive.statistics.roc import Roc
from ogive.strategies import design_path
from ogive.trust import Central, Clear

BINS = 1024


@pytest.fixture(scope="module")
def table():
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
