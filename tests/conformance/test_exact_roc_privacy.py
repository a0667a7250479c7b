"""The privacy loss of ROC and survival releases, from exact output probabilities, on all neighbors of small tables.

Tables: at most 4 records, each with a class and one of up to 8 bins. Under REPLACE any record may take any other score
and any other label; with public labels only its score changes. The code under test designs and prices;
the probabilities come from `helpers.exact_loss`. Noise of the two classes is independent, so the largest log-ratio
of both answers together is the sum of those of each.
"""

import functools
import itertools

import numpy as np
import pytest
from helpers.exact_loss import PathOutputs, worst_direction

from ogive.columns import Binning, Label
from ogive.columns.grids import Grid
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.privacy import Adjacency, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import ClassBinning, ClassCurvesQuery
from ogive.releasing.release import release
from ogive.statistics import Survival
from ogive.statistics.roc.designs import choose_for_classes
from ogive.strategies import PathNoise, design_path
from ogive.trust import Central, Clear

GRANTED, RHO = PureDP(3), ZeroConcentratedDP("0.5")
RECORDS = {2: 4, 3: 4, 5: 3, 8: 2}  # bins: most records, so that all tables are looked at
FAR, REACH = 30, 160


def question(bins, granted, adjacency, public_labels, method, budget="joint"):
    strategy = choose_for_classes(
        bins,
        granted,
        PrivacyUnit(adjacency),
        public_labels=public_labels,
        budget=budget,
        method=method,
        refusal=lambda candidate: None,
    )
    return asked(strategy, public_labels)


def asked(strategy, public_labels):
    classes = ClassBinning(Binning("s", Grid.integers(1, strategy.size)), Label("y"))
    return ClassCurvesQuery(classes, strategy, public_labels)


def tables(bins, records):
    """All tables of that many records, as counts of shape (2, bins)."""
    for chosen in itertools.combinations_with_replacement(range(2 * bins), records):
        yield np.bincount(chosen, minlength=2 * bins).reshape(2, bins)


def neighbors(table, adjacency, *, flips):
    """All adjacent tables; `flips` says whether a replaced record may change its class."""
    cells = list(np.ndindex(*table.shape))
    for cell in cells:
        if adjacency is Adjacency.ADD_OR_REMOVE:
            more = table.copy()
            more[cell] += 1
            yield more
        if not table[cell]:
            continue
        less = table.copy()
        less[cell] -= 1
        if adjacency is Adjacency.ADD_OR_REMOVE:
            yield less
            continue
        for other in cells:
            if other != cell and (flips or other[0] == cell[0]):
                moved = less.copy()
                moved[other] += 1
                yield moved


def changes(query, adjacency, *, flips):
    """Every distinct change of the answers between neighbors, shape (2, measurements) each."""
    bins = query.strategy.size
    found = set()
    for records in range(RECORDS[bins] + 1):
        for table in tables(bins, records):
            here = query.measure(table)
            for other in neighbors(table, adjacency, flips=flips):
                found.add(tuple((query.measure(other) - here).ravel().tolist()))
    return [np.array(change).reshape(2, -1) for change in sorted(found)]


class Losses:
    """Exact loss of a change of the measurements of one class, remembered."""

    def __init__(self, strategy):
        self.strategy = strategy
        self._known = {}
        self._outputs = PathOutputs(strategy, reach=REACH) if isinstance(strategy, PathNoise) else None

    def both(self, change):
        return sum(self.one(part) for part in change)

    def one(self, change):
        key = tuple(change.tolist())
        if key not in self._known:
            self._known[key] = self._path(change) if self._outputs else self._independent(change)
        return self._known[key]

    def _path(self, change):
        """Log-ratio far out in the worst direction; the cheapest shift bounds it for all outputs."""
        if not change.any():
            return 0.0
        cost, direction = worst_direction(self.strategy, change)
        noise = FAR * direction
        reached = abs(self._outputs.log_probability(noise) - self._outputs.log_probability(noise - change))
        bound = cost / float(self.strategy.law.scale)
        assert bound * 0.96 <= reached <= bound * (1 + 1e-9)
        return bound

    def _independent(self, change):
        """Sum over measurements of the largest log-ratio of one noise at a distance."""
        loss, start = 0.0, 0
        for level in self.strategy.levels:
            part = np.abs(change[start : start + level.nodes])
            start += level.nodes
            for distance in part[part > 0].tolist():
                window = np.arange(-4, distance + 5)
                ratio = level.law.log_probability(window) - level.law.log_probability(window - distance)
                loss += float(np.abs(ratio).max())
        assert start == change.size
        return loss


