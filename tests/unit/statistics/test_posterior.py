"""One estimate of all that a release measured: a dense oracle of least squares, what adds up, and errors as stated."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ogive
from ogive import Adjacency, PureDP, ZeroConcentratedDP
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.statistics.sums.measured import LinearForm, Measured, count_reading, share_reading
from ogive.statistics.sums.posterior import (
    at_least_zero,
    at_least_zero_both,
    given_total,
    joined,
    sizes_of,
    whole_numbers,
)

REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE
LAPLACE, GAUSSIAN = DiscreteLaplace(7), DiscreteGaussian(50)
N, ONE = 2000, PureDP(1)


@pytest.fixture(autouse=True, scope="module")
def few_simulations():
    """Quartiles are tested elsewhere."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("ogive.statistics.curve.bands.SIMULATED_VALUES", 60_000)
        yield


def people(rows=N):
    rng = np.random.default_rng(3)
    return {
        "x": rng.integers(0, 101, rows).astype(float),
        "y": rng.choice(["a", "b", "c"], rows, p=[0.6, 0.38, 0.02]),
        "z": rng.random(rows) < 0.3,
        "g": rng.choice(["p", "q", "r"], rows, p=[0.5, 0.3, 0.2]),
    }


def described(data=None, columns=("x", "y", "z"), privacy=ONE, adjacency=REPLACE, groups=("p", "q", "r"), **options):
    given = {"bounds": {"x": (0, 100)}, "values": {"y": ("a", "b", "c"), "z": True}, **options}
    by = {"by": "g", "groups": groups} if groups else {}
    return ogive.describe(data or people(), columns, **given, **by, privacy=privacy, adjacency=adjacency)


def least_squares(blocks, constraints):
    """The oracle: estimates and covariance of all integers under linear constraints, and without, by dense matrices.

    `blocks`: Values of each block, with the variance of each of them or their covariance.
    `constraints`: Coefficients of all integers, with their value.
    """
    values = np.concatenate([np.array(values, dtype=float) for values, _ in blocks])
    noise, start = np.zeros((len(values), len(values))), 0
    for some, variance in blocks:
        end = start + len(some)
        noise[start:end, start:end] = variance if np.ndim(variance) else variance * np.eye(len(some))
        start = end
    rows, wanted = np.array([row for row, _ in constraints]), np.array([value for _, value in constraints])
    gain = noise @ rows.T @ np.linalg.inv(rows @ noise @ rows.T)
    return values - gain @ (rows @ values - wanted), noise - gain @ rows @ noise, noise


def told_by_curve(curve, lattice, records):
    """Number, sum and squares of places by a curve, with their covariance, by the matrix of all that was measured."""
    strategy, steps = curve.strategy, lattice.steps
    measures = np.array([strategy.measure(unit) for unit in np.eye(strategy.size, dtype=np.int64)], dtype=float).T
    precision = np.repeat(
        [1 / float(level.law.variance) for level in strategy.levels], [each.nodes for each in strategy.levels]
    )
    ends = (np.array(curve.grid.thresholds, dtype=float) - float(lattice.low)) / float(lattice.step)
    width = np.diff(ends)[0]
    middle = np.concatenate([[0.0], ends[1:] - width / 2])
    wanted = np.array([np.ones(len(middle)), middle - steps / 2, middle * (steps - middle)])
    covariance = wanted @ np.linalg.solve(measures.T @ (precision[:, None] * measures), wanted.T)
    return wanted @ np.diff(curve.raw, prepend=0), covariance + np.diag(
        [0, records * width / 2, records * width / 2 * steps]
    ) ** 2


