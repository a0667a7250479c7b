"""The list of statistics: each is one folder and one line here. What is common to all of them is read off this list.

Modules are imported when something of theirs is used, so that one statistic does not load all others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from ogive.errors import DataError, LedgerError, ParameterError, plain

if TYPE_CHECKING:
    from ogive.columns import LabelValue
    from ogive.statistics.base import Estimate, EstimateT, Statistic, Where
    from ogive.statistics.prediction import Prediction


def nothing_wrong(given: Mapping[str, Any], trust: str) -> None:
    """Default check of commands: all options go together."""


@dataclass(frozen=True)
class Picture:
    """An option of the command that says how `--plot` draws.

    Fields:
        drawn: What the estimate's `plot` is given for it.
        check: Refuses it beside other options, by their fields' names, before anything is spent.
    """

    option: str
    help: str
    drawn: Mapping[str, Any]
    check: Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True)
class Command:
    """What the command line cannot read off the fields of a statistic.

    Fields:
        names: The options of fields that are called otherwise there.
        negative: Options that say no, by the names of fields that are None, True or False.
        help: Help where the field's documentation speaks of Python.
        owner_help: The same where owners are asked.
        groups: Headings under which fields stand.
        check: Refuses options that a plan takes and a release does not, by their fields' names, with the trust model's.
        table: The estimate as text.
        picture: An option that says how `--plot` draws.
        owners: The words of fields that are left where owners are asked by `ogive local describe`, none where a field
            means nothing there; the first is the default if the field's own is not among them. None where owners cannot
            be asked.
        compared: Whether two groups are compared by the number of their estimates, or by any quantile; None where
            estimates have no number.
        readings: Whether its estimate is a ROC curve, parts of which are read.
        places: What `--at` names, at which its view tells more; empty where nothing is told there.
        tests: Whether its groups are compared variable by variable.
        example: Fields of a well-formed question, besides its columns, where these have no defaults; for tests.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    negative: Mapping[str, str] = field(default_factory=dict)
    help: Mapping[str, str] = field(default_factory=dict)
    owner_help: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    check: Callable[[Mapping[str, Any], str], None] = nothing_wrong
    table: Callable[[Any], str] = str
    picture: Picture | None = None
    owners: Mapping[str, tuple[str, ...]] | None = None
    compared: Literal["number", "quantile"] | None = None
    readings: bool = False
    places: str = ""
    tests: bool = False
    example: Mapping[str, Any] = field(default_factory=dict)


def has_default(field: dataclasses.Field[Any]) -> bool:
    """Whether a field of a question is an option, and no column."""
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