KINDS = [
    pytest.param((Adjacency.REPLACE, False), id="replace-private-labels"),
    pytest.param((Adjacency.REPLACE, True), id="replace-public-labels"),
    pytest.param((Adjacency.ADD_OR_REMOVE, False), id="add-or-remove"),
    pytest.param((Adjacency.ADD_OR_REMOVE, True), id="add-or-remove-public-labels"),
]


@pytest.mark.covering(kind=str)
@pytest.mark.parametrize("budget", ["joint", "split"])
@pytest.mark.parametrize("bins", RECORDS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["path", "tree_ls", "hat_ls"])
def test_no_pair_of_neighbors_loses_more_than_is_charged(method, kind, bins, budget):
    adjacency, public_labels = kind
    query = question(bins, GRANTED, adjacency, public_labels, method, budget)
    charged = float(query.price(PrivacyUnit(adjacency)).epsilon)
    assert charged <= float(GRANTED.epsilon)
    losses = Losses(query.strategy)
    worst = max(losses.both(change) for change in changes(query, adjacency, flips=not public_labels))
    assert worst <= charged * (1 + 1e-9)
    if not public_labels or adjacency is Adjacency.ADD_OR_REMOVE:
        # the price is that of a pair of neighbors, here one that flips a label, or adds a record
        assert worst >= charged * (1 - 1e-9)
        if budget == "joint":
            assert charged >= float(GRANTED.epsilon) * (1 - 1e-3), "the whole grant is used"


@pytest.mark.covering(kind=str)
@pytest.mark.parametrize("bins", RECORDS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["tree_ls", "hat_ls", "sqrt"])
def test_gaussian_answers_cost_what_is_charged(method, kind, bins):
    adjacency, public_labels = kind
    query = question(bins, RHO, adjacency, public_labels, method)
    charged = float(query.price(PrivacyUnit(adjacency)).rho)
    assert charged <= float(RHO.rho)
    worst = 0.0
    for change in changes(query, adjacency, flips=not public_labels):
        spent, start = 0.0, 0
        for level in query.levels:
            assert isinstance(level.law, DiscreteGaussian)
            part = change.ravel()[start : start + level.nodes]
            start += level.nodes
            # D_alpha of a discrete Gaussian at integer distance d is at most alpha d^2 / (2 sigma^2)
            spent += float(np.sum(part.astype(float) ** 2)) / (2 * float(level.law.sigma) ** 2)
        assert start == change.size
        worst = max(worst, spent)
    assert worst <= charged * (1 + 1e-9)
    assert worst >= charged * (1 - 1e-9) or bins == 2


def test_the_oracle_sees_half_of_the_noise():
    """Control: a price that holds for twice the scale is refuted."""
    good = question(5, GRANTED, Adjacency.REPLACE, False, "path").strategy
    bad = asked(PathNoise(good.tree, DiscreteLaplace(good.law.scale / 2)), False)
    losses = Losses(bad.strategy)
    assert max(losses.both(change) for change in changes(bad, Adjacency.REPLACE, flips=True)) > 1.9 * 3


@pytest.mark.parametrize("method", ["path", "tree_ls"])
def test_the_price_for_public_labels_does_not_hide_a_label(method):
    """Control: flips of a label cost more than is charged where labels are said to be public."""
    query = question(8, GRANTED, Adjacency.REPLACE, True, method)
    losses = Losses(query.strategy)
    charged = float(query.price(PrivacyUnit(Adjacency.REPLACE)).epsilon)
    kept = [losses.both(change) for change in changes(query, Adjacency.REPLACE, flips=False)]
    flipped = [losses.both(change) for change in changes(query, Adjacency.REPLACE, flips=True)]
    private = asked(query.strategy, False)
    honest = float(private.price(PrivacyUnit(Adjacency.REPLACE)).epsilon)
    assert max(kept) <= charged * (1 + 1e-9)
    assert max(flipped) == pytest.approx(honest)
    if method == "path":
        assert max(flipped) > 1.2 * charged