def oracle_of(found):
    """What the oracle says of described variables: for each group, variable and part the integers, and all errors."""
    keys = [(group, each, part) for group in found.columns for each in found.variables for part in each.parts]
    measured = {
        (group, each.column, part): found.found[number + len(found.finding)].measured
        for number, (group, each, part) in enumerate(keys)
        if part != "quantiles"
    }
    lengths = [len(each.values) for each in measured.values()]
    told = {}
    for variable in found.variables:
        each = [found.of(variable.column, group) for group in found.columns]
        if "quantiles" in each[0] and each[0]["quantiles"].curve.strategy.name == "hat_ls":
            numbers = np.array([one["quantiles"].curve.raw[-1] for one in each])
            records = max(numbers.max(), numbers.sum() / np.sqrt(len(numbers)))
            for group, one in zip(found.columns, each, strict=True):
                told[group, variable.column] = told_by_curve(one["quantiles"].curve, one["mean"].lattice, records)
    start = dict(zip(measured, itertools.accumulate([0, *lengths[:-1]]), strict=True))
    size = sum(lengths) + 3 * len(told)

    def row(key, form):
        result = np.zeros(size)
        result[start[key] : start[key] + len(form.coefficients)] = form.coefficients
        return result

    constraints, of_groups = [], []
    for number, (group, column) in enumerate(told):
        key = group, column, "mean"
        weights = measured[key].weights
        for place, unit in enumerate(np.diag([1 / weights.count, 1 / weights.slope, 0.25 / weights.square])):
            curve = np.eye(size)[sum(lengths) + 3 * number + place]
            constraints.append((row(key, measured[key].sum_of(*unit)) - curve, 0.0))
    for group in found.columns:
        whole = []
        for each in found.variables:
            for part in each.parts:
                key = group, each.column, part
                if part == "quantiles":
                    continue
                if each.missing == "drop" and part != "known":
                    if each.count_missing:
                        there = measured[group, each.column, "known"].sum_of(0.0, 1.0)
                        known = row((group, each.column, "known"), there)
                        constraints.append((row(key, measured[key].size) - known, 0.0))
                    continue
                whole.append(row(key, measured[key].size))
        constraints += [(one - whole[0], 0.0) for one in whole[1:]]
        of_groups.append(whole[0])
    if found.provenance.total is not None:
        constraints.append((np.sum(of_groups, axis=0), found.provenance.total))
    blocks = [(each.values, float(each.law.variance)) for each in measured.values()]
    blocks += told.values()
    return *least_squares(blocks, constraints), row, of_groups


DROPPED = {"missing": "drop", "count_missing": True}


@pytest.mark.parametrize("groups", [("p", "q", "r"), ("p",)], ids=len)
@pytest.mark.parametrize("options", [{}, {"adjacency": ADD}, {"adjacency": ADD, **DROPPED}], ids=str)
@pytest.mark.parametrize("privacy", [PureDP(1), ZeroConcentratedDP("0.1")], ids=str)
def test_estimates_and_errors_are_those_of_the_dense_oracle(groups, options, privacy):
    data = people()
    if groups == ("p",):
        data["g"][:] = "p"
    if options.get("missing"):
        data["y"] = data["y"].astype(object)
        data["x"][::5], data["y"][::7] = np.nan, None
        options = {**options, "missing": {"x": "drop", "y": "drop"}}
    found = described(data, privacy=privacy, groups=groups, **options)
    values, covariance, noise, row, of_groups = oracle_of(found)
    for group, size in zip(found.groups, of_groups, strict=True):
        assert found.records(group) == pytest.approx(size @ values, rel=1e-9)
        for variable in found:
            for part, estimate in found.of(variable.column, group).items():
                if part == "quantiles":
                    continue
                measured, key = estimate.measured, (group, variable.column, part)
                forms = [measured.sum_of(*unit) for unit in np.eye(len(measured.values))]
                for form in [*forms, measured.records, measured.sum_of(*range(1, len(forms) + 1))]:
                    weights = row(key, form)
                    assert measured.at(form) == pytest.approx(weights @ values, rel=1e-6, abs=1e-5)
                    error, alone = (max(0.0, weights @ each @ weights) ** 0.5 for each in (covariance, noise))
                    assert measured.known(form)[1] ** 0.5 == pytest.approx(error, rel=1e-5, abs=1e-6 * alone)
                    # that of the continuous law, which is no smaller
                    assert measured.error(form).standard_error == pytest.approx(error, rel=0.02, abs=1e-6 * alone)
    if len(groups) == 1:
        assert found["x"]["quantiles"].numbers == found.of("x", "p")["quantiles"].numbers
    for variable in found:
        for part, overall in found[variable.column].items():
            if part != "quantiles" and overall.measured.form == "cells":
                each = [found.of(variable.column, group)[part].measured.counts for group in found.groups]
                assert overall.measured.counts == pytest.approx(np.sum(each, axis=0), abs=1e-6)


def test_without_the_public_total_the_oracle_disagrees():
    """The control: the total is used."""
    found = described()
    values, _, _, _, of_groups = oracle_of(found)
    assert sum(size @ values for size in of_groups) == pytest.approx(N)
    blocks = [[found.found[place].measured] for place in (0, 4, 8)]
    raw = [row[0].at(row[0].records) for row in blocks]
    assert sum(row[0].at(row[0].records) for row in joined(blocks, N)) == pytest.approx(N)
    assert joined(blocks, None) == blocks
    assert abs(sum(raw) - N) > 1