@dataclass(frozen=True)
class Kind:
    """A kind of statistic.

    Fields:
        name: Of the statistic, as on the command line.
        folder: Where it lies in this package; `statistic.py` has its question.
        question: Name of the class of its question.
        estimate_path: Module in this package, and name, of the class of its estimate.
        schema: Of the estimate's JSON.
        summary: What is released, in words after "Release"; None where the command line has no command of the kind.
        command: Name of its command; that of the statistic where none is given.
        function: Name of its function and of its verb of sessions; that of the statistic where none is given.
        owners: Whether owners of single records can answer it; its `COMMAND` says with which options.
        people: Whether pairs of people can compute it.
        positional: Fields with a default that stand beside the columns of its function and verb.
        arrays: What its function calls the arrays; by default one is `values`, and several have the columns' names.
        words: Other names that people look for it under, in lower case, without hyphens and underscores.
    """

    name: str
    folder: str
    question: str
    estimate_path: str
    schema: str
    summary: str | None = None
    command: str = ""
    function: str = ""
    owners: bool = False
    people: bool = False
    positional: tuple[str, ...] = ()
    arrays: tuple[str, ...] = ()
    words: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "command", self.command or self.name)
        object.__setattr__(self, "function", self.function or self.name)

    @property
    def alias(self) -> tuple[str, ...]:
        """Other names of its command: those of the statistic and of its function."""
        return tuple(dict.fromkeys(each for each in (self.name, self.function) if each != self.command))

    def room(self, name: str) -> ModuleType:
        """A module of the kind's folder."""
        return import_module(f"ogive.statistics.{self.folder}.{name}")

    @property
    def options(self) -> tuple[str, ...]:
        """Those fields of its question that are options: all that have a default but its positional ones."""
        fields = dataclasses.fields(cast(Any, self.statistic))
        return tuple(each.name for each in fields if has_default(each) and each.name not in self.positional)

    @property
    def command_options(self) -> Command:
        """`COMMAND` beside its question, or `NAME_COMMAND`: what the command line cannot derive from the fields."""
        module = self.room("statistic")
        own = getattr(module, f"{self.name.upper()}_COMMAND", None) or getattr(module, "COMMAND", None)
        return cast("Command", own or Command())

    @property
    def statistic(self) -> type[Statistic[Any]]:
        """The class of its question."""
        return cast("type[Statistic[Any]]", getattr(self.room("statistic"), self.question))

    @property
    def estimate(self) -> type[Estimate]:
        """The class of its estimate."""
        module, _, name = self.estimate_path.partition(":")
        return cast("type[Estimate]", getattr(import_module(f"ogive.statistics.{module}"), name))

    @property
    def asks(self) -> frozenset[str]:
        """The kinds of query that it may ask, whatever its method; a trust model that serves none cannot release it."""
        more = {"reports": self.owners, "pairs": self.people}
        return frozenset({"linear", "curator", *(kind for kind, serves in more.items() if serves)})

    @property
    def prediction(self) -> type[Prediction]:
        """How it is planned: by a class in `plan.py`, or beside its question or its estimate; else it is simulated."""
        from ogive.statistics.prediction import simulated  # not needed by the command line

        for name in ("plan", "statistic", "estimate"):
            if find_spec(f"ogive.statistics.{self.folder}.{name}") is not None:
                module = self.room(name)
                for own in (getattr(module, f"{self.question}Prediction", None), getattr(module, "Prediction", None)):
                    if own is not None and own.__module__ == module.__name__:  # not one that the module has imported
                        return cast("type[Prediction]", own)
        return simulated(self.estimate)


