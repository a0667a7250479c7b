"""Prices of subsets and groups of statistics that are released, against all neighbors of a small table.

A release is run once, and its queries with their noise are kept. Then what each query measures is computed for the
table and all of its neighbors. A change of what is measured by d is the same as a change of the noise by any z with
`spread @ z = d`, so the loss is at most the least sum of |z| over the scales of the noise, or of squares over the
variances. That least sum comes from a linear program or least squares, and knows nothing of sensitivities. How far
discrete Gaussian noise is from the continuous law is a matter of other tests.
"""

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from helpers.scope import is_everything
from scipy.optimize import linprog

import ogive
from ogive import Adjacency, ApproxDP, Central, Grouped, PureDP, Subset, ZeroConcentratedDP
from ogive.noise import DiscreteLaplace, KeyedSource
from ogive.trust.table import CentralOpening

ADD, REPLACE = Adjacency.ADD_OR_REMOVE, Adjacency.REPLACE
VALUES = {"x": (0.0, 1.0, 3.0, None), "s": (0.1, 0.6, 0.9), "y": (0, 1), "g": ("a", "b"), "w": (1, 2, None)}
COUNTED = {"other": "count", "missing_group": "count"}
STATISTICS = {
    "count": (ogive.Count("y", among=1), "y"),
    "sum": (ogive.Sum("x", (-2, 3), step=1, missing="high"), "x"),
    "mean": (ogive.Mean("x", (0, 3), step=1, missing="low"), "x"),
    "histogram": (ogive.Histogram("x", values=(0, 1), other="count", missing="count"), "x"),
    "crosstab": (ogive.Crosstab("x", "y", rows=(0, 1, 3), columns=(0, 1), missing="count"), "xy"),
    "ecdf": (ogive.Ecdf("x", (0, 4), bins=4, method="tree_ls", missing="low"), "x"),
    "projection": (ogive.Ecdf("x", (0, 4), bins=4, method="projection", missing="low"), "x"),
    "quantiles": (ogive.Quantiles("x", (0.5,), bounds=(0, 4), bins=4, method="tree_ls", missing="high"), "x"),
    "roc": (ogive.Roc("s", "y", (0, 1), bins=4), "sy"),
    "group_auc": (ogive.GroupAuc("s", "y", "x", (0, 1), bins=4, group_values=(0, 1), **COUNTED), "sxy"),
    "calibration": (ogive.HosmerLemeshow("s", "y", groups=2, bins=4), "sy"),
}
GRANTS = (PureDP(1), ZeroConcentratedDP("0.1"), ApproxDP("0.3", "1e-9"))
UNITS = ((ADD, 0, ()), (ADD, 2, ()), (REPLACE, 0, ()), (REPLACE, 1, ()), (REPLACE, 0, ("w",)), (REPLACE, 0, ("g", "w")))


def frame(rows):
    kinds = {"x": "float64", "s": "float64", "y": "int64", "g": "string", "w": "int64", "p": "string"}
    return pa.table({name: pa.array([row[name] for row in rows], type=kind) for name, kind in kinds.items()})


OTHERS = [dict(zip(VALUES, values, strict=True)) | {"p": f"other {n}"} for n, values in enumerate(
    [(0.0, 0.1, 0, "a", 2), (3.0, 0.9, 1, "b", 1), (1.0, 0.6, 1, "b", None)]
)]  # fmt: skip
"""Rows of everybody else."""
RECORDS = {}
"""Records of tables that were read, by what a person adds and how many rows may count."""


def trusted(rows, mine=()):
    """The curator of everybody else's rows and of one person's; at most so many of a person count, or all for 0."""
    person = {"person": "p", "max_rows_per_person": rows} if rows else {}
    return Central(frame([*OTHERS, *(row | {"p": "me"} for row in mine)]), **person)


def records_with(rows, mine):
    """The records of such a table, read once for all units and statistics."""
    key = rows, repr(mine)
    if key not in RECORDS:
        RECORDS[key] = trusted(rows, mine).records
    return RECORDS[key]


def wrapped(statistic, how):
    grouped = Grouped(statistic, "g", ("a", "b", "nobody")) if "groups" in how else statistic
    return Subset(grouped, "not w == 1") if "subset" in how else grouped


class One:
    """Noise that is 1 in one place and 0 elsewhere."""

    def __init__(self, level, node):
        self._place = level, node

    def values(self, law, level, nodes):
        return (np.asarray(nodes) == self._place[1]).astype(np.int64) * (level == self._place[0])


def noise_map(query):
    """Whether the noise is Laplace, and what the query publishes of independent noise of scale or deviation 1."""
    places = [(level.law, number, node) for number, level in enumerate(query.levels) for node in range(level.nodes)]
    laplace = all(isinstance(law, DiscreteLaplace) for law, _, _ in places)
    sizes = [float(law.scale) if laplace else math.sqrt(law.variance) for law, _, _ in places]
    return laplace, np.array([query.noise(One(*place)).ravel() for _, *place in places]).T * np.array(sizes)


