"""Sums of strategies: linear, exact in variance and loss, plain data; and what does not add up."""

import json
from fractions import Fraction

import numpy as np
import pytest

from ogive.accounting import covers
from ogive.errors import ParameterError
from ogive.privacy import Adjacency, ApproxDP, PureDP, ZeroConcentratedDP
from ogive.strategies import (
    SummedApproximations,
    SummedStrategies,
    design_hats,
    design_path,
    design_projection,
    design_square_root,
    design_tree,
    strategy_from_dict,
)
from ogive.strategies.composed import MOST_PARTS, largest_loss

SIZE = 12
REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE
HALF, ONE = PureDP("1/2"), PureDP(1)


def unbiased(adjacency=REPLACE):
    return (
        design_hats(SIZE, privacy=HALF, adjacency=adjacency),
        design_path(SIZE, privacy=ONE, adjacency=adjacency),
        design_tree(SIZE, privacy=ZeroConcentratedDP("1/8"), adjacency=adjacency),
        design_square_root(SIZE, privacy=ZeroConcentratedDP("1/8"), adjacency=adjacency),
    )


def projections(adjacency=REPLACE, bits=(20, 22, 20)):
    return tuple(
        design_projection(
            64, privacy=ApproxDP(epsilon, "1e-6"), adjacency=adjacency, degree=6, records=1000, bits=fractional
        )
        for epsilon, fractional in zip(("1/2", 1, 2), bits, strict=False)
    )


def simulated(strategy, total_known, runs=4000, seed=1):
    """Errors of many releases of nothing, with continuous noise of the laws' variances."""
    rng = np.random.default_rng(seed)
    drawn = tuple(
        np.rint(rng.normal(0, np.sqrt(level.law.variance), (runs, level.nodes))).astype(np.int64)
        for level in strategy.levels
    )
    return strategy.estimate(strategy.spread(drawn), 0 if total_known else None)


@pytest.mark.parametrize("total_known", [True, False])
@pytest.mark.parametrize("kind", ["sum", "approximations", "mixture"])
def test_the_stated_variance_is_that_of_the_noise(kind, total_known):
    adjacency = REPLACE if total_known else ADD
    strategy = {
        "sum": lambda: SummedStrategies(unbiased(adjacency)),
        "approximations": lambda: SummedApproximations(projections(adjacency)),
        "mixture": lambda: SummedStrategies(unbiased(adjacency), (Fraction(1, 4),) * 4, (10, 20, 30, 40)),
    }[kind]()
    found = simulated(strategy, total_known).var(axis=0)
    stated = strategy.variance(total_known=total_known)
    # 4000 runs know a variance to about 2 percent; 5 is beyond 2 standard deviations of the worst of dozens
    assert found[:-1] == pytest.approx(stated[:-1], rel=0.12)
    assert found.sum() == pytest.approx(stated.sum(), rel=0.05)
    # control: one part alone has much less
    assert strategy.parts[0].variance(total_known=total_known).sum() < 0.9 * stated.sum()


def test_the_estimate_is_the_sum_of_the_parts_estimates():
    rng = np.random.default_rng(2)
    parts = unbiased(ADD)
    strategy = SummedStrategies(parts)
    answers = [part.measure(rng.integers(0, 50, SIZE)) for part in parts]
    wanted = sum(part.estimate(answer, None) for part, answer in zip(parts, answers, strict=True))
    assert strategy.estimate(np.concatenate(answers), None) == pytest.approx(wanted)
    with pytest.raises(ParameterError, match="add up the parts' estimates"):
        strategy.estimate(np.concatenate(answers), 5)


def test_a_mixture_counts_each_part_by_its_weight():
    counts = [np.full(SIZE, records) for records in (10, 30)]
    totals = tuple(int(x.sum()) for x in counts)
    parts = unbiased()[:2]
    strategy = SummedStrategies(parts, (Fraction(3, 4), Fraction(1, 4)), totals)
    answer = np.concatenate([part.measure(x) for part, x in zip(parts, counts, strict=True)])
    assert strategy.estimate(answer, sum(totals)) == pytest.approx(np.cumsum(np.full(SIZE, sum(totals) / SIZE)))
    assert strategy.factors == pytest.approx([3 / 4 * 4, 1 / 4 * 4 / 3])
    assert strategy.samples == ((0.75, totals[0]), (0.25, totals[1]))


