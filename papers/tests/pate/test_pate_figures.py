"""Figures of the paper on PATE: every item is drawn, simulated votes are marked, and verdicts follow the numbers."""

import csv
import dataclasses
import json
import math

import numpy as np
import pytest
from matplotlib.figure import Figure

from ogive.accounting.losses import epsilon_of_gaussian
from ogive.pate.costs.answers import logq_gnmax
from ogive.pate.costs.cost import privacy_cost
from ogive.privacy import GaussianDP
from ogive_papers import pate
from ogive_papers.items import Plan
from ogive_papers.outputs import write_item
from ogive_papers.pate import checked, consensus, ensembles
from ogive_papers.pate.consensus import AGGRESSIVE, CONFIDENT, LAPLACE, MODERATE
from ogive_papers.pate.consensus_figures import FIGURE_1, FIGURE_5
from ogive_papers.pate.ensembles_figure import FIGURE_4
from ogive_papers.pate.stand_in import drawn
from ogive_papers.pate.votes import MNIST, labels_of, votes_of
from ogive_papers.randomness import streams
from ogive_papers.summaries import Cell, Row, Summary
from ogive_papers.verdicts import INCONCLUSIVE, Outcome, verdict

REAL = {"MNIST": "mnist_250", "Adult": "adult_250"}
ITEMS = {item.name: item for item in pate.ITEMS}
PANELS = {"figure-1": 5, "figure-4": 2, "figure-5": 5, "table-1": 3, "table-2": 1}
"""Those with two vertical axes count twice."""

MARKED = {"figure-1": 3, "figure-4": 2, "figure-5": 3}
"""Panels of simulated votes."""


