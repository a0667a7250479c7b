"""Every statistic that secure aggregation serves, in a study: over HTTPS the same integers as in process."""

import itertools

import numpy as np
import pytest
from helpers.examples import numbers
from helpers.few_simulations import simulate_little
from helpers.scope import is_everything, size
from helpers.served import KINDS, STATISTICS, study_of
from helpers.study import Trial, carry
from helpers.study_service import Serving, running
from helpers.waiting import until

from ogive.noise import DerivedNodes
from ogive.privacy import Adjacency, PureDP
from ogive.releasing.release import release
from ogive.statistics.kinds import read_recorded
from ogive.trust import SecAgg

BY_SORT = {(each.name, getattr(each, "method", None)): each for each in reversed(STATISTICS)}
# over a network first one of each sort: a curve and several rounds, then votes, a number, two classes and pairs
SORTS = [BY_SORT[sort] for sort in (
    ("ecdf", "auto"), ("quantiles", "bisection"), ("labels", None), ("count", None), ("roc", "auto"),
    ("ustatistic", "auto"),
)]  # fmt: skip
SENT = [*SORTS, *(each for each in STATISTICS if all(each is not one for one in SORTS))]
ENDS = (0, 50, 900, 2_000)


@pytest.fixture(scope="module")
def pieces():
    """What three parties of unequal size hold."""
    rng = np.random.default_rng(3)
    table = {"x": rng.gamma(4.0, 8.0, size=2_000), "p": rng.beta(1, 5, size=2_000)}
    table["y"] = (rng.random(2_000) < table["p"]).astype(int)
    table["z"] = table["y"] + rng.integers(0, 2, size=2_000)
    return [{name: values[a:b] for name, values in table.items()} for a, b in itertools.pairwise(ENDS)]


def trial_of(folder, statistics, adjacency, pieces):
    records = dict(enumerate(pieces, 1))
    return Trial(
        folder, study=study_of(statistics, adjacency, parties=len(ENDS) - 1), seed="conformance", records=records
    )


def ask_for_all(trial):
    for each in trial.study.releases:
        trial.coordinator.request(each.name)


def results(trial):
    return {each.name: trial.coordinator.result(each.name) for each in trial.study.releases}


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr("ogive.study.agent.LONGEST_PAUSE", 0.3)
    monkeypatch.setattr("ogive.study.https.service.PER_SECOND", 1e6)
    monkeypatch.setattr("ogive.statistics.curve.bands.SIMULATED_VALUES", 100_000)
    simulate_little(monkeypatch)


def test_every_statistic_gives_the_same_integers_over_https_as_in_process(pieces, tmp_path):
    assert len(SENT) == len(STATISTICS) >= 25
    sent = SENT[: size(len(SENT), part=2)]
    alone = trial_of(tmp_path / "alone", sent, Adjacency.REPLACE, pieces)
    ask_for_all(alone)
    carry(alone.coordinator, alone.agents)
    served = trial_of(tmp_path / "served", sent, Adjacency.REPLACE, pieces)
    with Serving(served) as serving, running(serving):
        ask_for_all(served)
        until(lambda: all(served.coordinator.result(each.name) for each in served.study.releases))
    found = results(alone)
    assert results(served) == found
    assert {read_recorded(each).provenance.trust for each in found.values()} == {"secagg"}
    for site in alone.sites.values():
        assert site.account.spent == PureDP(2 * len(sent))


def test_without_noise_a_study_says_what_secure_aggregation_of_the_same_pieces_says(pieces, tmp_path, monkeypatch):
    monkeypatch.setattr(DerivedNodes, "values", lambda self, law, level, nodes: np.zeros(np.shape(nodes), np.int64))
    unseen = Adjacency.ADD_OR_REMOVE
    some = STATISTICS[: size(len(STATISTICS), part=KINDS)]
    if not is_everything():
        some = some[1::2]  # of every other kind; who adds up does not know what statistic the sums are of
    trial = trial_of(tmp_path, some, unseen, pieces)
    ask_for_all(trial)
    carry(trial.coordinator, trial.agents)
    for asked in trial.study.releases:
        simulated = release(asked.statistic, trust=SecAgg(pieces), privacy=asked.privacy, adjacency=unseen)
        found = read_recorded(trial.coordinator.result(asked.name))
        np.testing.assert_allclose(numbers(found), numbers(simulated), atol=1e-9, err_msg=asked.name)
