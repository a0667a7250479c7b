"""The questions that `make_questions.py` keeps besides its first: every method over every trust model that serves it.

Every option that could get another default later is given by name. Tables are small, since what is kept is who is asked
what in which words, and not how well it is answered.
"""

import datetime
from fractions import Fraction

from vectors.make_ledger import table

import ogive
from ogive import (
    ApproxDP,
    Boxplot,
    Concordance,
    Count,
    Crosstab,
    Describe,
    Ecdf,
    GroupAuc,
    Grouped,
    HierarchyAuc,
    Histogram,
    HosmerLemeshow,
    Mean,
    Paired,
    Proportion,
    PureDP,
    Quantiles,
    Roc,
    Subset,
    Sum,
    Survival,
    Ustatistic,
    Validation,
    ZeroConcentratedDP,
)
from ogive.columns import Binning, Categories, Domain, Label
from ogive.columns.grids import Grid
from ogive.kernels import (
    ClusteringLoss,
    Equal,
    Greater,
    MetricLoss,
    PairMeanKernel,
    RankingLoss,
    ScoreOrder,
    TripleTable,
    Untied,
    measure_of,
)
from ogive.kernels import Mean as MeanKernel
from ogive.pate import ConfidentGNMax, GNMax, InteractiveGNMax, LargestMargins, LNMax, Tallied
from ogive.queries import Ballots
from ogive.statistics import Bounds, Labels
from ogive.statistics.methods.choose import PrivateSelection
from ogive.statistics.methods.curve_methods import AdaptiveQuantiles, HistogramQueries, Projection, Reports
from ogive.strategies import (
    design_hats,
    design_histogram,
    design_path,
    design_projection,
    design_ring,
    design_square_root,
    design_symmetric_root,
    design_tree,
)

ROWS, FEW = 120, 48
PURE, CONCENTRATED, APPROXIMATE = PureDP("0.5"), ZeroConcentratedDP("0.1"), ApproxDP("0.5", "1e-6")
MUCH = ZeroConcentratedDP(8)
REPLACE, ADD = ogive.Adjacency.REPLACE, ogive.Adjacency.ADD_OR_REMOVE

AGE = {"bounds": (0, 100), "bins": 16, "grid": "linear", "missing": "refuse"}
CURVE = {**AGE, "smooth": "auto", "expected_records": None}
READ = {**AGE, "confidence_level": 0.95, "expected_records": None}
BOX = {**AGE, "shares": (Fraction(1, 5),) * 5, "beyond": 0, "expected_records": None, "quartiles": "single"}
SCORE = {"bounds": (0, 1), "bins": 16, "grid": "linear", "missing": "refuse"}
AREAS = {"positive": 1, "negative": 0, "positive_when": "high", "outside": "refuse", "confidence_level": 0.95}
ROC = {"positive_when": "high", "smooth": "auto", "outside": "refuse", "confidence_level": 0.95}
TIMES = {**AGE, "missing": "refuse", "censored": 0, "causes": (1,), "confidence_level": 0.95}
JUDGED = {"bins": 16, "missing": "refuse", "outside": "refuse", "confidence_level": 0.95}
RANKED = {"bounds": (0, 100), "bins": 4, "score_bins": 4, "ties": "half", "missing": "refuse", "confidence_level": 0.95}
TEST = {"groups": 4, "bins": 16, "split": None, "constants": "exact", "bits": 20, "floor": 1.0, "df": None}
PAIRS = {"matrix": "average", "rounding": "simple", "confidence_level": 0.95, "expected_records": None}

UNBIASED = ("path", "tree_ls", "hat_ls", "sqrt", "symmetric", "ring")
GAUSSIAN = ("sqrt", "symmetric", "ring")
"""Methods whose noise is Gaussian alone."""
WHOLE = (*UNBIASED, "projection", "histogram", "adaptive")
FORMS = ("difference", "counts")
BALLOTS = Ballots(("ill", "vote"), classes=3)
STUDENT = ((0.5, 0.25, 0.25), (0.25, 0.5, 0.25))