def least_loss(laplace, spread, change):
    """The sum of |z| and the sum of z^2 of the least change of such noise that does it: one of them, by the noise."""
    if np.array_equal(spread, np.diag(np.diag(spread))):
        z = change / np.diag(spread)
        return (np.abs(z).sum(), 0.0) if laplace else (0.0, float(z @ z))
    if laplace:
        ones = np.ones(2 * spread.shape[1])
        found = linprog(ones, A_eq=np.hstack([spread, -spread]), b_eq=change, bounds=(0, None))
        assert found.success
        return found.fun, 0.0
    z = np.linalg.lstsq(spread, change, rcond=None)[0]
    assert np.allclose(spread @ z, change, atol=1e-6 * max(1, np.abs(change).max()))
    return 0.0, float(z @ z)


def neighbors(columns, adjacency, rows, public):
    """Pairs of what a person adds to a table: lists of rows, of which one may be empty."""
    cells = [dict(zip(VALUES, values, strict=True)) for values in itertools.product(
        *(values if name in columns else values[:1] for name, values in VALUES.items())
    )]  # fmt: skip
    mine = [(cell,) for cell in cells]
    if rows > 1:
        rng = np.random.default_rng(1)
        mine += [tuple(rng.choice(cells, size)) for size in (2, 3, 4) for _ in range(12)]
    if adjacency is ADD:
        return [((), each) for each in mine]
    pairs = itertools.combinations(mine, 2)
    return [(one, other) for one, other in pairs if all(one[0][name] == other[0][name] for name in public)]


def units_of(name):
    """Numbers of the units that a statistic is looked at in.

    In `make test` they are four of six, with every guarantee, both adjacencies, and one row of a person and several;
    which of those without a limit on rows they are alternates from one statistic to the next.
    """
    if is_everything():
        return range(len(UNITS))
    return ((1, 2, 3, 4), (0, 1, 3, 5))[list(STATISTICS).index(name) % 2]


# every statistic within what has both, and each of the two alone
@pytest.mark.covering("name", name=lambda name: "any")
@pytest.mark.parametrize("how", ["groups of a subset", "subset", "groups"])
@pytest.mark.parametrize("name", STATISTICS)
def test_no_neighbors_are_told_apart_by_more_than_the_price(name, how, monkeypatch):
    statistic, columns = STATISTICS[name]
    asked, columns = wrapped(statistic, how), {*columns, "w" if "subset" in how else "", "g" if "groups" in how else ""}
    nearest = 0.0
    for number in units_of(name):
        adjacency, rows, public = UNITS[number]
        grant = GRANTS[number % len(GRANTS)]
        kept, answer = [], CentralOpening.answer
        monkeypatch.setattr(
            CentralOpening, "answer", lambda self, query, k=kept, a=answer: (k.append(query), a(self, query))[1]
        )
        found = ogive.release(
            asked, trust=trusted(rows), privacy=grant, adjacency=adjacency, public=public or None,
            source=KeyedSource.from_seed(3),
        )  # fmt: skip
        monkeypatch.undo()
        known, alike, noises = {}, {}, [noise_map(query) for query in kept]

        def measured(mine, rows=rows, known=known, alike=alike, kept=kept, adjacency=adjacency):
            if id(mine) not in known:
                sums = [records_with(rows, mine).aggregate(query.aggregate) for query in kept]
                found = (
                    [query.measure(each).ravel() for query, each in zip(kept, sums, strict=True)],
                    [query.totals(each, adjacency) for query, each in zip(kept, sums, strict=True)],
                )
                # equal answers are one object, so that a pair of them is looked at once
                known[id(mine)] = alike.setdefault(repr(([each.tolist() for each in found[0]], found[1])), found)
            return known[id(mine)]

        losses, largest, looked = {}, 0.0, set()
        pairs = neighbors(columns, adjacency, rows, public)
        for one, other in pairs:
            found_here, found_there = measured(one), measured(other)
            if (id(found_here), id(found_there)) in looked:
                continue
            looked.add((id(found_here), id(found_there)))
            (here, told), (there, also_told) = found_here, found_there
            assert told == also_told  # exact numbers say nothing
            changes = tuple(tuple((b - a).tolist()) for a, b in zip(here, there, strict=True))
            if changes not in losses:
                losses[changes] = [
                    least_loss(*noise, np.array(change)) for noise, change in zip(noises, changes, strict=True)
                ]
            pure, squares = (sum(each) for each in zip(*losses[changes], strict=True))
            price = found.provenance.price
            if isinstance(price, PureDP):
                assert not squares
                largest = max(largest, pure / float(price.epsilon))
            else:
                mu_squared = 2 * price.rho if isinstance(price, ZeroConcentratedDP) else price.mu_squared
                largest = max(largest, (squares + pure**2) / float(mu_squared))
        assert largest <= 1 + 1e-6
        nearest = max(nearest, largest)
    assert nearest > 0.55  # the control: prices are not simply too high