@pytest.mark.parametrize("adjacency", Adjacency)
def test_what_is_shown_adds_up(adjacency):
    data = people()
    data["y"][:] = np.where(data["g"] == "r", "a", data["y"])  # categories without records, which noise makes negative
    found = described(data, privacy=PureDP("0.2"), adjacency=adjacency)
    whole = found.records()
    assert sum(map(found.records, found.groups)) == pytest.approx(whole)
    raw = [found.found[place].measured.counts for place in (2, 6, 10)]
    assert min(map(min, raw)) < 0, "the control: noise makes some counts negative"
    assert abs(sum(map(sum, raw)) - whole) > 1, "the control: what was measured does not add up"
    tables = [found.of("y", group)["histogram"] for group in found.groups]
    for group, table in zip(found.groups, tables, strict=True):
        assert sum(table.shares) == pytest.approx(1)
        assert sum(table.counts) == pytest.approx(found.records(group), abs=1e-3)
        assert min(table.counts) >= 0
        for share, (low, high) in zip(table.shares, table.intervals(), strict=True):
            assert low <= share <= high
    assert np.sum([table.counts for table in tables], axis=0) == pytest.approx(found["y"]["histogram"].counts, abs=0.1)
    yes = [found.of("z", group)["proportion"].value * found.records(group) for group in found.groups]
    assert sum(yes) == pytest.approx(found["z"]["proportion"].value * whole, abs=0.1)
    shown = {}
    for line in str(found).replace(",", "").splitlines():
        if named := re.match(r"(n|  [abc]|z n \(%\)) ", line):
            shown[named[1].strip()] = [int(each) for each in re.findall(r" (\d+)(?= \(|$|  )", line)]
    assert list(shown) == ["n", "a", "b", "c", "z n (%)"] or list(shown) == ["n", "a", "b", "c"]
    for numbers in shown.values():
        assert len(numbers) == 4
        assert numbers[0] == sum(numbers[1:])
    assert shown["n"] == [sum(parts) for parts in zip(*(shown[each] for each in "abc"), strict=True)]


def test_of_one_release_all_that_is_known_is_used():
    """RMSE of the records of a group and of its mean, over releases, against what one block alone says."""
    data, errors, alone = people(), [], []
    inside = data["g"] == "q"
    data["g"][data["g"] == "r"] = "p"
    for _ in range(120):  # bounds whose middle is far from the mean, so that the error of the number of records counts
        found = described(data, ("x", "y"), bounds={"x": (0, 200)}, values={"y": ("a", "b", "c")}, groups=("p", "q"))
        raw, mean = found.found[3], found.of("x", "q")["mean"]
        errors.append((found.records("q") - inside.sum(), mean.value - data["x"][inside].mean()))
        alone.append((raw.records - inside.sum(), raw.value - data["x"][inside].mean()))
    (n, mean), (n_alone, mean_alone) = (np.sqrt(np.mean(np.square(each), axis=0)) for each in (errors, alone))
    assert n < 8
    assert n_alone > 25, "the control: the block of x alone"
    assert mean < 0.9 * mean_alone


def simulated(rng, law, groups, cells, size):
    """Exact counts of groups, and two blocks of each: a count of every cell, and of the first and the others."""
    exact = rng.multinomial(size, np.full(groups * cells, 1 / groups / cells)).reshape(groups, cells)

    def block(counts):
        scale = float(law.scale) if isinstance(law, DiscreteLaplace) else float(law.variance) ** 0.5
        draw = rng.laplace if isinstance(law, DiscreteLaplace) else rng.normal
        noisy = np.rint(counts + draw(0, scale, len(counts)))
        return Measured("cells", tuple(map(int, noisy)), law, ADD, None)

    return exact, [[block(row), block([row[0], row[1:].sum()])] for row in exact]


@pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
def test_intervals_hold_and_narrower_ones_do_not(law):
    rng = np.random.default_rng(8)
    held, narrow, wide = [], [], []
    for _ in range(250):
        exact, blocks = simulated(rng, law, 2, 3, 400)
        one, plain = joined(blocks, 400)[0][0], blocks[0][0]
        for reading, other, truth in (
            (count_reading(one, (0,)), count_reading(plain, (0,)), exact[0, 0]),
            (
                share_reading(one, (1,), rows_of_one=1),
                share_reading(plain, (1,), rows_of_one=1),
                exact[0, 1] / exact[0].sum(),
            ),
        ):
            low, high = reading.interval(0.95, sampling=False)
            held.append(low <= truth <= high)
            middle, half = (low + high) / 2, (high - low) / 3.2
            narrow.append(middle - half <= truth <= middle + half)
            before = other.interval(0.95, sampling=False)
            wide.append((high - low) / (before[1] - before[0]))
    assert np.mean(held) > 0.94 - 2.5 * np.sqrt(0.06 * 0.94 / len(held))
    assert np.mean(narrow) < 0.92, "the control"
    assert np.mean(wide) < 0.98