PAPER_TEST = HosmerLemeshow("risk", "ill", **{**TEST, "constants": "paper"}, form="counts", method="auto")
"""A test that can be asked in one way alone."""


def records(rows=ROWS, seed=0):
    """The table of the ledger's vectors, with days and votes."""
    found = table(seed, rows)
    first = datetime.date(2024, 1, 1)
    return found | {
        "vote": [row % 3 for row in range(rows)],
        "day": [first + datetime.timedelta(days=age) for age in found["age"]],
        "moment": [datetime.datetime(2024, 1, 1, age % 24, age) for age in (each % 60 for each in found["age"])],
        "empty": [None if row % 5 == 0 else age for row, age in enumerate(found["age"])],
    }


def grant_of(method):
    """A guarantee that the method can be designed for."""
    return CONCENTRATED if method in GAUSSIAN else PURE


def adding_up():
    """What those who add up serve as a curator does: (name, statistic, guarantee)."""
    for method in WHOLE:
        yield f"ecdf {method}", Ecdf("age", **CURVE, method=method), grant_of(method)
        yield f"quantiles {method}", Quantiles("age", (0.25, 0.5), **READ, method=method), grant_of(method)
    for method in UNBIASED:
        yield f"survival {method}", Survival("age", "ill", **TIMES, method=method), grant_of(method)
        yield f"validation {method}", Validation("risk", "ill", **JUDGED, method=method), grant_of(method)
        yield f"concordance {method}", Concordance("risk", "age", "ill", **RANKED, method=method), grant_of(method)
    yield "quantiles bisection", Quantiles("age", (0.25, 0.5), **READ, method="bisection"), PURE
    for curve in ("tree_ls", "projection", "auto"):
        yield f"boxplot {curve}", Boxplot("age", **BOX, method="resample", curve=curve, public_groups=False), PURE
    for public in (False, True):
        groups = {"by": "ward", "groups": ("north", "south"), "public_groups": public}
        boxes = Boxplot("age", **BOX, **groups, method="resample", curve="tree_ls")
        yield f"boxplot {'public' if public else 'private'} groups", boxes, PURE
        for budget in ("joint", "split"):
            for method in UNBIASED:
                roc = Roc("risk", "ill", **SCORE, **ROC, public_labels=public, budget=budget, method=method)
                named = f"roc {method} {budget} {'public' if public else 'private'} labels"
                if not public or (budget, method) == ("joint", "tree_ls"):
                    yield named, roc, grant_of(method)
    for form in FORMS:
        for method in UNBIASED:
            test = HosmerLemeshow("risk", "ill", **TEST, form=form, method=method)
            yield f"calibration {method} {form}", test, grant_of(method)
    yield "groups calibration", Grouped(PAPER_TEST, "ward", ("north", "south"), public=False), PURE
    for public in (False, True):
        curve = Ecdf("age", **CURVE, method="tree_ls")
        groups = Grouped(curve, "ward", ("north", "south"), public=public)
        named = "public" if public else "private"
        yield f"groups ecdf {named}", groups, PURE
        yield f"subset ecdf {named}", Subset(curve, "ward == 'north' and age >= 40", public=public), PURE
        yield f"subset of groups {named}", Subset(groups, {"ill": 1}, public=public), PURE
    yield "bounds", Bounds("age", base=2.0, smallest=1.0, largest=1024.0, false_alarm=0.01), PURE
    cells = Ustatistic("age", "gini", bounds=(0, 100), bins=8, method="cells", **PAIRS)
    yield "ustatistic cells", cells, PURE
    for public in (False, True):
        auc = Ustatistic(("risk", "ill"), "auc", bounds=(0, 1), bins=8, public_labels=public, method="cells", **PAIRS)
        yield f"auc cells {'public' if public else 'private'} labels", auc, PURE
    described = {"bounds": {"age": (0, 100)}, "values": {"ill": 1}, "weights": {"ill": "0.5"}, "confidence_level": 0.95}
    yield "describe", Describe(("age", "ill"), **described, missing="refuse", public_groups=False), PURE
    yield "describe categories", Describe(values={"vote": (0, 1, 2)}, columns=("vote",)), PURE
    wards = {"by": "ward", "groups": ("north", "south"), "public_groups": False}
    yield (
        "describe groups",
        Describe(("age", "ill"), numbers=("age",), values={"ill": 1}, **wards, search="outermost"),
        PURE,
    )
    yield "describe outward", Describe(("age",), numbers=("age",), public_groups=False, search="outward"), PURE
    of_empty = {"bounds": {"empty": (0, 100)}, "missing": {"empty": "low", "ill": "no"}, "count_missing": True}
    yield "describe missing", Describe(("empty", "ill"), values={"ill": 1}, **of_empty, confidence_level=0.95), PURE
    yield "labels margins", Labels(LargestMargins(None, keep=1), BALLOTS, max_answers=None), PURE


