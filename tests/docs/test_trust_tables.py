"""Tables of the manual about trust models say what plans say: which methods serve what, and what uploads cost."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from helpers.examples import NEW, UNKEPT, example_of

import ogive
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.pate import ConfidentGNMax, GNMax, InteractiveGNMax, LargestMargins, LNMax
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.queries import Ballots, CurveQuery
from ogive.releasing.planning.predict import DOES_NOT_FIT, Planner
from ogive.statistics import STATISTICS, Labels
from ogive.strategies import design_tree
from ogive.trust import TRUST_MODELS, SecAgg, Simulation
from ogive.trust.modulus import block_ends
from ogive.trust.servers.settings import AggregateUploads, Layout, cost_of
from ogive.trust.servers.uploads import Uploads

DOCS = Path(__file__).parents[2] / "docs"
NAMED = re.compile(r"`(\w+)`")
BALLOTS = Ballots(("first", "second"), classes=2)
EXAMPLES = {
    "bounds": [ogive.Bounds("x", base=10, smallest=0.1, largest=1000)],
    "boxplot": [ogive.Boxplot("x", (0, 100), bins=16)],
    "calibration": [ogive.HosmerLemeshow("p", "y", bins=16, groups=3)],
    "count": [ogive.Count("y", among=1)],
    "proportion": [ogive.Proportion("y")],
    "mean": [ogive.Mean("x", (0, 100), step=5)],
    "sum": [ogive.Sum("x", (0, 100), step=5)],
    "crosstab": [ogive.Crosstab("x", "y", rows=(0, 1), columns=(0, 1))],
    "group_auc": [ogive.GroupAuc("x", "y", "z", (0, 100), bins=16, group_values=(0, 1))],
    "histogram": [ogive.Histogram("y", values=(0, 1))],
    "describe": [ogive.Describe(("x", "y"), bounds={"x": (0, 100)}, values={"y": 1})],
    "ecdf": [ogive.Ecdf("x", (0, 100), bins=16)],
    "groups": [ogive.Grouped(ogive.Ecdf("x", (0, 100), bins=16), "y", (0, 1))],
    "labels": [
        Labels(aggregator, BALLOTS, probabilities=[[0.8, 0.2]] * 2 if aggregator.name == "interactive" else None)
        for aggregator in (LNMax(20), GNMax(40), ConfidentGNMax(300, 150, 40), InteractiveGNMax(200, 150, 40, "0.9"))
    ]
    + [Labels(LargestMargins(None, keep=1), BALLOTS)],
    "quantiles": [ogive.Quantiles("x", (0.5,), bounds=(0, 100), bins=16)],
    "roc": [ogive.Roc("x", "y", (0, 100), bins=16)],
    "ustatistic": [
        ogive.Ustatistic("x", "gini", bounds=(0, 100), bins=16),
        ogive.Ustatistic(("x", "y"), "auc", bounds=(0, 100), bins=16),
    ],
} | {kind.name: [example_of(kind)] for kind in NEW}


def rows_below(page, heading):
    """The cells of the first table after some words of a page, by its first column; without its heads."""
    text = (DOCS / page).read_text().split(heading, 1)[1]
    lines = re.search(r"(^\|.*\n)+", text, re.MULTILINE)[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return cells[0][1:], {row[0]: row[1:] for row in cells[2:]}


def serving(statistic, model):
    """Names of the methods with which a trust model serves a statistic; none where it refuses all."""
    trust = Simulation(model, parties=3) if model is SecAgg else model
    found = set()
    with suppress(*DOES_NOT_FIT):
        planner = Planner.of(statistic, 500, Adjacency.REPLACE, None, 1, trust, None, None, None, 2, public="y")
        for name, method in planner.statistic.alternatives().items():
            for privacy in (PureDP(1), ZeroConcentratedDP(1)):
                with suppress(*DOES_NOT_FIT):
                    if name.split(",")[0] not in found:
                        planner.prediction(method, privacy)  # a plan would compute the errors too
                        found.add(name.split(",")[0])
    return found


def test_the_table_of_statistics_has_every_statistic_and_every_private_trust_model():
    heads, rows = rows_below("methods.md", "## Who serves what")
    assert [head.strip("`") for head in heads] == [model.name for model in TRUST_MODELS if model.private]
    names = {f"`{kind.name}`" for kind in STATISTICS}
    assert names - {f"`{kind.name}`" for kind in UNKEPT} <= set(rows) <= names
    assert set(EXAMPLES) == {kind.name for kind in STATISTICS}


@pytest.mark.parametrize("kind", [each for each in STATISTICS if each.name not in {kind.name for kind in UNKEPT}])
def test_the_table_of_statistics_says_which_methods_serve(kind):
    heads, rows = rows_below("methods.md", "## Who serves what")
    models = {model.name: model for model in TRUST_MODELS}
    for head, cell in zip(heads, rows[f"`{kind.name}`"], strict=True):
        found = set().union(*(serving(example, models[head.strip("`")]) for example in EXAMPLES[kind.name]))
        assert set(NAMED.findall(cell)) == found, head
        assert (cell == "-") == (not found)


def test_the_table_of_uploads_says_what_they_cost():
    _, rows = rows_below("servers.md", "at all thresholds of a grid:")
    for cells, said in rows.items():
        bins = int(cells.replace(" ", ""))
        strategy = design_tree(bins, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
        query = CurveQuery(Binning("x", Grid.linear(0, 1, bins=bins), "refuse"), strategy)
        for kind, (sent, received, seconds) in (("keys", said[:3]), ("tables", said[3:])):
            taken = AggregateUploads(Layout(query.aggregate), Uploads(2, kind, verified=True, verifications=16))
            cost = cost_of(taken, taken.layout.ends(block_ends(query)), 10**6)
            assert cost.bytes_per_client == int(sent.replace(" ", ""))
            number, unit = received.split()
            assert float(number) * {"MB": 1e6, "GB": 1e9}[unit] == pytest.approx(cost.bytes_per_server, rel=0.01)
            assert float(seconds) == pytest.approx(cost.seconds, rel=0.15)