KINDS = (
    Kind(
        "ecdf", "ecdf", "Ecdf", "curve.estimate:Curve", "ogive.curve/1",
        "a whole distribution function", owners=True, words="cdf distribution cumulative",
    ),
    Kind(
        "quantiles", "quantiles", "Quantiles", "quantiles.estimate:QuantileEstimates", "ogive.quantiles/1",
        "quantiles with simultaneous intervals", owners=True, positional=("probabilities",),
        words="median quartiles quartile quantile percentiles percentile deciles iqr",
    ),
    Kind(
        "boxplot", "boxplot", "Boxplot", "boxplot.estimate:Boxplots", "ogive.boxplot/1",
        "a boxplot of all records, or of each group", owners=True, arrays=("data",), words="box boxplots",
    ),
    Kind(
        "roc", "roc", "Roc", "roc.estimate:RocEstimate", "ogive.roc/1",
        "the ROC curve of a score, with its AUC", arrays=("scores", "labels"),
        words="auc auroc rocauc rocaucscore sensitivity specificity",
    ),
    Kind(
        "survival", "survival", "Survival", "survival.estimate:SurvivalEstimate", "ogive.survival/1",
        "survival over time, where observation may end before the event (Kaplan-Meier)", owners=True,
        words="km kaplanmeier kaplan meier logrank nelsonaalen rmst cuminc cumulativeincidence survfit",
    ),
    Kind(
        "concordance", "concordance", "Concordance", "concordance.estimate:ConcordanceEstimate", "ogive.concordance/1",
        "how well a risk score ranks and predicts times to an event that may be censored (concordance, AUC, Brier)",
        words="cindex concordanceindex harrell uno",
    ),
    Kind(
        "validation", "validation", "Validation", "validation.estimate:ValidationEstimate", "ogive.validation/1",
        "measures of predicted probabilities: Brier score, calibration, decisions, AUC", command="validate",
        words="brier brierscore ece netbenefit decisioncurve recalibration",
    ),
    Kind(
        "calibration", "calibration", "HosmerLemeshow", "calibration.estimate:Calibration", "ogive.calibration/1",
        "a test of whether predicted probabilities agree with labels (Hosmer and Lemeshow)", function="hosmer_lemeshow",
        arrays=("probabilities", "labels"), words="hosmerlemeshow hosmer hl",
    ),
    Kind(
        "ustatistic", "ustatistic", "Ustatistic", "ustatistic.estimate:UstatisticEstimate", "ogive.ustatistic/1",
        "a statistic of pairs: Gini, Kendall's tau, AUC, collision entropy", command="ustat", owners=True, people=True,
        positional=("kernel",), arrays=("data",), words="gini kendall kendalltau tau pairwise",
    ),
    Kind(
        "bounds", "bounds", "Bounds", "bounds.estimate:BoundsEstimate", "ogive.bounds/1",
        "bounds of a column of unknown range, to use as --bounds of other commands", function="find_bounds",
        words="range min max minmax",
    ),
    Kind(
        "count", "sums", "Count", "sums.estimate:CountEstimate", "ogive.count/1",
        "how many records have a value, or one of the values named", owners=True, words="n size number frequency",
    ),
    Kind(
        "proportion", "sums", "Proportion", "sums.estimate:ProportionEstimate", "ogive.proportion/1",
        "the share of the records that have one of the values named", owners=True,
        words="share rate percent percentage prevalence",
    ),
    Kind(
        "mean", "sums", "Mean", "sums.estimate:MeanEstimate", "ogive.mean/1",
        "the mean of a column, with its standard deviation", owners=True, words="average avg sd std variance",
    ),
    Kind(
        "sum", "sums", "Sum", "sums.estimate:SumEstimate", "ogive.sum/1",
        "the sum of a column", owners=True, words="total",
    ),
    Kind(
        "histogram", "histogram", "Histogram", "histogram.estimate:HistogramEstimate", "ogive.histogram/1",
        "how many records each category has", owners=True, words="hist bar frequencies valuecounts",
    ),
    Kind(
        "describe", "describe", "Describe", "describe.estimate:DescribeEstimate", "ogive.describe/1",
        "the first table of a report, which describes every variable, overall or by group", positional=("columns",),
        arrays=("table",), words="table1 tableone tbl1 summary summarize baseline",
    ),
    Kind(
        "crosstab", "crosstab", "Crosstab", "crosstab.estimate:CrosstabEstimate", "ogive.crosstab/1",
        "a table of two columns, with a test of whether they are independent", owners=True,
        words="contingency chi2 chisq chisquare chisquared crosstable crosstabs tabulate",
    ),
    Kind(
        "group_auc", "group_auc", "GroupAuc", "group_auc.estimate:GroupAucEstimate", "ogive.group_auc/1",
        "the AUC of a score within each group and between groups", command="group-auc", words="fairness fairauc",
    ),
    Kind("groups", "groups", "Grouped", "groups.estimate:GroupEstimates", "ogive.groups/1"),
    Kind("labels", "labels", "Labels", "labels.estimate:LabelsEstimate", "ogive.labels/1"),
)  # fmt: skip

COMMANDED = {kind.command: kind for kind in KINDS if kind.summary is not None}
"""The kinds that the command line has commands of, by the names of these."""

ALIASES = {name: kind.command for kind in COMMANDED.values() for name in kind.alias}
"""Names of statistics and functions whose command has another name; they call the same command."""

CALLED = {kind.function: kind for kind in COMMANDED.values()}
"""The same kinds by the names of their functions and verbs."""