def areas():
    """Areas within groups and between them."""
    groups = {"group_values": ("north", "south"), "other": "count", "missing_group": "refuse"}
    yield "group_auc", GroupAuc("risk", "ill", "ward", **SCORE, **AREAS, **groups)
    low = AREAS | {"positive_when": "low", "outside": "clip"}
    yield "group_auc low", GroupAuc("age", "ill", "ward", (0, 50), bins=4, **low, **groups, missing="low")


def numbers():
    """Counts, proportions, means and sums."""
    level = {"confidence_level": 0.95}
    yield "count", Count("ward", among=("north",), missing="no", **level)
    yield "proportion", Proportion("ill", positive=1, missing="refuse", **level)
    yield "proportion of two", Proportion("ill", positive=1, negative=0, missing="refuse", **level)
    yield "mean", Mean("age", (0, 100), step=1, missing="refuse", **level)
    whole = {"other": "count", "missing": "count", **level}
    yield "histogram", Histogram("ward", values=("north", "south"), **whole)
    yield "histogram of two", Histogram("ill", values=(0, 1), other="refuse", missing="refuse", **level)
    yield "histogram of many", Histogram("vote", values=tuple(range(10)), **whole)
    yield "crosstab", Crosstab("ward", "ill", rows=("north", "south"), columns=(0, 1), **whole)
    yield "sum", Sum("age", (0, 100), step=5, missing="refuse", **level)


def seeing_all():
    """What a curator alone serves."""
    yield "ecdf selected", Ecdf("age", **CURVE, method="selected"), PURE
    yield "ecdf selected Gaussian", Ecdf("age", **CURVE, method="selected"), APPROXIMATE
    yield "quantiles selected", Quantiles("age", (0.25, 0.5), **READ, method="selected"), PURE
    five = {"method": "five_numbers", "curve": "auto"}
    yield "boxplot five_numbers", Boxplot("age", **BOX, **five, public_groups=False), PURE
    yield "quantiles exponential", Quantiles("age", (0.25, 0.5), **READ, method="exponential"), PURE
    yield "quantiles joint", Quantiles("age", (0.25, 0.5), **READ, method="joint"), PURE
    finer = {**READ, "bins": 50, "method": "counted"}
    yield "quantiles counted", Quantiles("age", (0.25, 0.5), **finer), PURE
    yield "quantiles counted Gaussian", Quantiles("age", (0.5,), **finer), CONCENTRATED
    joint = {**BOX, "method": "joint", "curve": "tree_ls"}
    yield "boxplot joint", Boxplot("age", **joint, public_groups=False), PURE
    groups = {"by": "ward", "groups": ("north", "south"), "public_groups": False}
    yield "boxplot five_numbers groups", Boxplot("age", **BOX, **five, **groups), CONCENTRATED
    yield from answered()
    margins = Labels(LargestMargins(40, keep=2), BALLOTS, max_answers=None, probabilities=None)
    yield f"labels {margins.aggregator.name}", margins, ApproxDP(8, "1e-6")
    found = Histogram("vote", values=None, other="refuse", missing="count", confidence_level=0.95)
    yield "histogram found", found, ApproxDP(8, "1e-6")
    yield (
        "groups found",
        Grouped(Mean("age", (0, 100), step=1, missing="refuse", confidence_level=0.95), "ward", None, public=False),
        ApproxDP(8, "1e-6"),
    )
    yield "labels answered", Labels(GNMax(40), BALLOTS, max_answers=1, probabilities=None), ApproxDP(8, "1e-6")