LEFT = {"figure-1", "figure-4", "figure-5", "table-1"}
"""What they measure, claim and draw has tests of its own, below and beside students and tables."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.everything if name in LEFT else ()) for name in ITEMS],
)
def test_every_item_is_drawn_from_seeded_runs(name, tmp_path):
    item = ITEMS[name]
    plan = Plan(runs=2, quick=True)
    tasks = item.tasks(plan)
    found = [(task.setting, item.measure(task.setting, task.seed, plan.data)) for task in tasks]
    assert all(math.isfinite(value) for _, numbers in found for value in numbers.values())
    assert item.measure(tasks[0].setting, tasks[0].seed, plan.data) == found[0][1]
    summary = Summary.of(found)
    checks = item.judge(summary)
    panels, marks = [], []

    def draw(summary, figure):
        item.draw(summary, figure)
        panels.append(len(figure.axes))
        marks.append([axes.get_title("right") for axes in figure.axes].count("SIMULATED, not Glyph"))
        figure.canvas.draw()
        for axes in figure.axes:
            legend = axes.get_legend()
            assert legend is None or not legend.get_window_extent().overlaps(axes.get_window_extent())

    write_item(dataclasses.replace(item, draw=draw), plan, summary, checks, tmp_path)
    assert panels == [PANELS[name]] * 2  # as a picture of points, and of lines
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    assert list(csv.DictReader((tmp_path / f"{name}.csv").read_text().splitlines()))
    written = json.loads((tmp_path / f"{name}.json").read_text())
    if name.startswith("figure"):
        assert marks == [MARKED[name]] * 2
        assert written["inputs"]["Glyph votes"] == "simulated"
        assert (written["verdict"], checks[0].essential) == (INCONCLUSIVE, True)
        for check in checks[1:]:
            real = next((array for title, array in REAL.items() if title in check.claim), None)
            assert ("SIMULATED" if real is None else f"no array {real} was found") in check.evidence
            assert not check.essential


def test_most_queries_of_a_check_are_answered_as_chances_say():
    setting = {"panel": consensus.PRICE, "mechanism": MODERATE, "asked": 1500}
    found = consensus.measure(setting, 5 << 70, ())
    votes = drawn((), streams(5 << 70)[0], 1500).votes
    passes = np.array([0.5 * math.erfc((3500 - top) / 1500 / 2**0.5) for top in votes.max(axis=1)])
    assert found[consensus.ANSWERED] == pytest.approx(passes.sum(), abs=5 * (passes * (1 - passes)).sum() ** 0.5)
    # checks of so much noise cost order / (2 sigma_1^2) each, whatever the votes
    cost = privacy_cost(votes, consensus.MECHANISMS[MODERATE], target_delta=1e-8, mode="expected")
    spent = cost.epsilon - math.log(1e8) / (cost.order - 1)
    assert found[consensus.CHECKS] == pytest.approx(1500 * cost.order / (2 * 1500**2) / spent)
    assert found[consensus.JOINT] < found[consensus.PAPER]


def test_shares_are_counted_in_the_bins_that_hold_them():
    found = consensus.measure(consensus.share_setting(5, asked=800), 7 << 70, ())
    votes = drawn((), streams(7 << 70)[0], 800).votes
    shares = votes.max(axis=1) / 5000
    for place in range(5):
        inside = (shares >= place / 5) & ((shares < (place + 1) / 5) | (place == 4))
        name = f"share {place / 5:g} to {(place + 1) / 5:g}"
        assert found[f"queries, {name}"] == found[f"answers of LNMax, {name}"] == inside.sum()
        passes = [0.5 * math.erfc((5000 - top) / 1500 / 2**0.5) for top in votes[inside].max(axis=1)]
        assert found[f"answers of aggressive check, {name}"] == pytest.approx(sum(passes))
        # beta of q at order 50 is at most 50 / 100^2, and far below it where teachers agree
        cost = found[f"log10 of the mean Renyi cost, {name}"]
        assert cost <= math.log10(50 / 100**2) + 1e-9
        if logq_gnmax(votes[inside], 100.0).max() < -100:
            assert cost < -20


def test_gaussian_labels_cost_no_more_than_their_noise_alone():
    setting = {"votes": "Glyph", "mechanism": ensembles.GAUSSIAN, "teachers": 100, "noise": 200, "asked": 1000}
    found = ensembles.measure(setting, 3 << 70, ())
    # 1000 histograms whose counts move by 1 twice; no teacher of 100 is ever sure of anything under such noise
    fixed = float(epsilon_of_gaussian(GaussianDP(2 * 1000 / 200**2), 1e-8))
    assert fixed < found[ensembles.EPSILON] < 1.4 * fixed
    assert 0.5 < found[ensembles.LOST] < 0.8
    clear = ensembles.measure({**setting, "teachers": 5000, "noise": 1}, 3 << 70, ())
    assert clear[ensembles.LOST] < 0.002
    assert clear[ensembles.RIGHT] - found[ensembles.RIGHT] == pytest.approx(found[ensembles.LOST], abs=0.08)


def summary(item, number, *, runs=8):
    """Every quick setting of an item without real votes, with numbers of which `number` tells the mean."""
    rows = []
    for setting in item.settings(True):
        real = setting.get("panel") == checked.REAL
        cells = (
            {}
            if real
            else {name: Cell(mean, 0.01 * abs(mean) + 1e-9, mean, runs) for name, mean in number(setting).items()}
        )
        rows.append(Row({**setting, "Glyph votes": "simulated"}, cells))
    return Summary(tuple(rows))


def outcomes(item, number, **options):
    checks = item.judge(summary(item, number, **options))
    assert verdict(checks) == INCONCLUSIVE
    if item is FIGURE_4:
        return [check.outcome for check in checks]
    real = [check for check in checks if check.claim.startswith(("MNIST:", "Adult:"))]
    assert {check.outcome for check in real} == {OPEN}
    return [check.outcome for check in checks if check not in real]


def consensus_numbers(setting, *, cheap=0.5, right=0.1, joint=0.7, weak=0.05):
    """Numbers as the paper describes them, or otherwise."""
    if setting["panel"] == consensus.SHARES:
        numbers = {}
        for place in range(setting["bins"]):
            numbers[consensus.in_bin(consensus.ASKED_IN, place, setting["bins"])] = 100.0
            numbers[consensus.in_bin(consensus.COST_IN, place, setting["bins"])] = -10.0
            for name in consensus.COMPARED:
                passes = 100 * (weak if place == 0 else 0.8)
                numbers[consensus.in_bin(consensus.ANSWERED, place, setting["bins"], name)] = passes
        return numbers
    better = {LAPLACE: 0, CONFIDENT: 1, MODERATE: 1, AGGRESSIVE: 2}[setting["mechanism"]]
    price = 0.001 * setting["asked"] * (cheap if better else 1)
    return {
        consensus.ANSWERED: float(setting["asked"]),
        consensus.RIGHT: 0.6 + right * better,
        consensus.PAPER: price,
        consensus.JOINT: joint * price,
        consensus.CHECKS: 0.4,
    }


HOLDS, FAILS, OPEN = Outcome.HOLDS, Outcome.FAILS, Outcome.UNDECIDED


def test_claims_of_figure_1_hold_as_far_as_simulated_votes_allow():
    assert outcomes(FIGURE_1, consensus_numbers) == [OPEN, HOLDS, OPEN, HOLDS, HOLDS, HOLDS]


@pytest.mark.parametrize(
    ("change", "place"),
    [({"cheap": 1.5}, 1), ({"right": -0.1}, 3), ({"joint": 1.2}, 4), ({"weak": 0.7}, 5)],
)
def test_claims_of_figure_1_fail_by_other_numbers(change, place):
    found = outcomes(FIGURE_1, lambda setting: consensus_numbers(setting, **change))
    assert [number for number, outcome in enumerate(found) if outcome is FAILS] == [place]


def test_claims_of_figure_5_hold_as_far_as_simulated_votes_allow():
    assert outcomes(FIGURE_5, lambda setting: consensus_numbers(setting, cheap=0.2)) == [
        OPEN,
        OPEN,
        HOLDS,
        HOLDS,
        HOLDS,
    ]


@pytest.mark.parametrize(
    ("change", "place"),
    [({"cheap": 0.9}, 2), ({"cheap": 0.2, "right": -0.1}, 3), ({"cheap": 0.2, "weak": 0.7}, 4)],
)
def test_claims_of_figure_5_fail_by_other_numbers(change, place):
    found = outcomes(FIGURE_5, lambda setting: consensus_numbers(setting, **change))
    assert [number for number, outcome in enumerate(found) if outcome is FAILS] == [place]


def test_noises_are_compared_on_the_real_votes_on_mnist(tmp_path, shared_data):
    shared_data("mnist.npz")
    data = (shared_data("pate_teacher_votes.npz").parent,)
    settings = [each for each in FIGURE_4.settings(True) if each["votes"] == "MNIST" and each["teachers"] == 250]
    found = [(setting, ensembles.measure(setting, seed << 70, data)) for setting in settings for seed in range(1, 7)]
    check = next(each for each in FIGURE_4.judge(_with_others(found)) if "MNIST" in each.claim)
    assert (check.outcome, check.essential) == (HOLDS, False)
    assert check.evidence.startswith("on real votes")
    votes, truth = (of(MNIST, data, 500) for of in (votes_of, labels_of))
    generator = np.random.default_rng(1)
    for name, draw in ((LAPLACE, generator.laplace), (ensembles.GAUSSIAN, generator.normal)):
        noise = ensembles.NOISES["MNIST"][name][-2]
        lost = [numbers[ensembles.LOST] for setting, numbers in found
                if (setting["mechanism"], setting["noise"]) == (name, noise)]  # fmt: skip
        plain = [((votes + draw(0, noise, votes.shape)).argmax(axis=1) == truth).mean() for _ in range(40)]
        expected = (votes.argmax(axis=1) == truth).mean() - np.mean(plain)
        assert np.mean(lost) == pytest.approx(expected, abs=5 * np.std(plain) / 6**0.5)
    panels = Figure()
    FIGURE_4.draw(_with_others(found), panels)
    assert ["SIMULATED" in axes.get_title("right") for axes in panels.axes] == [True, True, False, False]
    assert [axes.get_title() for axes in panels.axes][2] == "MNIST, real votes"


def _with_others(found):
    """Simulated votes' part of Figure 4, with numbers as the paper describes them, and nothing of Adult."""
    others = [each for each in FIGURE_4.settings(True) if each["votes"] != "MNIST"]
    return Summary.of(found + [(each, ensemble_numbers(each) if each["votes"] == "Glyph" else {}) for each in others])


