"""Pictures of labels, plans and costs: what is drawn are the numbers, and private ones say so."""

import numpy as np
import pytest

from ogive import plots
from ogive.pate import (
    Ballots,
    ConfidentGNMax,
    GNMax,
    LargestMargins,
    LNMax,
    label,
    plan_labels,
    privacy_cost,
    simulated_votes,
)
from ogive.trust import Clear

VOTES, TRUTH = simulated_votes(80, 60, 3, seed=2)
CONFIDENT = ConfidentGNMax(40, 20, 12)


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def small_print(axes):
    return " ".join(text.get_text() for text in axes.texts).replace("\n", " ")


def ticks(axes):
    return [text.get_text() for text in axes.get_xticklabels()]


def test_labels_are_a_bar_for_every_class_and_for_what_has_none():
    found = label(VOTES, CONFIDENT, target_delta="1e-5", max_answers=30)
    axes = found.plot()
    heights = [bar.get_height() for bar in axes.patches]
    refused, unasked = found.asked - found.answered, 80 - found.asked
    assert refused > 0
    assert unasked > 0
    assert heights == [*np.bincount(found.labels[found.labels >= 0], minlength=3), refused, unasked]
    assert ticks(axes) == ["0", "1", "2", f"refused\n{refused}", f"not asked\n{unasked}"]
    assert axes.get_title() == f"Labels of {found.answered} of 80 queries"
    assert "epsilon = about" in small_print(axes)
    assert "trust model central" in small_print(axes)
    assert len(label(VOTES, GNMax(20), target_delta="1e-5").plot().patches) == 3


def test_classes_are_seen_where_most_queries_have_no_label():
    votes = np.tile([600, 600, 0], (300, 1))
    votes[:6] = [1200, 0, 0]
    found = label(votes, ConfidentGNMax(1000, 40, 40), target_delta="1e-5")
    axes = found.plot()
    assert axes.get_ylim()[1] == 8 * np.bincount(found.labels[found.labels >= 0]).max()
    assert f"refused\n{300 - found.answered}" in ticks(axes)


def test_opened_votes_are_drawn_as_margins_with_those_that_were_kept():
    found = label(VOTES, LargestMargins(20, keep=50), target_delta="1e-5")
    axes, least = found.plot(), found.margins[found.taught].min()
    assert legend(axes) == [
        "labelled: 50",
        "not labelled: 30",
        f"smallest kept: {least:.1f}",
    ]
    assert sum(bar.get_height() for bar in axes.patches) == 80
    (line,) = axes.get_lines()
    assert line.get_xdata()[0] == least
    everything = label(VOTES, LargestMargins(20, keep=80), target_delta="1e-5").plot()
    assert legend(everything) == ["labelled: 80"]


def test_exact_labels_warn():
    table = {"a": np.array([0, 0, 1]), "b": np.array([1, 1, 1])}
    exact = label(Clear(table), LargestMargins(1, keep=1), ballots=Ballots(("a", "b"), 2))
    axes = exact.plot()
    assert "not private" in small_print(axes)
    assert "noise" not in axes.get_xlabel()


def test_a_plan_is_a_line_for_every_aggregator_and_number_of_answers():
    plan = plan_labels(VOTES, truth=TRUTH, epsilons=[0.5, 1, 2], target_delta=1e-5, answers=[20, 40])
    axes = plan.plot()
    assert len(axes.get_lines()) == 6
    assert "margins, at most 20 answers" in legend(axes)
    for line in axes.get_lines():
        name, _, most = line.get_label().partition(", at most ")
        rows = [r for r in plan.rows if r.aggregator == name and r.max_answers == int(most.split()[0])]
        assert line.get_xdata().tolist() == [row.epsilon for row in rows] == [0.5, 1, 2]
        assert line.get_ydata() == pytest.approx([100 * row.right for row in rows])
    assert ticks(axes) == ["0.5", "1", "2"]
    assert "agree with the truth" in axes.get_title()


def test_a_plan_for_one_epsilon_is_drawn_against_the_number_of_answers():
    plan = plan_labels(VOTES, epsilons=[1], target_delta=1e-5, answers=[40, 20, 60])
    axes = plan.plot()
    assert legend(axes) == ["confident", "margins", "gnmax"]
    line = axes.get_lines()[1]
    assert line.get_xdata().tolist() == [20, 40, 60]
    assert "epsilon = 1" in small_print(axes)
    assert "the plurality" in axes.get_title()


@pytest.mark.parametrize("mode", ["joint", "expected"])
def test_a_cost_is_drawn_at_every_order_and_private_ones_warn(mode):
    cost = privacy_cost(VOTES, CONFIDENT, target_delta=1e-5, mode=mode)
    axes = cost.plot()
    implied, renyi, chosen = axes.get_lines()
    assert renyi.get_ydata().tolist() == list(cost.rdp)
    assert min(implied.get_ydata()) == pytest.approx(cost.epsilon, rel=1e-12)
    assert implied.get_xdata()[np.argmin(implied.get_ydata())] == cost.order
    assert (chosen.get_xdata()[0], chosen.get_ydata()[0]) == (cost.order, cost.epsilon)
    assert "do not publish" in small_print(axes)
    assert axes.texts[0].get_color() == plots.ORANGE
    assert cost.epsilon < axes.get_ylim()[1] <= 4.1 * cost.epsilon


@pytest.mark.parametrize("aggregator", [CONFIDENT, LNMax(60)], ids=["gaussian", "laplace"])
def test_a_cost_without_orders_is_a_line_and_may_be_published(aggregator, tmp_path):
    cost = privacy_cost(VOTES, aggregator, target_delta=1e-5, mode="independent")
    axes = cost.plot()
    assert "do not publish" not in small_print(axes)
    if cost.order is None:
        assert axes.get_lines()[-1].get_ydata()[0] == cost.epsilon
        assert "without orders" in legend(axes)[-1]
    plots.save(axes, tmp_path / "cost.svg")
    assert (tmp_path / "cost.svg").read_bytes().startswith(b"<?xml")


def test_a_realised_cost_has_its_one_order():
    cost = privacy_cost(VOTES, CONFIDENT, target_delta=1e-5, mode="realised", order=8, answered=np.ones(80, bool))
    assert ticks(cost.plot()) == ["8"]