def test_the_paper_s_split_budget_is_never_underpriced():
    strategy = design_path(8, privacy=PureDP("1.5"), adjacency=Adjacency.REPLACE, constants="paper")
    query = asked(strategy, False)
    losses = Losses(strategy)
    worst = max(losses.both(change) for change in changes(query, Adjacency.REPLACE, flips=True))
    assert worst == pytest.approx(float(query.price(PrivacyUnit(Adjacency.REPLACE)).epsilon))
    assert worst <= 3


class Recorded:
    """Noise that remembers which nodes were asked for."""

    def __init__(self):
        self.nodes = []

    def values(self, law, level, nodes):
        self.nodes += [(level, int(node)) for node in nodes]
        return np.zeros(len(nodes), dtype=np.int64)


def test_the_classes_never_share_a_noise_variable():
    query = question(8, GRANTED, Adjacency.REPLACE, False, "tree_ls")
    recorded = Recorded()
    assert query.noise(recorded).shape == (2, sum(level.nodes for level in query.strategy.levels))
    assert len(set(recorded.nodes)) == len(recorded.nodes) == sum(level.nodes for level in query.levels)


# --- Survival with late entry: two measurements, and a record changes both


PATIENTS = [(time, event, entry) for time in (1, 2, 3, 4) for event in (0, 1) for entry in (0, 1, 3)]


def late(method):
    return Survival("t", "e", (0, 3), grid="integers", entry="s", method=method)


@functools.cache
def histograms_of(*patients):
    """What the package counts of a table: the times of each class, then the entries."""
    columns = zip("tes", np.array(patients, dtype=np.int64).T, strict=True)
    estimate = release(late("path"), trust=Clear(dict(columns)))
    return [np.diff(each.raw, prepend=0).astype(np.int64) for each in (*estimate.curves, estimate.entries)]


def test_a_table_of_survival_counts_what_its_records_count():
    for one, other in itertools.combinations_with_replacement(PATIENTS[::2], 2):
        parts = zip(histograms_of(one), histograms_of(other), histograms_of(one, other), strict=True)
        assert all(np.array_equal(mine + its, both) for mine, its, both in parts)


def losses_with_entry(adjacency, method, measured):
    """The largest loss of all neighbors in the measurements that are named, and what is charged for all."""
    table = dict(zip("tes", np.array(PATIENTS).T, strict=True))
    released = release(late(method), trust=Central(table), privacy=GRANTED, adjacency=adjacency)
    strategies = [each.strategy for each in (*released.curves, released.entries)]
    own = [Losses(each) for each in strategies]
    alone = {patient: histograms_of(patient) for patient in PATIENTS}
    nobody = [np.zeros_like(each) for each in alone[PATIENTS[0]]]
    pairs = [(nobody, each) for each in alone.values()]
    if adjacency is Adjacency.REPLACE:
        pairs = list(itertools.permutations(alone.values(), 2))
    found = [
        sum(
            own[place].one(strategies[place].measure(after[place]) - strategies[place].measure(before[place]))
            for place in measured
        )
        for before, after in pairs
    ]
    return max(found), float(released.provenance.price.epsilon)


@pytest.mark.parametrize("method", ["path", "tree_ls", "hat_ls"])
@pytest.mark.parametrize("adjacency", Adjacency)
def test_no_neighbors_lose_more_in_both_measurements_of_survival_than_is_charged(adjacency, method):
    worst, charged = losses_with_entry(adjacency, method, (0, 1, 2))
    assert worst <= charged * (1 + 1e-9)
    assert worst >= charged * (1 - 1e-9), "the price is that of a pair of neighbors"
    assert float(GRANTED.epsilon) * (1 - 1e-3) <= charged <= float(GRANTED.epsilon)
    # the control: neither the times nor the entries alone cost so much
    assert losses_with_entry(adjacency, method, (0, 1))[0] == pytest.approx(2 / 3 * charged, rel=2e-3)
    assert losses_with_entry(adjacency, method, (2,))[0] == pytest.approx(1 / 3 * charged, rel=2e-3)