def test_smaller_ensembles_are_some_of_the_teachers():
    votes = np.array([[250, 0, 0], [200, 50, 0], [100, 90, 60]])
    generator = np.random.default_rng(1)
    drawn = np.array([ensembles.some_teachers(generator, votes, 100) for _ in range(2000)])
    assert (drawn.sum(axis=2) == 100).all()
    assert (drawn <= votes).all()
    assert drawn.mean(axis=0) == pytest.approx(votes * 0.4, abs=5 * 4 / 2000**0.5)
    # without replacement: 100 * p * (1 - p) * (250 - 100) / (250 - 1)
    assert drawn[:, 1, 0].var() == pytest.approx(100 * 0.8 * 0.2 * 150 / 249, rel=0.2)
    assert ensembles.some_teachers(generator, votes, 250) is votes


def ensemble_numbers(setting, *, laplace=2.0, price=-0.3, loss=-1.0):
    """A price and a loss for each noise and size."""
    size = setting["teachers"] / 1000
    lost = 0.0005 * setting["noise"] * size**loss
    cost = (2 + 20 / setting["noise"]) * size**price
    if setting["mechanism"] == ensembles.LAPLACE:
        cost *= laplace
    return {ensembles.RIGHT: 0.75 - lost, ensembles.LOST: lost, ensembles.EPSILON: cost}


def test_claims_of_figure_4_hold_by_what_the_paper_says():
    assert outcomes(FIGURE_4, ensemble_numbers) == [OPEN] + [HOLDS] * 9


@pytest.mark.parametrize(
    ("change", "place"), [({"laplace": 0.5}, [1, 2, 3]), ({"price": 0.3}, [4, 6, 8]), ({"loss": 1.0}, [5, 7, 9])]
)
def test_claims_of_figure_4_fail_by_other_numbers(change, place):
    found = outcomes(FIGURE_4, lambda setting: ensemble_numbers(setting, **change))
    assert [number for number, outcome in enumerate(found) if outcome is FAILS] == place


def test_few_runs_of_figures_decide_nothing():
    assert set(outcomes(FIGURE_4, ensemble_numbers, runs=3)) == {OPEN}
    assert set(outcomes(FIGURE_1, consensus_numbers, runs=3)) == {OPEN}