SCHEMAS = {kind.schema: kind for kind in KINDS}
"""The kind of each schema of estimates."""

COSTS = ("ogive.sanitized_cost/1",)
"""Schemas of what a ledger records besides estimates: published costs of labels."""


MODELS = ("ogive.ranker/1",)
"""Schemas of models that were learnt privately, which a ledger records besides estimates."""


def kind_called(name: str) -> Kind | None:
    """The kind that people may mean by a name that no command or function has."""
    bare = name.lower().replace("-", "").replace("_", "")
    return next((kind for kind in COMMANDED.values() if bare in kind.words.split()), None)


def function_called(name: str, missing: str) -> str:
    """The name of the function and verb of a kind that is called by the name of its command or statistic.

    Raises:
        AttributeError: no kind has that name; the message, `missing`, says what releases it where people call it so.
    """
    command = ALIASES.get(name, name)
    if command in COMMANDED:
        return COMMANDED[command].function
    kind = kind_called(name)
    raise AttributeError(missing if kind is None else f"{missing}; {kind.function} releases {kind.summary}", name=name)


STATISTICS: tuple[type[Statistic[Any]], ...]
"""The classes of all questions: what can be asked of records. This imports every statistic."""


def __getattr__(name: str) -> object:
    if name != "STATISTICS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return tuple(kind.statistic for kind in KINDS)


def prediction_of(name: str) -> type[Prediction]:
    """How statistics with that name are planned; those that are not listed here are simulated."""
    from ogive.statistics.prediction import Prediction  # which loads what reads records

    return next((kind.prediction for kind in KINDS if kind.name == name), Prediction)


def read_estimate(data: Any) -> Estimate:
    """Rebuild any estimate from its `to_dict`; the data need not be trusted."""
    schema = data.get("schema") if isinstance(data, dict) else None
    if not isinstance(schema, str) or schema not in SCHEMAS:
        known = ", ".join(sorted(SCHEMAS))
        raise DataError(f"this is not a release that this version can read: its schema must be one of {known}")
    return SCHEMAS[schema].estimate.from_dict(data)


def is_cost(data: Any) -> bool:
    """Whether what a ledger recorded is a published cost, and no estimate."""
    return isinstance(data, dict) and data.get("schema") in COSTS


def is_estimate(data: Any) -> bool:
    """Whether what a ledger recorded is to be read as an estimate: no published cost and no model."""
    return not (isinstance(data, dict) and data.get("schema") in COSTS + MODELS)


def read_recorded(data: Any) -> Estimate:
    """Rebuild an estimate that a ledger recorded."""
    try:
        return read_estimate(data)
    except (DataError, ParameterError) as problem:
        raise LedgerError(
            f"the ledger is damaged: a recorded answer cannot be read: {plain(problem)}; "
            "restore the ledger from a backup"
        ) from None


@overload
def about(
    statistic: Statistic[EstimateT], *, where: Where | None = None, by: None = None, groups: None = None
) -> Statistic[EstimateT]: ...
@overload
def about(
    statistic: Statistic[Any], *, where: Where | None, by: str | None, groups: Sequence[LabelValue] | None
) -> Statistic[Any]: ...
def about(
    statistic: Statistic[Any],
    *,
    where: Where | None = None,
    by: str | None = None,
    groups: Sequence[LabelValue] | None = None,
) -> Statistic[Any]:
    """A statistic of all records, of groups of them, or of those that satisfy a condition."""
    if by is None and groups is not None:
        raise ParameterError("`groups` are the values of a column; name it with `by=`")
    if by is not None:
        grouped: Any = SCHEMAS["ogive.groups/1"].statistic
        statistic = grouped(statistic, by, None if groups is None else tuple(groups))
    if where is None:
        return statistic
    subset: Statistic[Any] = SCHEMAS["ogive.groups/1"].room("statistic").Subset(statistic, where)
    return subset
