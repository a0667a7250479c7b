"""Whatever a release says besides noisy numbers is the same for two tables that are adjacent in its own unit.

Both tables are released. For the second one the noise is taken such that every noisy answer comes out as it did for the
first: there is such noise, since every law reaches every integer. Whatever differs then, in the estimate, its JSON, its
text, its chapter of the report, the account's statement, or an error that is raised, is no function of noisy numbers
and of what is public. The first release has the noise of a fixed key once, and once zeros of the same law.
"""

import dataclasses
import functools
import itertools
import re

import numpy as np
import pytest
from helpers.examples import NEW, example_of
from helpers.few_simulations import simulate_little
from helpers.scope import covering, is_everything, label

import ogive
from ogive import Adjacency, ApproxDP, PrivacyUnit
from ogive.errors import OgiveError
from ogive.ledger import Ledger
from ogive.local import Collection, PublicClasses, Randomizer
from ogive.noise import DerivedNodes, KeyedSource
from ogive.pate import ConfidentGNMax, GNMax, LargestMargins, LNMax
from ogive.queries import Ballots, ReportsQuery
from ogive.releasing.accounts import statement
from ogive.releasing.release import release
from ogive.statistics import (
    STATISTICS,
    Bounds,
    Boxplot,
    Count,
    Crosstab,
    Describe,
    Ecdf,
    GroupAuc,
    Grouped,
    Histogram,
    HosmerLemeshow,
    Labels,
    Mean,
    Proportion,
    Quantiles,
    Roc,
    Sum,
    Ustatistic,
)
from ogive.statistics.methods.curve_methods import AdaptiveQuantiles
from ogive.statistics.ustatistic.pairs import Paired
from ogive.trust import TRUST_MODELS, Central, Collected, Local, Pairs, SecAgg, Servers

REPLACE, ADD_OR_REMOVE = Adjacency
GRANTED = ApproxDP(2, "1e-6")
N = 24
BOUNDS = {"bounds": (0, 100), "bins": 8}
X = (0, 100)