def answered():
    """Labels that a curator gives, or two servers that do not see the votes."""
    for aggregator in (LNMax(20), GNMax(40), ConfidentGNMax(60, 30, 20), InteractiveGNMax(20, 30, 20, "0.9")):
        probabilities = STUDENT if aggregator.name == "interactive" else None
        labels = Labels(aggregator, BALLOTS, max_answers=None, probabilities=probabilities)
        yield f"labels {aggregator.name}", labels, ApproxDP(8, "1e-6")


def options():
    """Methods with options of their own, and strategies that were designed by hand."""
    for number, curve_method in enumerate(
        (
            AdaptiveQuantiles(rounds=8, accounting="naive", noise="laplace"),
            HistogramQueries(groups=5, accounting="naive", noise="gaussian"),
            PrivateSelection(share="0.2"),
            *(Projection(basis=basis, degree=4, noise="isotropic") for basis in ("sine", "cosine", "splines")),
            Projection(basis="legendre", degree=3, noise="moments", constants="paper"),
            Projection(basis="legendre", degree=6, noise="shaped"),
        )
    ):
        yield f"ecdf {curve_method.name} {number} by hand", Ecdf("age", **CURVE, method=curve_method), APPROXIMATE
    terms = {"privacy": PURE, "adjacency": REPLACE}
    designs = (
        design_path(16, **terms),
        design_path(16, **terms, constants="paper"),
        design_tree(16, **terms),
        design_hats(16, **terms),
        design_square_root(16, privacy=CONCENTRATED, adjacency=REPLACE),
        design_histogram(16, **terms, rows=1, groups=4, accounting="joint"),
        design_projection(
            16, **terms, rows=1, records=ROWS, basis="legendre", degree=4, noise="shaped", constants="exact"
        ),
        design_symmetric_root(16, privacy=CONCENTRATED, adjacency=REPLACE),
        design_ring(16, privacy=CONCENTRATED, adjacency=REPLACE),
    )
    for number, strategy in enumerate(designs):
        grant = PureDP(4) if number == 1 else grant_of(strategy.name)
        yield f"ecdf {strategy.name} {number} designed", Ecdf("age", **CURVE, method=strategy), grant
    for smooth in ("shrinkage", "density", "least_squares", "least_absolute", "isotonic"):
        yield f"ecdf {smooth}", Ecdf("age", **{**CURVE, "smooth": smooth}, method="tree_ls"), PURE


