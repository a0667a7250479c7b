"""Claims of Figures 1 and 5 on the real votes on MNIST and Adult, by plain definitions; verdicts follow the numbers."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.special import ndtr

from ogive_papers.pate import checked, consensus
from ogive_papers.pate.consensus import CONFIDENT
from ogive_papers.pate.consensus_figures import FIGURE_1, FIGURE_5
from ogive_papers.pate.votes import VOTE_SETS, labels_of, votes_of
from ogive_papers.summaries import Cell, Row, Summary
from ogive_papers.verdicts import Outcome

HOLDS, FAILS = Outcome.HOLDS, Outcome.FAILS


def simulated_numbers(setting):
    """Numbers of simulated votes: the measured ones of a few queries."""
    return consensus.measure({**setting, "asked": 50}, 5 << 70, ())


@pytest.mark.parametrize("title", checked.RUNS)
def test_real_votes_are_asked_what_simulated_ones_are(title, shared_data):
    shared_data("mnist.npz")
    shared_data("adult.test.gz")
    data = (shared_data("pate_teacher_votes.npz").parent,)
    row = checked.RUNS[title]
    asked, threshold, sigma = row.asked, row.aggregator.threshold, row.aggregator.sigma_1
    votes, truth = (of(VOTE_SETS[title], data, asked) for of in (votes_of, labels_of))
    laplace, confident = (
        [checked.measure(setting, seed << 70, data) for seed in range(1, 4)]
        for setting in checked.real_settings()
        if setting["votes"] == title
    )
    # the plain definitions, in floats
    generator = np.random.default_rng(1)
    passes = ndtr(((votes.max(axis=1) - threshold) / sigma).astype(float))
    normal, other = (
        np.mean([(votes + draw(0, scale, votes.shape)).argmax(axis=1) == truth for _ in range(150)], axis=0)
        for draw, scale in ((generator.normal, 40), (generator.laplace, 20))
    )
    means = {name: np.mean([run[name] for run in confident]) for name in confident[0]}
    assert means[consensus.RIGHT] == pytest.approx((passes * normal).sum() / passes.sum(), abs=0.01)
    assert means[consensus.ANSWERED] == pytest.approx(passes.sum(), abs=5 * 18.43 / 60**0.5)
    assert means[consensus.PAPER] == pytest.approx({"MNIST": 1.998817, "Adult": 1.678180}[title], abs=1e-6)
    shares = votes.max(axis=1) / 250
    inside = (shares >= 0.6) & (shares < 0.8)
    assert means["queries, share 0.6 to 0.8"] == inside.sum()
    assert means["answers of Confident-GNMax, share 0.6 to 0.8"] == pytest.approx(passes[inside].sum())
    means = {name: np.mean([run[name] for run in laplace]) for name in laplace[0]}
    assert means[consensus.ANSWERED] == row.answered
    assert means[consensus.RIGHT] == pytest.approx(other[: row.answered].mean(), abs=0.005)
    assert means[checked.RIGHT_OF_ALL] == pytest.approx(other.mean(), abs=0.005)


def real_numbers(setting, *, price=0.6, right=0.05, weak=0.1):
    """Numbers of real votes as the paper describes votes on Glyph, or otherwise."""
    if setting["panel"] != checked.REAL:
        return simulated_numbers(setting)
    confident = setting["mechanism"] == CONFIDENT
    numbers = {
        consensus.ANSWERED: 250.0 if confident else 300.0,
        consensus.RIGHT: 0.8 + right * confident,
        checked.RIGHT_OF_ALL: 0.8,
        consensus.PAPER: 2.0 * (price if confident else 1),
        consensus.JOINT: 1.0,
        consensus.CHECKS: 0.3,
    }
    for place in range(checked.BINS):
        queries = 5.0 if place == 0 else 100.0
        numbers[consensus.in_bin(consensus.ASKED_IN, place, checked.BINS)] = queries
        passed = 1.0 if place == 0 else weak if place == 1 else 0.5  # a bin of 5 queries does not count
        numbers[consensus.in_bin(consensus.ANSWERED, place, checked.BINS, setting["mechanism"])] = passed * queries
    return numbers


@pytest.mark.parametrize(
    ("change", "failing"),
    [
        ({}, None),
        ({"price": 0.9}, "costs less"),
        ({"right": -0.1}, "right more often"),
        ({"weak": 0.3}, "least agreed"),
    ],
)
@pytest.mark.parametrize("item", [FIGURE_1, FIGURE_5])
def test_claims_about_real_votes_turn_with_their_numbers(item, change, failing):
    rows = []
    for setting in item.settings(True):
        cells = {name: Cell(mean, 0.01 * abs(mean), mean, 8) for name, mean in real_numbers(setting, **change).items()}
        rows.append(Row(setting, cells))
    checks = [check for check in item.judge(Summary(tuple(rows))) if check.claim.startswith(("MNIST:", "Adult:"))]
    assert len(checks) == (6 if item is FIGURE_1 else 4)
    for check in checks:
        fails = failing is not None and failing in check.claim
        assert check.outcome is (FAILS if fails else HOLDS), check.claim
        assert check.evidence.startswith("on real votes ")
        assert not check.essential


def test_figure_5_shows_who_passes_on_real_votes():
    rows = [Row(each, {name: Cell(mean, 0.01, mean, 8) for name, mean in real_numbers(each).items()})
            for each in FIGURE_5.settings(True)]  # fmt: skip
    figure = Figure()
    FIGURE_5.draw(Summary(tuple(rows)), figure)
    (panel,) = (axes for axes in figure.axes if axes.get_title().startswith("real votes"))
    assert [line.get_label() for line in panel.lines] == ["MNIST", "Adult"]
    assert list(panel.lines[0].get_xdata()) == pytest.approx([0.3, 0.5, 0.7, 0.9])
    assert list(panel.lines[0].get_ydata()) == pytest.approx([0.1, 0.5, 0.5, 0.5])
