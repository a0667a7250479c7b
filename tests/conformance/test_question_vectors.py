"""Questions are called what they were called in November 2026, and a secret gives the noise that it gave.

What is kept is complete: a statistic, method, strategy, oracle, law, kernel or trust model that no kept question has is
found here, so that whoever adds one keeps a question of it.
"""

import dataclasses
import inspect
import json
import typing
from functools import cache

import pytest
from helpers.examples import UNKEPT
from helpers.few_simulations import simulate_little
from helpers.scope import is_everything, label
from vectors.make_questions import FILE, LAWS, MEASURED, QUERIES, all_cases, asked

import ogive.noise
import ogive.queries
import ogive.strategies
from ogive.columns import Column
from ogive.errors import BudgetError, DataError, ParameterError, ScaleError, UnsupportedError
from ogive.kernels import KERNELS, MEASURES
from ogive.local.oracles import ORACLES
from ogive.pate import aggregators
from ogive.queries import undeclared
from ogive.statistics import STATISTICS
from ogive.statistics.base import Terms, settled
from ogive.statistics.kinds import SCHEMAS
from ogive.statistics.methods.choose import METHODS
from ogive.statistics.ustatistic.statistic import METHODS as MEANS_OVER_PAIRS
from ogive.strategies.smoothing import SMOOTHINGS
from ogive.trust import TRUST_MODELS

KEPT, HOW = (json.loads(path.read_text(encoding="utf-8")) for path in (FILE, MEASURED))
DOES_NOT_FIT = (BudgetError, DataError, ParameterError, ScaleError, UnsupportedError)
GRANTS = (ogive.PureDP(4), ogive.ZeroConcentratedDP(1), ogive.ApproxDP(4, "1e-6"))
MADE_LATER = {"sum", "sum_of_approximations"}
"""Strategies of no release, but of curves that were merged; `tests/vectors/stored` has those."""


def test_every_question_is_kept():
    assert KEPT.keys() == HOW.keys() == all_cases().keys()


@pytest.fixture
def few_simulations(name, monkeypatch):
    """Bands are no part of what is kept, but where they say what a bisection asks next."""
    if "bisection" not in name:
        monkeypatch.setattr("ogive.statistics.curve.bands.SIMULATED_VALUES", 100_000)
        simulate_little(monkeypatch)


ROOMS = ("method", "levels", "queries", "strategies", "oracles", "drawn", "kernels", "measures", "columns", "grids")


def soon():
    """Names of the questions that `make test` asks.

    Each kind of statistic occurs in one of them over each trust model and by each method, and so does each guarantee,
    adjacency, word of a name, and thing that was measured.
    """
    things = {}
    for name, (statistic, trust, privacy, adjacency) in all_cases().items():
        method = label(getattr(statistic, "method", None))
        things[name] = {*name.split(), (statistic.name, trust.name), (statistic.name, method), type(privacy), adjacency}
        for room in ROOMS:
            measured = HOW.get(name, {}).get(room)
            things[name] |= {(room, str(each)) for each in (measured if isinstance(measured, list) else [measured])}
    left, chosen = set().union(*things.values()), set()
    while left:  # the question with the most that no other one has had
        name = max(things, key=lambda name: len(things[name] & left))
        chosen.add(name)
        left -= things[name]
    return chosen


SOON = soon()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SOON else pytest.mark.everything) for name in KEPT]
)
def test_a_question_and_its_noise_are_what_they_were(name, few_simulations):
    question, how = asked(*all_cases()[name])
    assert question == KEPT[name]
    assert how == HOW[name]


def test_another_question_has_another_digest_and_another_noise():
    """The control: a question that differs in one option."""
    one, other = KEPT["central ecdf tree_ls PureDP"], KEPT["central ecdf path PureDP"]
    assert one["digest"] != other["digest"]
    assert one["first"] != other["first"]
    assert HOW["central ecdf tree_ls PureDP"]["nodes"] != HOW["central ecdf path PureDP"]["nodes"]


def pinned(statistic):
    """What a statistic is called among its alternatives: the method that it names, or several of one meaning."""
    return {name for name, each in statistic.alternatives().items() if each == statistic}


@cache
def covered():
    """(statistic, trust model, method) of every question that is kept."""
    return {
        (statistic.name, trust.name, method)
        for statistic, trust, _, _ in all_cases().values()
        for method in (*pinned(statistic), "any")
    }


def served(statistic, trust, privacy, adjacency):
    """Whether a trust model answers what a statistic asks first; later queries are looked at before that one."""
    unit = dataclasses.replace(trust.unit(adjacency), public=("ill", "vote", "ward"))
    terms = Terms(
        privacy, unit, trust.refusal, count=trust.count, one_loss_type=True, private=trust.private,
        adding=trust.adding, honest=trust.honest, cell_limit=trust.cell_limit,
    )  # fmt: skip
    try:
        query = next(settled(statistic, unit).questions(terms))
    except DOES_NOT_FIT:
        return False
    return trust.refusal(query) is None and undeclared(query, unit) is None


FORGOTTEN = (("roc", "servers", "sqrt, split"), ("labels", "central", "confident"))
"""What the control below takes for forgotten."""


@cache
def taken():
    """What is kept and taken for served: nothing, and in `make test` all but one method of each over each model."""
    if is_everything():
        return frozenset()
    asked = {(statistic, trust): method for statistic, trust, method in sorted(covered(), reverse=True)}
    return covered() - {*((*each, method) for each, method in asked.items()), *FORGOTTEN}