def axes():
    """Grids, missing values and adjacencies: (name, statistic, guarantee, adjacency)."""
    curve = {"method": "tree_ls", "smooth": "auto", "expected_records": None}
    days = ("2024-01-01", "2024-04-30")
    moments = (datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2))
    yield "ecdf geometric", Ecdf("age", (1, 100), bins=8, grid="geometric", missing="refuse", **curve), PURE, REPLACE
    explicit = Grid.explicit((20, 40.5, 100), low=0)
    yield "ecdf explicit", Ecdf("age", grid=explicit, missing="refuse", **curve), PURE, REPLACE
    yield "ecdf days", Ecdf("day", days, grid="integers", missing="refuse", **curve), PURE, REPLACE
    yield "ecdf days linear", Ecdf("day", days, bins=8, grid="linear", missing="refuse", **curve), PURE, REPLACE
    yield "ecdf moments", Ecdf("moment", moments, bins=8, grid="linear", missing="refuse", **curve), PURE, REPLACE
    for missing, adjacency in (("low", REPLACE), ("high", REPLACE), ("drop", ADD)):
        empty = {**AGE, "missing": missing}
        yield f"ecdf missing {missing}", Ecdf("empty", **empty, **curve), PURE, adjacency
    added = {**CURVE, "expected_records": 100}
    for method in ("symmetric", "ring"):
        yield f"ecdf {method} added", Ecdf("age", **CURVE, method=method), CONCENTRATED, ADD
    for method in ("projection", "histogram", "adaptive"):
        yield f"ecdf {method} added", Ecdf("age", **added, method=method), APPROXIMATE, ADD
    yield "quantiles bisection added", Quantiles("age", (0.5,), **READ, method="bisection"), PURE, ADD
    guess = {**READ, "expected_records": 100}
    yield "quantiles exponential added", Quantiles("age", (0.5,), **guess, method="exponential"), CONCENTRATED, ADD
    alone = {**READ, "method": "joint", "interval_share": 0}
    yield "quantiles joint added", Quantiles("age", (0.25, 0.5, 0.75), **alone), CONCENTRATED, ADD
    roc = {**SCORE, **ROC, "public_labels": False, "budget": "joint"}
    yield "roc added", Roc("risk", "ill", **roc, method="path"), PURE, ADD
    low = {**roc, "positive_when": "low", "outside": "clip", "missing": "low"}
    yield "roc low", Roc("risk", "ill", **low, method="tree_ls", positive=0, negative=(1,)), APPROXIMATE, REPLACE
    yield "survival added", Survival("age", "ill", **TIMES, method="tree_ls"), PURE, ADD
    judged = {**JUDGED, "outside": "clip", "other": "vote"}
    yield "validation two", Validation("risk", "ill", **judged, method="tree_ls"), PURE, ADD
    ranked = {**RANKED, "missing": "drop", "observed": (1, 2), "grid": "geometric", "bounds": (1, 100)}
    yield "concordance dropped", Concordance("risk", "age", "vote", **ranked, method="path"), APPROXIMATE, ADD
    yield "concordance two", Concordance("risk", "age", "ill", other="vote", **RANKED, method="tree_ls"), PURE, REPLACE
    causes = {**TIMES, "causes": (2, 1), "missing": "high", "grid": "geometric", "bounds": (1, 100)}
    yield "survival causes", Survival("age", "vote", **causes, method="path"), APPROXIMATE, REPLACE
    wards = {**TIMES, "causes": ("south",), "censored": "north", "grid": "integers"}
    yield "survival entry", Survival("age", "ill", **TIMES, method="hat_ls", entry="vote"), PURE, ADD
    yield "survival text", Survival("age", "ward", **wards, method="hat_ls"), PURE, REPLACE
    text = Roc("age", "ward", (0, 100), bins=8, **ROC, positive="north", method="hat_ls", public_labels=False)
    yield "roc text", text, PURE, REPLACE
    paper = {**TEST, "constants": "paper"}
    yield "calibration paper", HosmerLemeshow("risk", "ill", **paper, form="counts", method="auto"), PURE, REPLACE
    yield "calibration added", HosmerLemeshow("risk", "ill", **TEST, form="difference", method="path"), PURE, ADD
    split = {**TEST, "split": Fraction(1, 3), "bits": 10, "df": "fitted"}
    half = HosmerLemeshow("risk", "ill", **split, form="difference", method="tree_ls")
    yield "calibration split", half, CONCENTRATED, REPLACE
    yield "labels added", Labels(LNMax(20), BALLOTS, max_answers=2, probabilities=None), PURE, ADD


ALIKE = TripleTable([[[float(x == y == z) for z in range(3)] for y in range(3)] for x in range(3)])