def table():
    """24 records of as many persons; the only record of class z = 2 and of group c is the last one, and it is ill."""
    rng = np.random.default_rng(7)
    y = np.array([0, 1] * (N // 2))
    return {
        "x": np.round(rng.uniform(5, 95, N), 1),
        "w": rng.integers(0, 8, N).astype(float),
        "p": np.round(rng.uniform(0.05, 0.95, N), 3),
        "y": y,
        "rare": np.array([0] * (N - 1) + [1]),
        "z": np.array([0, 1] * (N // 2 - 1) + [1, 2]),
        "g": np.array(["a", "b"] * (N // 2 - 1) + ["b", "c"]),
        "ill": np.array(["no", "yes"] * (N // 2)),
        "v": rng.integers(0, 3, N),
        "who": np.arange(N),
    }


def changed(number=N - 1, **values):
    """The table with other values in one record."""
    found = {name: column.copy() for name, column in table().items()}
    for name, value in values.items():
        found[name] = found[name].astype(type(value)) if isinstance(value, float) else found[name].astype(object)
        found[name][number] = value
        found[name] = np.array(found[name].tolist())
    return found


def without(*numbers, of=None):
    """The table without some records."""
    kept = np.setdiff1d(np.arange(N), numbers)
    return {name: column[kept] for name, column in (table() if of is None else of).items()}


OTHER = {"x": 2.5, "w": 0.0, "p": 0.99, "y": 0, "rare": 0, "z": 0, "g": "a", "ill": "no", "v": 2}

# what one record may become, or whether it is there, so that what is public stays
TABLE = table()
REPLACED = {
    "another label": (TABLE, changed(y=0, ill="no")),
    "a class that is empty then": (TABLE, changed(rare=0, z=0, g="a")),
    "a value beyond a bound": (TABLE, changed(x=1e6)),
    "a value below all others": (TABLE, changed(x=-5.0)),
    "a value that is missing": (TABLE, changed(x=float("nan"))),
    "another record altogether": (TABLE, changed(**OTHER)),
}
REMOVED = {
    "the record of a class": (TABLE, without(N - 1)),
    "any record": (TABLE, without(0)),
    "a value that is missing": (changed(x=float("nan")), without(N - 1)),
    "a value beyond a bound": (changed(x=1e6), without(N - 1)),
    "two records or one": (without(*range(2, N)), without(*range(1, N))),
}
KEPT = ("y", "rare", "z", "g", "ill")
SAME_CLASSES = {
    "a value beyond a bound": (TABLE, changed(x=1e6)),
    "a value that is missing": (TABLE, changed(x=float("nan"))),
    "all values": (TABLE, changed(**{name: value for name, value in OTHER.items() if name not in KEPT})),
}

CURVES = [
    Ecdf("x", X, bins=8),
    *(Ecdf("x", X, bins=8, method=name) for name in ("path", "tree_ls", "hat_ls", "sqrt", "projection", "histogram")),
    Ecdf("x", X, bins=8, method=AdaptiveQuantiles(rounds=4)),
    Ecdf("x", X, bins=8, method="selected", expected_records=20),
    Ecdf("w", X, bins=8, expected_records=20),
    Ecdf("x", X, bins=8, method="reports"),
    Quantiles("x", (0.25, 0.5), bounds=X, bins=8),
    Quantiles("x", (0.1, 0.9), bounds=X, bins=8, method="bisection"),
    Quantiles("x", (0.5,), bounds=X, bins=8, method="exponential"),
    Quantiles("x", (0.5,), bounds=X, bins=8, method="joint"),
    Boxplot("x", X, bins=8),
    Boxplot("x", X, bins=8, method="five_numbers"),
    Boxplot("x", X, bins=8, method="five_numbers", beyond=2),
    Boxplot("x", X, bins=8, by="g", groups=("a", "b", "c")),
    Boxplot("x", X, bins=8, by="g", groups=("a", "b", "c"), curve="projection"),
    Boxplot("x", X, bins=8, by="g", groups=("a", "b", "c"), method="five_numbers"),
    Boxplot("x", X, bins=8, by="z", groups=(0, 1, 2), curve="tree_ls"),
    Bounds("x"),
    Bounds("x", base=10, smallest=0.1, largest=1000),
    Grouped(Ecdf("x", X, bins=8, method="tree_ls", missing="low"), "g", ("a", "b", "c")),
]
MISSING = [
    dataclasses.replace(each, missing=missing)
    for each in (CURVES[0], CURVES[5], CURVES[11], CURVES[13], CURVES[16], CURVES[18], CURVES[20])
    for missing in ("low", "high", "drop")
]
CLASSES = [
    *(Roc("x", name, X, bins=8, outside="clip", missing="low") for name in ("y", "rare")),
    Roc("x", "rare", X, bins=8, outside="clip", missing="high", budget="split", method="path"),
    Roc("x", "ill", X, bins=8, outside="clip", missing="low", positive="yes", negative="no", positive_when="low"),
    HosmerLemeshow("p", "y", bins=16, groups=4),
    HosmerLemeshow("p", "rare", bins=16, groups=4, form="counts"),
    HosmerLemeshow("p", "y", bins=16, groups=4, constants="paper"),
]
CLIPPED = {"outside": "clip", "missing": "low"}
GINI = Ustatistic("x", "gini", bounds=X, **CLIPPED)
PAIRS = [
    GINI,
    *(dataclasses.replace(GINI, kernel=name) for name in ("gini_coefficient", "variance")),
    dataclasses.replace(GINI, method="cells", bins=4),
    dataclasses.replace(GINI, rounding="randomized", bins=4),
    *(Ustatistic("z", name, categories=(0, 1, 2)) for name in ("collision", "collision_probability")),
    *(
        Ustatistic(("y", "z"), name, categories={"y": (0, 1), "z": (0, 1, 2)}, method=method)
        for name in ("kendall", "kendall_b", "gamma")
        for method in ("auto", "kernel", "cells")
    ),
    *(
        Ustatistic(("x", label), "auc", bounds=X, bins=4, method=method, **CLIPPED)
        for label in ("y", "rare")
        for method in ("auto", "kernel", "cells", "krr", "haar", "paired")
    ),
    Ustatistic(("x", "ill"), "auc", bounds=X, bins=4, positive="yes", negative="no", **CLIPPED),
    Ustatistic("x", "gini", bounds=X, method=Paired(rounds=2, noise="laplace"), **CLIPPED),
]
LABELS = [
    Labels(aggregator, Ballots(("v", "z"), classes=3))
    for aggregator in (LargestMargins(None, keep=1), GNMax(40), LNMax(1), ConfidentGNMax(10, 8, 6))
]
SUMS = [
    Mean("x", X, step=1),
    Mean("x", X, step=1, missing="low"),
    Sum("x", X, step=1),
    Proportion("z", positive=(1, 2)),
    Count("z", among=2),
    Crosstab("z", "y", rows=(1, 2), columns=(0, 1), other="count", missing="count"),
    Histogram("z", values=(1, 2), other="count", missing="count"),
    GroupAuc("x", "y", "g", X, bins=4, group_values=("a", "b"), other="count", outside="clip", missing="low"),
]
DESCRIBED = [
    Describe(("x", "y"), bounds={"x": X}, values={"y": 1}),
    Describe(("x", "ill"), bounds={"x": X}, values={"ill": "yes"}, by="g", groups=("a", "b", "c")),
    Describe(("w", "rare"), numbers=("w",), values={"rare": 1}),
]
HIDING = [*CURVES, *MISSING, *CLASSES, *PAIRS, *LABELS, *SUMS, *DESCRIBED, *(example_of(kind) for kind in NEW)]

KEPT_IN_BOOKS = list({each.name: each for each in reversed(HIDING)}.values())
"""The first statistic of each kind."""

PUBLIC = [
    Roc("x", "y", X, bins=8, public_labels=True, **CLIPPED),
    Roc("x", "rare", X, bins=8, public_labels=True, budget="split", method="path", **CLIPPED),
    Boxplot("x", X, bins=8, by="g", groups=("a", "b", "c"), public_groups=True, missing="low"),
    Boxplot("x", X, bins=8, by="g", groups=("a", "b", "c"), public_groups=True, missing="low", method="five_numbers"),
    *(
        Ustatistic(("x", label), "auc", bounds=X, bins=4, public_labels=True, method=method, **CLIPPED)
        for label in ("y", "rare")
        for method in ("auto", "kernel", "cells", "krr", "hierarchy", "paired")
    ),
    Ustatistic(("x", "z"), "vus", bounds={"x": X}, bins=4, categories={"z": (0, 1, 2)}, **CLIPPED),
]


def pieces(data):
    """The records of four parties."""
    ends = np.linspace(0, len(data["x"]), 5).astype(int)
    return [{name: column[a:b] for name, column in data.items()} for a, b in itertools.pairwise(ends)]


def collected(statistic):
    """A trust model of reports that were really collected, for one statistic."""

    @functools.cache
    def described():
        return ogive.describe_collection(statistic, privacy=GRANTED, participants=N).to_json()

    def made(data):
        study = described()
        found = Collection(study)
        names = [column.column for column in found.description.domain.columns]
        device = Randomizer(study, source=KeyedSource(bytes(32)))
        found.add(device.reports({name: data[name] for name in names}))
        return Collected(found)

    return made


MODELS = {
    "central": lambda statistic: Central,
    "secagg": lambda statistic: lambda data: SecAgg(pieces(data)),
    "servers": lambda statistic: lambda data: Servers(pieces(data)),
    "owners": lambda statistic: Servers,
    "local": lambda statistic: Local,
    "collected": collected,
    "pairs": lambda statistic: lambda data: Pairs(data, circuits="clear"),
}


@pytest.fixture(autouse=True)
def few_simulations(monkeypatch):
    """Bands and ends of intervals are the same of the same numbers, however exactly they are found."""
    monkeypatch.setattr("ogive.statistics.curve.bands.SIMULATED_VALUES", 100_000)
    simulate_little(monkeypatch)


class DifferentError(Exception):
    """The second release did what no noise explains."""


def without_noise(query, values):
    """What an answer tells that bears no noise: its shape, and of reports how many there are, of each class if sent."""
    counted = None
    if isinstance(query, ReportsQuery):
        classes = isinstance(query.oracle, PublicClasses)
        inner, sums = (query.oracle.inner, values) if classes else (query.oracle, [values])
        counted = [int(inner.reports(each)) for each in sums]
    return values.shape, values.dtype, counted


class Answered:
    """Has a trust model answer as it did before, where it was asked before, and else notes what it answers."""

    def __init__(self):
        self.noted = []
        self._told = None

    def again(self):
        """From now on give the answers that were noted, in their order."""
        self._told = iter(self.noted)

    def watch(self, trust):
        opened = trust.open

        def open_it(adjacency, *, source):
            opening = opened(adjacency, source=source)
            answer = opening.answer

            def answered(query):
                found = answer(query)
                if self._told is None:
                    self.noted.append((query, found.values))
                    return found
                asked, values = next(self._told)
                if (asked, without_noise(asked, values)) != (query, without_noise(query, found.values)):
                    raise DifferentError("what is asked, or what has no noise in an answer, is not the same")
                return dataclasses.replace(found, values=values)

            opening.answer = answered
            return opening

        trust.open = open_it
        return trust


NUMBERS = itertools.count()
TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"


@functools.cache
def books():
    """One ledger for all accounts, each of which pays for one release."""
    return Ledger.open()


def said(statistic, made, unit):
    """All that a release says to anybody: the estimate as plain data and as text, and the account's books.

    Books take some of the time: in `make test` the curator keeps them for the first statistic of each kind.
    """
    name, account = f"people {next(NUMBERS)}", None
    try:
        trust = made()
    except (OgiveError, DifferentError) as problem:
        return {"error": f"{type(problem).__name__}: {problem}"}
    if is_everything() or (trust.name == "central" and statistic in KEPT_IN_BOOKS):
        account = books().account(name, unit=unit, limit=ApproxDP(9, "1e-4"))
    try:
        found = release(
            statistic,
            trust=trust,
            privacy=GRANTED,
            adjacency=unit.adjacency,
            public=(unit.public or None) if account is None else None,
            ledger=account,
            source=KeyedSource(bytes(32)),
        )
    except (OgiveError, DifferentError) as problem:
        return {"error": f"{type(problem).__name__}: {problem}"}
    found = found.with_provenance(dataclasses.replace(found.provenance, release_id="0", account=None))
    told = "" if account is None else statement(account).replace(name, "people")
    return {"data": found.to_dict(), "text": str(found), "books": re.sub(TIME, "then", told)}


def differences(statistic, make, pairs, unit):
    """What releases of adjacent tables say differently with the same noisy numbers, by the name of the pair.

    Also whether any of them released anything, and was not refused.
    """
    found, released = {}, False
    known = {}
    for name, (one, other) in pairs.items():
        if refuses(statistic, one) or refuses(statistic, other):
            continue
        if id(one) not in known:
            answers = Answered()
            first = said(statistic, lambda answers=answers, one=one: answers.watch(make(one)), unit)
            known[id(one)] = answers, first
        answers, first = known[id(one)]
        answers.again()
        second = said(statistic, lambda answers=answers, other=other: answers.watch(make(other)), unit)
        released = released or "data" in first or "data" in second
        different = {what for what in {*first, *second} if repr(first.get(what)) != repr(second.get(what))}
        if different:
            found[name] = {what: (first.get(what), second.get(what)) for what in sorted(different)}
    return found, released


def refuses(statistic, data):
    """Whether the statistic takes no such record, whatever the others are; that is told to who runs the release."""
    if getattr(statistic, "time", None) == "x" and (data["x"] < X[0]).any():  # no time until an event
        return True
    return getattr(statistic, "missing", None) == "refuse" and "x" in names_of(statistic) and np.isnan(data["x"]).any()


def names_of(statistic):
    """Columns that the statistic reads."""
    if isinstance(statistic, Describe):
        return list(statistic.columns)
    return [name for name in vars(statistic).values() if isinstance(name, str)]


PLAIN = PrivacyUnit(REPLACE)
DECLARED = PrivacyUnit(REPLACE, public=KEPT)
UNITS = {
    "replace": (PLAIN, REPLACED, HIDING),
    "add or remove": (PrivacyUnit(ADD_OR_REMOVE), REMOVED, HIDING),
    "public columns": (DECLARED, SAME_CLASSES, [*PUBLIC, *HIDING[:3], *CLASSES, *PAIRS[:3]]),
}
# sums by parties and servers are the curator's, and by reports and pairs few statistics are answered
FEW = [*CURVES[:3], *CURVES[10:13], CURVES[16], *CLASSES[:5:2], *PAIRS[:6], *PAIRS[9:15], LABELS[0], *SUMS]
CASES = [
    (statistic, model, kind, f"{kind}-{model}-{number}-{statistic.name}")
    for kind, (_, _, statistics) in UNITS.items()
    for model in MODELS
    for number, statistic in enumerate(statistics)
    if model == "central" or statistic in PUBLIC or statistic in FEW
]


def sorts_of(statistic):
    """The kind of a statistic with what it is asked by, method, kernel and form, and with what stands for missing."""
    asked_by = (label(getattr(statistic, name, None)) for name in ("method", "kernel", "form"))
    return {(statistic.name, *asked_by), (statistic.name, label(getattr(statistic, "missing", None)))}


ALIKE = (("secagg", "servers", "owners"), ("local", "collected"))
"""Models that answer the same questions by the same code, but for how they get sums, or reports."""


def soon():
    """Numbers of the cases of `make test`.

    Every kind of statistic occurs in every unit, over the curator, over pairs, and over one of the models that are
    alike, in turn; every model occurs in every unit, and every sort of statistic in some case. A sort is looked at in
    the first case that has it, which is the curator's.
    """
    names = list(dict.fromkeys(statistic.name for statistic, *_ in CASES))
    left = {
        (name, model)
        for turn, name in enumerate(names)
        for models in ALIKE
        for model in models
        if model != models[turn % len(models)]
    }
    tried = [number for number, (statistic, model, *_) in enumerate(CASES) if (statistic.name, model) not in left]
    features = [(CASES[number][0].name, *CASES[number][1:3]) for number in tried]
    chosen = {tried[number] for number in covering(features)}
    seen = set().union(*(sorts_of(CASES[number][0]) for number in chosen))
    for number, (statistic, _, _, _) in enumerate(CASES):
        if not sorts_of(statistic) <= seen:
            seen |= sorts_of(statistic)
            chosen.add(number)
    return chosen


SOON = soon()


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, id=case[-1], marks=() if number in SOON else pytest.mark.everything)
        for number, case in enumerate(CASES)
    ],
)
def test_nothing_but_noisy_numbers_depends_on_what_the_unit_hides(number):
    statistic, model, kind, _ = CASES[number]
    unit, pairs, _ = UNITS[kind]
    found, _ = differences(statistic, MODELS[model](statistic), pairs, unit)
    assert not found


def answered(model, tried):
    """Statistics, of those that are tried, that a trust model answers, and does not refuse, in some case above."""
    names = set()
    for statistic, each, kind, _ in CASES:
        if each == model and statistic.name in tried - names:
            made = MODELS[model](statistic)
            found = said(statistic, lambda made=made: made(TABLE), UNITS[kind][0])
            names |= {statistic.name} if "data" in found else set()
    return names


USUAL = {"ecdf", "boxplot", "roc", "calibration", "ustatistic"}
BY_REPORTS = {
    "ecdf",
    "quantiles",
    "boxplot",
    "ustatistic",
    "mean",
    "sum",
    "proportion",
    "count",
    "histogram",
    "crosstab",
}


@pytest.mark.parametrize("model", MODELS)
def test_every_statistic_is_answered_in_some_case(model):
    """So no case above holds only because the statistic was refused.

    Of models that are alike `make test` asks one for all statistics, and the others for those of its own cases.
    """
    everything = tried = {kind.name for kind in STATISTICS}
    if model in ("secagg", "servers", "collected") and not is_everything():
        tried = {CASES[number][0].name for number in SOON if CASES[number][1] == model}
    found = answered(model, tried)
    if model in ("secagg", "servers", "owners"):
        assert found >= USUAL & tried != set()
    else:
        expected = {"central": everything, "local": BY_REPORTS, "collected": BY_REPORTS, "pairs": {"ustatistic"}}
        assert found == expected[model] & tried != set()


def test_every_trust_model_is_tried():
    assert {model.name for model in TRUST_MODELS} - {"clear"} <= {*MODELS}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("statistic", [CURVES[0], CURVES[16], CLASSES[0], PAIRS[0], PAIRS[9], PAIRS[15]])
def test_nothing_but_zeros_depends_on_it_where_the_noise_is_zero(statistic, monkeypatch):
    monkeypatch.setattr(DerivedNodes, "values", lambda self, law, level, nodes: np.zeros(np.shape(nodes), np.int64))
    for unit, pairs, _ in (UNITS["replace"], UNITS["add or remove"]):
        found, _ = differences(statistic, Central, pairs, unit)
        assert not found


CONTROLS = [
    pytest.param(statistic, model, id=f"{model}-{number}-{statistic.name}")
    for model, methods in {
        "central": {"auto", "path", "resample", "five_numbers", "kernel", "cells"},
        "secagg": {"auto", "path", "resample", "cells"},
        "local": {"auto", "resample", "krr", "hierarchy"},
        "pairs": {"auto", "paired"},
    }.items()
    for number, statistic in enumerate(PUBLIC)
    if statistic.method in methods
    and not (model in ("local", "pairs") and isinstance(statistic, Roc))
    and not (model == "pairs" and (isinstance(statistic, Boxplot) or "rare" in statistic.columns))
    and not (model in ("secagg", "pairs") and getattr(statistic, "kernel", None) == "vus")
]


@pytest.mark.each_value(statistic=lambda statistic: (statistic.name, label(statistic.method)))
@pytest.mark.parametrize(("statistic", "model"), CONTROLS)
def test_the_control_exact_counts_under_a_unit_that_hides_them_are_caught(statistic, model, monkeypatch):
    """As the default was: labels are published under a unit that calls no column public."""
    refused, released = differences(statistic, MODELS[model](statistic), REPLACED, PLAIN)
    assert not refused
    assert not released
    monkeypatch.setattr("ogive.releasing.release.undeclared", lambda query, unit: None)
    name = "another record altogether"
    caught, released = differences(statistic, MODELS[model](statistic), {name: REPLACED[name]}, PLAIN)
    assert released
    assert name in caught


PERSONS = {
    "one row each": (PrivacyUnit(REPLACE, "who"), 1),
    "several rows": (PrivacyUnit(ADD_OR_REMOVE, "who", 2), 2),
}


PERSONAL = [CURVES[0], CURVES[12], CURVES[16], *CLASSES[:2], CLASSES[4], *PAIRS[:2], PAIRS[9]]


@pytest.mark.each_value
@pytest.mark.parametrize("kind", PERSONS)
@pytest.mark.parametrize("statistic", PERSONAL)
def test_a_person_is_hidden_with_all_rows(statistic, kind):
    unit, rows = PERSONS[kind]
    whole = {**table(), "who": np.minimum(np.arange(N), N - 3)}  # the last person has three rows
    gone = without(N - 3, N - 2, N - 1, of=whole)
    if unit.adjacency is REPLACE:
        other = without(N - 3, N - 2, of=whole)
        gone = {name: np.array([*column[:-1], {"who": 99, **OTHER}[name]]) for name, column in other.items()}
    make = lambda data: Central(data, person="who", max_rows_per_person=rows)  # noqa: E731
    found, released = differences(statistic, make, {"a person": (whole, gone)}, unit)
    assert not found
    assert released or statistic in PAIRS