def test_many_laplace_parts_are_nearly_one_normal_and_one_laplace_variable():
    """Tails of a sum of many parts, against a simulation; the far tail is never below that of the sum."""
    rng = np.random.default_rng(2)
    measured = Measured("cells", (0,) * 9, DiscreteLaplace(100), REPLACE, 900)
    law = given_total(measured).error(LinearForm((1.0,) + (0.0,) * 8))
    draws = rng.laplace(0, 100, (400_000, 9))
    errors = np.abs(draws[:, 0] - draws.mean(axis=1))
    assert law.standard_error == pytest.approx(np.sqrt(np.mean(errors**2)), rel=0.01)
    for level in (0.8, 0.95, 0.99, 0.999):
        assert law.reach(level) - law.step == pytest.approx(np.quantile(errors, level), rel=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_counts_of_at_least_zero_are_nearest(seed):
    rng = np.random.default_rng(seed)
    values, whole = rng.normal(3, 6, 5), 14.0
    some = (np.array(each, bool) for each in itertools.product((0, 1), repeat=5) if any(each))
    moved = (np.where(each, values + (whole - values[each].sum()) / each.sum(), 0.0) for each in some)
    best = min((each for each in moved if each.min() >= 0), key=lambda each: np.sum((each - values) ** 2))
    assert at_least_zero(values, np.array(whole)) == pytest.approx(best)
    assert at_least_zero(values, np.array(0.0)) == pytest.approx(np.zeros(5))


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_table_keeps_both_margins_and_is_nearest(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(5, 8, (4, 3))
    true = rng.integers(0, 12, (4, 3)) * rng.integers(0, 2, (4, 3)) + 0.5
    rows, columns = true.sum(axis=1), true.sum(axis=0)
    found = at_least_zero_both(values, rows, columns)
    assert found.min() >= 0
    assert found.sum(axis=1) == pytest.approx(rows)
    assert found.sum(axis=0) == pytest.approx(columns, abs=1e-4)
    for other in (true, *(at_least_zero_both(rng.normal(5, 8, (4, 3)), rows, columns) for _ in range(20))):
        # a convex set: no direction within it leads nearer
        assert np.sum((values - found) * (other - found)) <= 1e-3


def test_whole_numbers_add_up():
    assert whole_numbers(np.array([0.5, 0.5, 1.2, 7.8]), 10).tolist() == [1, 0, 1, 8]
    assert whole_numbers(np.array([3.0, 4.0]), 7).tolist() == [3, 4]
    assert whole_numbers(np.array([]), 0).tolist() == []


@given(st.lists(st.floats(-50, 500), min_size=1, max_size=6), st.integers(0, 1000))
def test_sizes_of_groups_add_up_and_are_the_nearest(measured, total):
    found = np.array(sizes_of(measured, total))
    assert found.sum() == total
    assert found.min() >= 0
    # the nearest with this sum: all are moved alike, but for rounding, and those that would be below 0 further
    away = found - np.array(measured)
    assert total == 0 or np.ptp(away[found > 0]) <= 1 + 1e-6
    assert total == 0 or np.all(away >= away[found > 0].max() - 1 - 1e-6)
    assert sizes_of(measured, None) is None
    assert sizes_of([*measured, None], total) is None


def test_groups_whose_records_are_shown_add_up_to_the_public_number():
    random = np.random.default_rng(5)
    table = {
        "x": random.normal(50, 10, 900),
        "y": random.integers(0, 2, 900),
        "g": random.choice(["a", "b", "c"], 900),
    }
    groups = ("a", "b", "c")
    session = ogive.Session(table, limit=ogive.PureDP(9))
    curves = session.ecdf("x", bounds=(0, 100), bins=16, by="g", groups=groups, privacy=ogive.PureDP("1/10"))
    assert sum(each.records for each in curves.estimates) != 900
    assert sum(curves.sizes) == 900
    boxes = session.boxplot("x", bounds=(0, 100), by="g", groups=groups, privacy=ogive.PureDP("1/10"))
    areas = session.group_auc(
        "x", "y", "g", bounds=(0, 100), bins=8, group_values=groups, privacy=ogive.PureDP("1/10"), outside="clip"
    )
    for shown, count in ((curves, 3), (boxes, 3), (areas, 6)):
        rows = shown.view().groups[1:] if shown is areas else shown.view().rows
        cells = [row[1:3] if shown is areas else row[1 if shown is curves else -1 :][:1] for row in rows]
        numbers = [int(cell.removeprefix("about ").replace(",", "")) for row in cells for cell in row]
        assert len(numbers) == count
        assert sum(numbers) == 900
    private = ogive.Session(table, limit=ogive.PureDP(9), adjacency=ogive.Adjacency.ADD_OR_REMOVE)
    alone = private.ecdf("x", bounds=(0, 100), bins=16, by="g", groups=groups, privacy=ogive.PureDP("1/10"))
    assert alone.sizes is None