def over_pairs():
    """Every measure and kernel, by its noisy mean or by noisy cells."""
    ranks = {"categories": {"ill": (0, 1), "vote": (0, 1, 2)}}
    for measure in ("gini", "gini_coefficient", "variance"):
        yield f"{measure} kernel", Ustatistic("age", measure, bounds=(0, 100), bins=8, method="kernel", **PAIRS)
    for measure in ("collision", "collision_probability"):
        for method in ("kernel", "cells", "degrees"):
            yield f"{measure} {method}", Ustatistic("vote", measure, categories=(0, 1, 2), method=method, **PAIRS)
    for measure in ("kendall", "kendall_b", "gamma"):
        for method in ("kernel", "cells"):
            yield f"{measure} {method}", Ustatistic(("ill", "vote"), measure, **ranks, method=method, **PAIRS)
    auc = {"bounds": (0, 1), "bins": 8, **PAIRS}
    yield "auc kernel", Ustatistic(("risk", "ill"), "auc", **auc, public_labels=True, method="kernel")
    yield "auc private kernel", Ustatistic(("risk", "ill"), "auc", **auc, public_labels=False, method="kernel")
    strict = measure_of("auc", ties="strict")
    yield "auc strict", Ustatistic(("risk", "ill"), strict, **auc, method="kernel")
    classes = {"bounds": {"risk": (0, 1)}, "bins": {"risk": 8}, "categories": {"vote": (0, 1, 2)}}
    yield "vus kernel", Ustatistic(("risk", "vote"), "vus", **classes, method="kernel", **PAIRS)
    risk, age = Binning("risk", Grid.linear(0, 1, bins=8)), Binning("age", Grid.integers(0, 100))
    vote, ill = Categories("vote", (0, 1, 2)), Label("ill", (1,), (0,))
    for columns, kernel in (
        ((age,), PairMeanKernel()),
        ((vote,), Equal()),
        ((vote, ill), Untied((0, 1))),
        ((risk, ill), ScoreOrder()),
        ((risk, ill), RankingLoss((1.0,), largest=2.0, surrogate="hinge")),
        ((risk, ill), MetricLoss(((1.0,),), margin=2.0, largest=1.0)),
        ((risk, age), ClusteringLoss(((0.25, 20.0), (0.75, 60.0)), largest=4.0)),
        ((risk, ill), Greater("half")),
        ((vote,), ALIKE),
    ):
        mean = MeanKernel(kernel, "mean of it")
        yield f"{kernel.name} kernel", Ustatistic(Domain(columns), mean, method="kernel", **PAIRS)
    far = measure_of(lambda x, y: abs(x - y) > 20, range=(0, 1), name="far apart")
    yield "function kernel", Ustatistic("age", far, bounds=(0, 100), grid="integers", method="kernel", **PAIRS)
    yield "function cells", Ustatistic("age", far, bounds=(0, 100), bins=8, method="cells", **PAIRS)


def reported():
    """What owners report: (name, statistic, guarantee)."""
    for method in ("reports", "histogram"):
        yield f"quantiles {method}", Quantiles("age", (0.25, 0.5), **READ, method=method), PURE
    for curve_method in (
        Reports(branching=2, nodes="unary", split="users", seed=1),
        Reports(branching=4, nodes="hadamard", split="budget", seed=2),
        HistogramQueries(groups=4),
    ):
        yield f"ecdf {curve_method.name} by hand", Ecdf("age", **CURVE, method=curve_method), PURE
    yield "survival reports", Survival("age", "ill", **TIMES, method="reports"), PURE
    groups = {"by": "ward", "groups": ("north", "south"), "public_groups": True}
    yield "boxplot auto groups", Boxplot("age", **BOX, **groups, method="resample", curve="auto"), PURE
    for method in ("krr", "unary", "haar"):
        yield f"gini {method}", Ustatistic("age", "gini", bounds=(0, 100), bins=8, method=method, **PAIRS), PURE
        for public in (False, True):
            auc = Ustatistic(
                ("risk", "ill"), "auc", bounds=(0, 1), bins=4, public_labels=public, method=method, **PAIRS
            )
            yield f"auc {method} {'public' if public else 'private'} labels", auc, PURE
    classes = {"bounds": {"risk": (0, 1)}, "bins": {"risk": 4}, "categories": {"vote": (0, 1, 2)}}
    yield "triples krr", Ustatistic(Categories("vote", (0, 1, 2)), MeanKernel(ALIKE), method="krr", **PAIRS), PureDP(4)
    yield "vus krr", Ustatistic(("risk", "vote"), "vus", **classes, method="krr", **PAIRS), PureDP(4)
    rounded = {**PAIRS, "rounding": "randomized", "matrix": "midpoint"}
    yield "gini randomized", Ustatistic("age", "gini", bounds=(0, 100), bins=8, method="krr", **rounded), PURE
    for number, tree in enumerate(
        (
            HierarchyAuc(variant="half", branching=2),
            HierarchyAuc(split="budget", composition="exact", branching=4, nodes="unary", prune=False),
            HierarchyAuc(variant="zero", a="paper", split="budget", composition="advanced", branching=2),
        )
    ):
        auc = {"bounds": (0, 1), "bins": 8, "public_labels": True, **PAIRS}
        yield f"auc hierarchy {number}", Ustatistic(("risk", "ill"), "auc", **auc, method=tree), ApproxDP(2, "1e-6")
    auc = {"bounds": (0, 1), "bins": 8, "public_labels": True, **PAIRS}
    yield "auc hierarchy", Ustatistic(("risk", "ill"), "auc", **auc, method="hierarchy"), PURE