def test_measurements_of_approximations_add_up_also_with_other_fractional_bits():
    rng = np.random.default_rng(3)
    parts = projections()
    strategy = SummedApproximations(parts)
    assert strategy.shifts == (2, 0, 2)
    counts = [rng.integers(0, 1000, 64) for _ in parts]
    added = strategy.added([part.measure(x) for part, x in zip(parts, counts, strict=True)])
    whole = strategy.measure(sum(counts))
    # rounding of coarser features: at most 2^2 / 2 units a record, and one half of its own
    assert np.abs(added - whole).max() <= 2.5 * sum(x.sum() for x in counts)
    total = int(sum(x.sum() for x in counts))
    wanted = sum(part.estimate(part.measure(x), int(x.sum())) for part, x in zip(parts, counts, strict=True))
    assert strategy.estimate(added, total) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_loss_is_that_of_the_dearest_part(adjacency):
    hats, path = unbiased(adjacency)[:2]
    assert SummedStrategies((hats, path)).loss(adjacency) == path.loss(adjacency)
    mixed = SummedStrategies(unbiased(adjacency)).loss(adjacency)
    assert isinstance(mixed, ZeroConcentratedDP)
    for part in unbiased(adjacency):
        assert covers(mixed, part.loss(adjacency))
    assert SummedApproximations(projections(adjacency)).loss(adjacency) == projections(adjacency)[2].loss(adjacency)


def test_losses_of_two_types_are_compared_in_zcdp():
    assert largest_loss([PureDP(1), ZeroConcentratedDP("0.3")]) == ZeroConcentratedDP("0.5")
    assert largest_loss([PureDP(1), ZeroConcentratedDP("0.7")]) == ZeroConcentratedDP("0.7")


def test_sums_of_sums_are_flat_and_compare_equal():
    one, two, three, four = unbiased()
    nested = SummedStrategies((SummedStrategies((one, two)), SummedStrategies((three, four))))
    assert nested == SummedStrategies((one, two, three, four))
    first, second, third = projections()
    assert SummedApproximations((SummedApproximations((first, second)), third)).parts == (first, second, third)


@pytest.mark.parametrize(
    "strategy",
    [
        SummedStrategies(unbiased()),
        SummedStrategies(unbiased()[:2], (Fraction(1, 3), Fraction(2, 3)), (5, 6)),
        SummedApproximations(projections()),
    ],
    ids=["sum", "mixture", "approximations"],
)
def test_plain_data_gives_the_same_sum_back(strategy):
    assert strategy_from_dict(json.loads(json.dumps(strategy.to_dict()))) == strategy


def damaged(**changes):
    data = SummedStrategies(unbiased()[:2], (Fraction(1, 3), Fraction(2, 3)), (5, 6)).to_dict()
    return {**data, **changes}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (damaged(parts=3), "must be a list of strategies"),
        (damaged(parts=[3, 4]), "must cover its thresholds"),
        (damaged(parts=[{"name": "hat_ls", "size": 1 << 24}] * 2), "must cover its thresholds"),
        (damaged(totals=None), "belong together"),
        (damaged(weights=["1/2", "2/3"]), "add up to 1"),
        (damaged(weights=["1/2"]), "a weight and a positive number"),
        (damaged(totals=[5.5, 6]), "a total of a sum must be a whole number, got 5.5"),
        (damaged(totals=[0, 6]), "positive number of records"),
        (damaged(weights=["x", "y"]), "a weight must be a number"),
    ],
)
def test_damaged_sums_are_refused(data, message):
    with pytest.raises(ParameterError, match=message):
        strategy_from_dict(data)


def test_what_does_not_add_up_is_refused():
    hats, path = unbiased()[:2]
    other = design_hats(SIZE + 1, privacy=ONE, adjacency=REPLACE)
    first, second, _ = projections()
    coarse = design_projection(64, privacy=ApproxDP(1, "1e-6"), adjacency=REPLACE, degree=7, records=1000)
    for make, message in (
        (lambda: SummedStrategies((hats,)), "2 to 1000 parts, got 1"),
        (lambda: SummedStrategies((hats,) * (MOST_PARTS + 1)), "2 to 1000 parts"),
        (lambda: SummedStrategies((hats, other)), r"same thresholds, got \[12, 13\]"),
        (lambda: SummedStrategies((first, second)), "added up by SummedApproximations"),
        (lambda: SummedApproximations((first, coarse)), "measure the same features"),
        (lambda: SummedApproximations((hats, path)), "measure the same features"),
        (lambda: SummedStrategies((hats, path)).measure(np.zeros(SIZE, dtype=np.int64)), "measure each batch"),
    ):
        with pytest.raises(ParameterError, match=message):
            make()