@cache
def demanded():
    """(statistic, trust model, method) of all that a trust model serves, by asking each of them for each.

    One statistic of each kind is asked for, and one of each measure, by all methods that it knows.
    """
    # every method serves the widest guarantee
    grants = GRANTS if is_everything() else GRANTS[-1:]
    examples, models = {}, {}
    for statistic, trust, privacy, adjacency in all_cases().values():
        models.setdefault(trust.name, trust)
        if statistic.name == "subset":  # asks what its statistic asks
            continue
        kind = getattr(statistic, "aggregator", getattr(statistic, "measure", statistic)).name
        if privacy is not None and adjacency.value == "replace":
            examples.setdefault((statistic.name, kind), (statistic, adjacency))
    found = set()
    for statistic, adjacency in examples.values():
        for trust in models.values():
            for method, each in statistic.alternatives().items():
                this = (statistic.name, trust.name, method if trust.private else "any")
                if this in found:  # by another method, over a model that hides nothing
                    continue
                if this in taken() or any(served(each, trust, privacy, adjacency) for privacy in grants):
                    found.add(this)
    return found


def test_every_method_of_every_statistic_is_kept_for_every_trust_model_that_serves_it():
    assert demanded() - covered() == set(), "keep a question of each in tests/vectors/question_cases.py"


def test_what_is_served_is_looked_for_everywhere():
    """The control: trust models and statistics are all asked, serve something, and refuse something."""
    private = [model.name for model in TRUST_MODELS if model.private]
    names = {kind.name for kind in STATISTICS} - {kind.name for kind in UNKEPT}
    assert names == {statistic for statistic, _, _ in demanded()}
    assert {model.name for model in TRUST_MODELS} == {trust for _, trust, _ in demanded()}
    assert {statistic for statistic, trust, _ in demanded() if trust == "central"} == names
    assert ("ecdf", "secagg", "selected") not in demanded()
    assert {("ecdf", trust, "any") for trust in private if trust != "pairs"} <= covered()
    known = {method for _, _, method in demanded()}
    assert {*METHODS, *MEANS_OVER_PAIRS, "bisection", "exponential", "joint", "five_numbers"} <= known


def test_a_forgotten_question_is_missed():
    """The control: without its question each combination is demanded in vain."""
    for forgotten in FORGOTTEN:
        assert forgotten in demanded()
        assert demanded() - (covered() - {forgotten}) == {forgotten}


def seen(room):
    """All names that kept questions have in a room."""
    return {name for how in HOW.values() for name in how.get(room, ())}


def classes_of(package, *, having):
    """Classes that a package offers, which have all of some attributes."""
    offered = (getattr(package, name) for name in package.__all__)
    return {each for each in offered if inspect.isclass(each) and all(hasattr(each, name) for name in having)}


def test_every_strategy_is_kept():
    kinds = classes_of(ogive.strategies, having=("name", "from_dict"))
    assert len(kinds) > 10
    assert {kind.name for kind in kinds} - MADE_LATER == seen("strategies") | seen("published")


def test_every_oracle_law_and_kind_of_column_is_kept():
    assert seen("oracles") == set(ORACLES)
    laws = {kind for kind in classes_of(ogive.noise, having=("fill", "to_dict")) if kind is not ogive.noise.Law}
    assert laws == set(LAWS)
    assert seen("drawn") == {"discrete_gaussian", "discrete_laplace", "geometric", "polya", "skellam", "uniform_bits"}
    assert seen("columns") == {kind.kind for kind in typing.get_args(Column)}
    assert seen("grids") == {
        "explicit number", "geometric number", "integers date", "integers number", "linear date", "linear datetime",
        "linear number",
    }  # fmt: skip


def test_every_query_measure_and_kernel_is_kept():
    queries = {kind for kind in classes_of(ogive.queries, having=("digest", "price")) if not is_interface(kind)}
    assert queries <= QUERIES.keys()
    assert seen("queries") == set(QUERIES.values())
    assert seen("measures") == {"mean", *MEASURES} - MEANS
    assert seen("kernels") == {"function", *KERNELS}


MEANS = {name for name, make in MEASURES.items() if make().to_dict()["measure"] == "mean"}
"""Measures that are the mean of one kernel, and are called so in their plain data."""


def is_interface(kind):
    return getattr(kind, "_is_protocol", False)


def test_every_guarantee_aggregator_smoothing_and_estimate_is_kept():
    questions = [kept["question"] for kept in KEPT.values()]
    granted = {asked["privacy"]["type"] for asked in questions if "privacy" in asked}
    charged = {kept["charge"]["type"] for kept in KEPT.values() if kept["charge"] is not None}
    assert granted == {"ApproxDP", "PureDP", "ZeroConcentratedDP"}
    assert charged == {*granted, "GaussianDP"}
    labels = [asked["statistic"]["aggregator"]["name"] for asked in questions if asked["statistic"]["name"] == "labels"]
    assert set(labels) == {kind.name for kind in typing.get_args(aggregators.Aggregator)}
    assert {asked["statistic"].get("smooth") for asked in questions} >= {"auto", *SMOOTHINGS}
    assert {how["schema"] for how in HOW.values()} == set(SCHEMAS) - {kind.schema for kind in UNKEPT}