def met():
    """What people compute in pairs."""
    ranks = {"categories": {"ill": (0, 1), "vote": (0, 1, 2)}}
    for number, paired in enumerate(
        (
            Paired(rounds=1, design="round_robin", noise="response", bits=8),
            Paired(rounds=2, design="permutations", noise="laplace", bits=8),
            Paired(rounds=2, design="independent", noise="response", bits=8),
        )
    ):
        gini = Ustatistic("age", "gini", bounds=(0, 100), bins=8, method=paired, **PAIRS)
        yield f"gini paired {number}", gini, ApproxDP(4, "1e-6")
    yield "kendall paired", Ustatistic(("ill", "vote"), "kendall", **ranks, method="paired", **PAIRS), PureDP(4)
    auc = {"bounds": (0, 1), "bins": 8, "method": "paired", **PAIRS}
    yield "auc paired", Ustatistic(("risk", "ill"), "auc", **auc, public_labels=True), PureDP(4)


def exact():
    """What the oracle of the tests answers, who has no privacy and pays nothing."""
    yield "describe", Describe(("age", "ill"), bounds={"age": (0, 100)}, values={"ill": 1}, public_groups=False)
    yield "ecdf", Ecdf("age", **CURVE, method="auto")
    yield "quantiles", Quantiles("age", (0.25, 0.5), **READ, method="auto", few="curve")
    yield "boxplot", Boxplot("age", **BOX, method="resample", curve="auto", public_groups=False)
    yield "boxplot five_numbers", Boxplot("age", **BOX, method="five_numbers", curve="auto", public_groups=False)
    yield "roc", Roc("risk", "ill", **SCORE, **ROC, public_labels=False, budget="joint", method="auto")
    yield "calibration", HosmerLemeshow("risk", "ill", **TEST, form="difference", method="auto")
    yield "survival", Survival("age", "ill", **TIMES, method="auto")
    yield "validation", Validation("risk", "ill", **JUDGED, method="auto")
    yield "concordance", Concordance("risk", "age", "ill", **RANKED, method="auto")
    yield "bounds", Bounds("age", base=2.0, smallest=1.0, largest=1024.0, false_alarm=0.01)
    yield "collision", Ustatistic("vote", "collision", categories=(0, 1, 2), method="auto", **PAIRS)
    yield "labels", Labels(LargestMargins(None, keep=1), BALLOTS, max_answers=None)
    yield "groups", Grouped(PAPER_TEST, "ward", ("north", "south"), public=False)


def cases():
    """name -> (statistic, trust model, guarantee or None, adjacency)."""
    data, few = records(), records(FEW)
    secagg = ogive.Simulation(ogive.SecAgg, parties=3, colluding=1)
    tables, keys, sums = (
        ogive.Simulation(ogive.Servers, servers=2, upload=upload, **more)
        for upload, more in (("tables", {}), ("keys", {}), ("sums", {"parties": 3}))
    )
    central, local, added = ogive.Central(data), ogive.Local(data), secagg.over(data)
    summed, voting = sums.over(data), tables.over(few)
    found = {}
    for name, statistic, grant in adding_up():
        found[f"central whole {name}"] = (statistic, central, grant, REPLACE)
        found[f"secagg whole {name}"] = (statistic, added, grant, REPLACE)
        found[f"servers whole {name}"] = (statistic, voting if "labels m" in name else summed, grant, REPLACE)
    for name, statistic, grant in (*seeing_all(), *options()):
        found[f"central of all {name}"] = (statistic, central, grant, REPLACE)
    for name, statistic, grant in answered():
        found[f"servers of two {name}"] = (statistic, voting, grant, REPLACE)
    for name, statistic, grant, adjacency in axes():
        found[f"central axis {name}"] = (statistic, central, grant, adjacency)
    for name, statistic in over_pairs():
        found[f"central pairs {name}"] = (statistic, central, CONCENTRATED, REPLACE)
    for name, statistic, grant in reported():
        found[f"local all {name}"] = (statistic, local, grant, REPLACE)
    for name, statistic, grant in met():
        found[f"pairs all {name}"] = (statistic, ogive.Pairs(few, circuits="clear"), grant, REPLACE)
    for name, statistic in exact():
        found[f"clear {name}"] = (statistic, ogive.Clear(data), None, REPLACE)
    for name, statistic in areas():
        for trust in (central, added, summed):
            found[f"{trust.name} {name}"] = (statistic, trust, PURE, REPLACE)
        found[f"clear {name}"] = (statistic, ogive.Clear(data), None, REPLACE)
        found[f"central {name} added"] = (statistic, central, APPROXIMATE, ADD)
    for name, statistic in numbers():
        for trust in (central, added, summed, local):
            found[f"{trust.name} number {name}"] = (statistic, trust, PURE, REPLACE)
        found[f"clear number {name}"] = (statistic, ogive.Clear(data), None, REPLACE)
        found[f"central number {name} added"] = (statistic, central, APPROXIMATE, ADD)
    anybody = Count("empty", among=None, missing="no", confidence_level=0.95)
    found["central number count of any"] = (anybody, central, PURE, ADD)

    curve = Ecdf("age", **CURVE, method="tree_ls")
    # shares of narrow Gaussian noise are of another law
    found["secagg narrow ecdf"] = (curve, added, MUCH, REPLACE)
    leaving = ogive.Simulation(ogive.SecAgg, parties=4, colluding=1, dropouts=1)
    found["secagg dropouts ecdf"] = (curve, leaving.over(data), PURE, REPLACE)
    found["secagg added ecdf"] = (curve, added, PURE, ADD)
    roc = Roc("risk", "ill", **SCORE, **ROC, public_labels=False, budget="joint", method="tree_ls")
    test = HosmerLemeshow("risk", "ill", **TEST, form="counts", method="tree_ls")
    for kind, trust in (("tables", tables), ("keys", keys)):
        found[f"servers {kind} roc"] = (roc, trust.over(few), PURE, REPLACE)
    found["servers tables calibration"] = (test, tables.over(few), PURE, REPLACE)
    three = ogive.Servers(few, servers=3, upload="tables", verified=False, tolerated=0.25)
    found["servers unverified ecdf"] = (curve, three, PURE, REPLACE)
    gini = Ustatistic("age", "gini", bounds=(0, 100), bins=8, method="paired", **PAIRS)
    found["pairs absent gini"] = (gini, ogive.Pairs(few, circuits="clear", absent=0.25), PureDP(4), REPLACE)
    for name, trust in (("garbled", ogive.Pairs(records(8), circuits="garbled")),):
        found[f"pairs {name} gini"] = (gini, trust, PureDP(4), REPLACE)
    persons = {"person": "who", "max_rows_per_person": 2}
    found["local persons reports"] = (
        Ecdf("age", **CURVE, method="reports"), ogive.Local(data, person="who", max_rows_per_person=1), PURE, REPLACE,
    )  # fmt: skip
    found["central persons auc"] = (
        Ustatistic(("risk", "ill"), "auc", bounds=(0, 1), bins=8, public_labels=False, method="cells", **PAIRS),
        ogive.Central(data, **persons), PURE, ADD,
    )  # fmt: skip
    counted = Tallied([[30, 5, 5], [20, 15, 5]])
    asked = Labels(GNMax(40), counted.ballots, max_answers=1, probabilities=None)
    found["tallied labels"] = (asked, counted, ApproxDP(8, "1e-6"), REPLACE)
    return found
