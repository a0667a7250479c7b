"""A plan on a page of 100 columns: rows to choose from, what is taken, what does not apply, what columns say."""

from __future__ import annotations

import dataclasses
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from ogive.columns.grids import Grid
from ogive.errors import OgiveError, ParameterError, marks_of, plain, quoted, unmarked
from ogive.privacy import PureDP, ZeroConcentratedDP
from ogive.releasing.planning.rows import LeftOut, Metrics, Plan, PlanRow, in_order, listed, metrics_of, named, title
from ogive.showing.pictures import GRAY, caption, legend, new_axes
from ogive.showing.view import Card
from ogive.statistics.kinds import prediction_of
from ogive.statistics.prediction import UNITS, Metric
from ogive.statistics.questions import what_of, which_records

# --- Missing values

_OTHERS = "*"
_HIDDEN = "how many there are is not published"
_COUNTED = "how many there are is published with noise"
_WORDS = {
    "refuse": "refused before anything is charged, so a release reveals that no value is missing; "
    "`missing=` has them count otherwise",
    "low": f"count as the lower bound; {_HIDDEN}",
    "high": f"count as the upper bound; {_HIDDEN}",
    "drop": "left out; how many records are left is published with noise only",
    "count": "a category of their own, counted with noise like the others",
    "no": f"do not count; {_HIDDEN}",
}


def policy(plan: Plan) -> Iterator[str]:
    """A marked line on missing values; none where the statistic has no policy for them.

    Nothing is counted: a plan reads no private records.
    """
    statistic = what_of(plan.statistic)
    missing = statistic.get("missing")
    counted = bool(statistic.get("count_missing"))
    if isinstance(missing, Mapping):
        rest = str(missing.get(_OTHERS, "refuse"))
        named = {str(column): each for column, each in missing.items() if column != _OTHERS}
        for column, each in named.items():
            yield f"missing values of {plain(column)}: {_words(each, counted=counted)}"
        both = {statistic.get("row"), statistic.get("column")} - {None}  # of a cross table, whose columns are known
        if not both or both - named.keys():
            yield f"missing values{' of the others' if named else ''}: {_words(rest, counted=counted)}"
    elif missing is not None:
        yield f"missing values: {_words(missing, counted=counted)}"


def _words(each: Any, *, counted: bool) -> str:
    known = isinstance(each, str) and each in _WORDS
    words = _WORDS[each] if known else f"count as {plain(each)}; {_HIDDEN}"
    return words.replace(_HIDDEN, _COUNTED) if counted else words


# --- Errors of quantiles as distances of values

_DAY = 86_400_000_000  # microseconds
_EVEN = ("linear", "integers")


@dataclass(frozen=True)
class Scale:
    """The range between the bounds.

    Fields:
        span: Its length in the unit; 1 where no grid is known, so that shares of it stay shares.
        step: Distance of two thresholds; None where it is not the same everywhere.
        unit: Name of the unit, for people; None where nobody said it.
    """

    span: float = 1.0
    step: float | None = None
    unit: str | None = None
    known: bool = False

    @staticmethod
    def of(statistic: Mapping[str, Any], unit: str | None) -> Scale:
        """The scale of a statistic's plain data, which need not be trusted; dates and times are in days."""
        if not isinstance(statistic.get("grid"), dict):
            return Scale(unit=unit)
        try:
            grid = Grid.from_dict(statistic["grid"])
        except OgiveError:
            return Scale(unit=unit)
        divisor, named = {"date": (1.0, "days"), "datetime": (float(_DAY), "days")}.get(grid.unit, (1.0, unit))
        low, high = float(grid.thresholds[0]), float(grid.thresholds[-1])
        even = grid.kind in _EVEN and low < high
        step = (high - low) / (len(grid.thresholds) - 1) / divisor if even else None
        return Scale((float(grid.high) - float(grid.low)) / divisor, step, named, known=True)

    def within(self, share: float) -> str:
        """A share of the range and a step of the grid, with the unit."""
        assert self.step is not None
        return counted(share * self.span + self.step, self.unit or "")

    def words(self, metric: Metric) -> str:
        """What an error is measured in."""
        if metric.of_range and not self.known:
            return "as a share of the distance between the bounds"
        return UNITS if self.unit is None else f"in {self.unit}"


def counted(number: float, unit: str) -> str:
    """A number of units: one year, two years."""
    shown = f"{number:.2g}"
    one = shown == "1" and unit.endswith("s") and not unit.endswith(("ss", "us"))
    return f"{shown} {unit[:-1] if one else unit}".rstrip()


# --- Columns of every plan

RowT = TypeVar("RowT")


@dataclass(frozen=True)
class Column(Generic[RowT]):
    """One column."""

    title: str
    cell: Callable[[RowT], str]
    left: bool = False
    least: int = 0


class Table(Generic[RowT]):
    """Cells of all rows, aligned, so that rows can be shown in several parts."""

    def __init__(self, columns: Sequence[Column[RowT]], rows: Sequence[RowT]) -> None:
        self._columns = columns
        cells = [[column.cell(row) for row in rows] for column in columns]
        self._widths = [
            max([column.least, len(column.title), *map(len, shown)])
            for column, shown in zip(columns, cells, strict=True)
        ]

    @property
    def heading(self) -> str:
        """The titles."""
        return self._line([column.title for column in self._columns])

    def line(self, row: RowT) -> str:
        """The cells of one row."""
        return self._line([column.cell(row) for column in self._columns])

    def _line(self, cells: Sequence[str]) -> str:
        parts = [
            cell.ljust(width) if column.left else cell.rjust(width)
            for column, width, cell in zip(self._columns, self._widths, cells, strict=True)
        ]
        return "  ".join(parts).rstrip()


# --- The page

WIDTH = 100
_COLUMNS = ("column", "score", "probability")
READ_OFF = {"ecdf": ("ks", "ks_95", "band"), "quantiles": ("mean_rank", "width", "rank")}
"""Statistics whose curve one reads quantiles off, which err by distances of values: other errors that answers state."""

DISTANCES = {"median": ("rmse", 2), "quantiles": ("ks_95", 1)}
"""These distances: the error of the curve that each is, and its multiple."""

_DISTANCE = Metric("distance", UNITS, of_range=True)

_READ_OFF_CURVE = "resample"
"""The method of boxes that are read off a curve, which has a method of its own."""

_SIZE = re.compile(r"\+/- \S+ records$")
_OPTIONS = re.compile(r"(?<!`)\b(like=|grid='integers')")
"""Options that the basis of a plan names, which a stored plan keeps without marks."""

_TRAFFIC = {
    "per party": "bytes that each party or client sends, to all servers together",
    "to party": "bytes that each party receives, lists of all the others among them",
    "per server": "bytes that the busiest server receives, from all parties and from other servers",
    "seconds": "that one core computes at whoever has most to do, predicted for a machine such as in the benchmarks; "
    "a simulation plays everybody and takes many times as long",
}


def heading(plan: Plan) -> str:
    """What is planned, in a few words."""
    statistic = what_of(plan.statistic)
    name = str(statistic.get("name", "statistic"))
    columns = [str(statistic[key]) for key in _COLUMNS if key in statistic]
    if isinstance(statistic.get("columns"), list):
        listed = [*statistic["columns"], statistic.get("classes")]
        names = [str(each["column"]) for each in listed if isinstance(each, dict) and "column" in each]
        columns = [" and ".join(names)] if names else []
        kernel = statistic.get("kernel")
        if isinstance(kernel, dict):
            name = str(kernel.get("name", kernel.get("measure", name)))
    named = f"{name} of {columns[0]}" if columns else name
    return " ".join([named, *which_records(plan.statistic)])


def table(plan: Plan, say: Callable[[str], str] = unmarked, *, unit: str | None = None) -> str:
    """The page of a plan."""
    shown = _Shown(plan, unit)
    lines = [*_wrapped(f"plan for {heading(plan)}: {plan.records:,} records, trust {plan.trust}")]
    lines += _wrapped(plan.unit.words)
    lines += [line for policy_of in policy(plan) for line in _wrapped(say(policy_of))]
    if plan.guessed:
        lines += _wrapped(f"{plan.records:,} is your own guess")
    for privacy in dict.fromkeys(row.privacy for row in plan.rows):
        under = [row for row in plan.rows if row.privacy == privacy]
        lines += ["", str(privacy), *shown.rows(under)]
        for row in under:
            if row.chosen:
                lines += _wrapped(say(_taken(plan, row))) + _wrapped(shown.distances(row))
    reasons = [line for policy_of in (*_closer(plan), *_reasons(plan)) for line in _wrapped(say(policy_of))]
    lines += ["", *reasons] if reasons else []
    return "\n".join([*lines, "", *(line for policy_of in shown.legend(say) for line in _wrapped(policy_of))]).rstrip(
        "\n"
    )


def answer(plan: Plan, say: Callable[[str], str] = unmarked, *, unit: str | None = None) -> str:
    """What a plan comes to: the method that is taken under each guarantee, what it costs and how far off it is."""
    rows = [row for row in plan.rows if row.chosen]
    shown = _Shown(dataclasses.replace(plan, rows=tuple(rows)), unit)
    several = len({row.privacy for row in rows}) > 1
    guarantee = Column[PlanRow]("guarantee", lambda row: str(row.privacy), left=True)
    within = shown.within() if any("ks_95" in row.errors for row in rows) else []
    answers = [name for name in shown.names if name in READ_OFF.get(str(shown.statistic.get("name")), shown.names)]
    shown.names = answers or shown.names
    named = [*([guarantee] if several else []), *_names(rows)]
    for columns in ([*shown.facts(), *within, *shown.errors()], [*within, *shown.errors()], within or shown.facts()):
        table = Table([*named, *columns], rows)
        if len(table.heading) <= WIDTH:
            break
    heads = dict.fromkeys(plain(head) for head in (heading(plan), "" if several else str(rows[0].privacy)) if head)
    lines = _wrapped(f"plan for {', '.join(heads)}: {plan.records:,} records, trust {plan.trust}")
    lines += _wrapped(plan.unit.words + (f"; {plan.records:,} is your own guess" if plan.guessed else ""))
    lines.append(table.heading)
    for row in rows:
        lines += [table.line(row), *shown.errors_below(row, shown.below())]
    lines += _traffic(rows)
    if within:
        lines += _wrapped(
            f"median, quantiles: within this distance {shown.scale.words(_DISTANCE)}, in 95 of 100 releases, if values "
            "are spread evenly over the bounds; without sampling error"
        )
    lines += [line for told in shown.legend(say, basis=False) for line in _wrapped(told)]
    methods = len({_named(row) for row in plan.rows})
    compared = f"compares {methods} methods, and " if methods > 1 else ""
    return "\n".join([*lines, *_wrapped(say(f"`all=True` {compared}says what these predictions are based on"))])


def tables(plans: Mapping[str, Plan]) -> str:
    """The tables of several plans, each of the one row that is taken, with one legend for all of them."""
    lines: list[str] = []
    legends: dict[str, dict[str, list[str]]] = {}
    for head, plan in plans.items():
        shown = _Shown(plan, None)
        lines += [*_wrapped(head), *(line for told in policy(plan) for line in _wrapped(unmarked(told)))]
        lines += [*shown.rows(plan.rows), *(line for row in plan.rows for line in _wrapped(shown.distances(row))), ""]
        for told in shown.legend(unmarked):
            legends.setdefault(told.partition(": ")[0], {}).setdefault(told, []).append(heading(plan))
    lines.append("*: the method that will be used; ogive plan compares it with the others")
    for meanings in legends.values():
        for meaning, names in meanings.items():
            lines += _wrapped(meaning if len(meanings) == 1 else f"{', '.join(names)}: {meaning}")
    return "\n".join(lines).rstrip("\n")


def short(plan: Plan) -> str:
    """A few words: what is planned, how much there is to choose from, and what is taken."""
    methods, grants = (len({each(row) for row in plan.rows}) for each in (_named, lambda row: row.privacy))
    chosen = dict.fromkeys(_named(row) for row in plan.rows if row.chosen)
    return (
        f"for {heading(plan)}: {methods} {'method' if methods == 1 else 'methods'} under {grants} "
        f"{'guarantee' if grants == 1 else 'guarantees'}; takes {' or '.join(chosen) or 'none of them'}"
    )


def card(plan: Plan) -> Card:
    """What notebooks show."""
    shown = _Shown(plan, None)
    traffic = _moved_columns() if any(row.traffic is not None for row in plan.rows) else []
    guarantee = Column[PlanRow]("guarantee", lambda row: str(row.privacy))
    columns = [guarantee, *_names(plan.rows), *shown.facts(), *shown.errors(), *traffic]
    mark = {True: " *", False: ""}
    method = [column.title for column in columns].index("method")
    rows = [
        [column.cell(row) + (mark[row.chosen] if place == method else "") for place, column in enumerate(columns)]
        for row in plan.rows
    ]
    guess = " (your own guess)" if plan.guessed else ""
    facts = [("records", f"{plan.records:,}{guess}"), ("hides", plan.unit.words), ("trust", plan.trust)]
    methods = dict.fromkeys(_taken(plan, row) for row in plan.rows if row.chosen)
    notes = [*policy(plan), *methods, *_closer(plan), *_reasons(plan)]
    return Card(
        f"Plan for {heading(plan)}",
        facts,
        [column.title for column in columns],
        rows,
        [*map(unmarked, notes), *shown.legend(unmarked)],
    )


class _Shown:
    """The errors that are shown of a plan, and how."""

    def __init__(self, plan: Plan, unit: str | None) -> None:
        self.plan, self.statistic = plan, what_of(plan.statistic)
        name = str(self.statistic.get("name"))
        self.metrics: Metrics = metrics_of(name)
        there = dict.fromkeys(name for row in plan.rows for name in row.errors)
        shown = [name for name in prediction_of(name).shown if name in there]
        self.names = shown or [name for name in in_order(self.metrics, there) if name != "rmse" or "ks" not in there]
        self.scale = Scale.of(self.statistic, unit)

    def tables(self) -> list[Table[PlanRow]]:
        """The rows in one table where it fits the page, else in two; without errors where these do not fit either."""
        rows, named = self.plan.rows, [_MARK, *_names(self.plan.rows)]
        one = Table([*named, *self.facts(), *self.errors()], rows)
        if len(one.heading) <= WIDTH:
            return [one]
        facts, errors = Table([*named, *self.facts()], rows), Table([*named, *self.errors()], rows)
        return [facts] if self.below() else [facts, errors]

    def rows(self, rows: Sequence[PlanRow]) -> list[str]:
        """Lines of rows under one guarantee: what they cost, how far off they are, and what they take of parties."""
        lines, below = [], self.below()
        for number, each in enumerate(self.tables()):
            lines += [*([""] if number else []), each.heading]
            for row in rows:
                lines += [each.line(row), *self.errors_below(row, below)]
        return lines + _traffic(rows)

    def below(self) -> list[str]:
        """The errors that stand below each other, since there are too many for a line, as of many variables."""
        errors = Table([_MARK, *_names(self.plan.rows), *self.errors()], self.plan.rows)
        return self.names if len(errors.heading) > WIDTH else []

    def facts(self) -> list[Column[PlanRow]]:
        """Price and noise."""
        priced = any(str(row.price) != str(row.privacy) for row in self.plan.rows)
        return [
            *([Column[PlanRow]("price", lambda row: str(row.price), left=True)] if priced else []),
            Column("noise", lambda row: _size(row.noise), left=True),
        ]

    def errors(self) -> list[Column[PlanRow]]:
        """A column for each error."""
        return [Column(title(self.metrics, name), partial(self._error, name=name)) for name in self.names]

    def errors_below(self, row: PlanRow, names: Sequence[str]) -> list[str]:
        """Errors of a row, one in a line."""
        names = [name for name in names if name in row.errors]
        titles = [title(self.metrics, name) for name in names]
        errors = [self._error(row, name) for name in names]
        widths = [max(map(len, cells), default=0) for cells in (titles, errors)]
        return [
            f"    {heading.ljust(widths[0])}  {error.rjust(widths[1])}"
            for heading, error in zip(titles, errors, strict=True)
        ]

    def _error(self, row: PlanRow, name: str) -> str:
        """An error, or the smallest and the largest of it over the public shapes, where these are far apart."""
        factor = self.scale.span if self._scaled(name) else 1.0
        low, high = row.spans.get(name, (0.0, 0.0))
        typical = (
            name in self.metrics and self.metrics[name].of_curve and row.errors.get(name, high) < high <= _APART * low
        )
        if name in row.spans and not typical:
            return "..".join(f"{factor * each:.2g}" for each in row.spans[name])
        return f"{factor * row.errors[name]:.3g}" if name in row.errors else "-"

    def _scaled(self, name: str) -> bool:
        return name in self.metrics and self.metrics[name].of_range

    def within(self) -> list[Column[PlanRow]]:
        """Errors of quantiles as distances of values, as `distances`; no column where these are not read."""
        if self.statistic.get("name") not in READ_OFF or self.scale.step is None:
            return []
        plain_scale = dataclasses.replace(self.scale, unit=None)

        def cell(row: PlanRow, *, error: str, factor: int) -> str:
            return plain_scale.within(factor * row.errors[error]) if error in row.errors else "-"

        return [Column(name, partial(cell, error=error, factor=factor)) for name, (error, factor) in DISTANCES.items()]

    def legend(self, say: Callable[[str], str], *, basis: bool = True) -> list[str]:
        """What the columns say, and what predictions are based on."""
        lines = []
        for name in self.names:
            if name in self.metrics:
                words = self.metrics[name].words.replace(UNITS, self.scale.words(self.metrics[name]))
                raw = any(name in row.errors and name not in row.spans for row in self.plan.rows)
                words += ", before smoothing" if self.metrics[name].of_curve and raw else ""
                lines.append(f"{title(self.metrics, name)}: {words}")
        if any(row.traffic is not None for row in self.plan.rows):
            lines += [f"{name}: {words}" for name, words in _TRAFFIC.items()]
        text = _OPTIONS.sub(r"`\1`", marks_of(self.plan.basis)) if basis else ""
        return [*lines, *say(text).split("\n")] if text else lines

    def distances(self, row: PlanRow) -> str:
        """Errors of quantiles as distances of values; nothing where they are not read, or the grid is not even."""
        if self.statistic.get("name") not in READ_OFF or self.scale.step is None:
            return ""
        if "ks_95" in row.errors:
            text = f"every quantile within {self.scale.within(row.errors['ks_95'])}"
            if "rmse" in row.errors:
                text = f"median within {self.scale.within(2 * row.errors['rmse'])}, {text}"
            text += " in 95 of 100 releases"
        elif "rank" in row.errors:
            text = f"the largest quantile error within {self.scale.within(row.errors['rank'])} on average"
        else:
            return ""
        return (
            f"  {text}, a step of the grid included and sampling error not, if values are "
            "spread evenly over the bounds; where they are dense it is less, where they are sparse more"
        )


_APART = 4  # times the smallest error that the largest of a published curve is, up to which a plan shows one number
_MARK: Column[PlanRow] = Column(" ", lambda row: "*" if row.chosen else " ", left=True)


def _names(rows: Sequence[PlanRow]) -> list[Column[PlanRow]]:
    """What a row is called by."""
    several = any(row.trust is not None for row in rows)
    return [
        *([Column[PlanRow]("trust", lambda row: row.trust or "", left=True)] if several else []),
        Column("method", lambda row: row.method, left=True),
        *([Column[PlanRow]("upload", _upload, left=True)] if any(row.traffic is not None for row in rows) else []),
    ]


def _upload(row: PlanRow) -> str:
    return "-" if row.traffic is None else row.traffic.upload


def _named(row: PlanRow) -> str:
    return row.method if row.trust is None else f"{row.method} under {row.trust}"


def _taken(plan: Plan, row: PlanRow) -> str:
    """Which row the statistic takes, and why, as a marked message."""
    statistic = what_of(plan.statistic)
    named = next((key for key in ("method", "curve") if statistic.get(key) == row.method), None)
    if statistic.get("method") == "auto":
        reason = "`method='auto'` chooses it by its predicted error"
    elif statistic.get("curve") == "auto" and row.method == _READ_OFF_CURVE:
        reason = "its curve is the one that `curve='auto'` chooses by its predicted error"
    elif {each.method for each in plan.rows} | {each.method for each in plan.left_out} == {row.method}:
        reason = "there is no other method"
    elif named is not None and row.method.isidentifier():
        reason = f"`{named}='{row.method}'` names it"
    else:
        reason = "it is what was asked for"
    return f"* {plain(_named(row))} will be used: {reason}"


def _closer(plan: Plan) -> Iterator[str]:
    """A marked line on a statistic of which a part is released more closely by itself."""
    closer = prediction_of(str(what_of(plan.statistic).get("name"))).closer(plan.trust.split(", "), plan.unit.adjacency)
    if closer is not None:
        yield closer


def _reasons(plan: Plan) -> Iterator[str]:
    """Marked lines on the methods that do not fit, one for each guarantee and trust model that they do not fit.

    A method that fits no guarantee has the reason of the first.
    """
    granted = dict.fromkeys([row.privacy for row in plan.rows] + [each.privacy for each in plan.left_out])
    models = plan.trust.split(", ")
    places: dict[tuple[str, str | None], list[LeftOut]] = {}
    for each in plan.left_out:
        places.setdefault((each.method, each.trust), []).append(each)
    texts: dict[str, dict[str, list[str]]] = {}
    for (method, trust), result in places.items():
        guarantees = [each.privacy for each in result]
        under = [] if len(guarantees) == len(granted) else [" and ".join(map(str, guarantees))]
        everywhere = all((method, model) in places for model in models)
        under += [] if trust is None or everywhere else [plain(trust)]
        place = f" under {', '.join(under)}" if under else ""
        # advice on what else to write follows a semicolon, and is for those who asked for that very method
        reason = marks_of(result[0].reason).split(";")[0]
        for front in (f"method '{method}' ", f"method {method} ", f"{method} "):
            reason = reason.removeprefix(front)
        methods = texts.setdefault(place, {}).setdefault(reason, [])
        methods += [] if plain(method) in methods else [plain(method)]
    for place, reasons in texts.items():
        yield f"does not apply{place}: " + ", ".join(f"{_and(names)} ({why})" for why, names in reasons.items())


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _size(noise: str) -> str:
    """The size of the noise, where it is known as a number of records; else its words."""
    result = _SIZE.search(noise)
    return noise if result is None else result[0]


def _traffic(rows: Sequence[PlanRow]) -> list[str]:
    """What rows take of parties and servers, in a table of its own."""
    sent = [row for row in rows if row.traffic is not None]
    if not sent:
        return []
    shown = Table([_MARK, *_names(sent), *_moved_columns()], sent)
    return ["", shown.heading, *map(shown.line, sent)]


def _moved_columns() -> list[Column[PlanRow]]:
    return [Column(name, partial(_moved, name=name)) for name in _TRAFFIC]


def _moved(row: PlanRow, name: str) -> str:
    """What a row takes of parties and servers, by the heading of its column."""
    if row.traffic is None:
        return "-"
    if name == "seconds":
        return f"{row.traffic.seconds:.2g}"
    moved = {
        "per party": row.traffic.bytes_per_party,
        "to party": row.traffic.bytes_to_party,
        "per server": row.traffic.bytes_per_server,
    }
    return _bytes(moved[name])


def _bytes(count: int) -> str:
    """A number of bytes, with three digits."""
    for power, unit in ((12, "TB"), (9, "GB"), (6, "MB"), (3, "kB")):
        if count >= 10**power:
            return f"{count / 10**power:.3g} {unit}"
    return f"{count} B"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


# --- A plan as a picture: error against privacy loss, both on logarithmic axes

# Okabe and Ito's palette, and marks, so that lines are told apart without color too
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5A5A5A", "#882255")
_MOST_TICKS = 9
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")


def draw_lines(
    axes: Any,
    lines: Mapping[str, Iterable[tuple[float, float]]],
    styles: Mapping[str, Mapping[str, Any]],
    across: Sequence[float],
) -> None:
    """Draw a line for every choice, over a logarithmic axis of what is chosen."""
    for label, points in lines.items():
        axes.plot(*zip(*sorted(points), strict=True), label=label, markersize=5, linewidth=1.6, **styles[label])
    axes.set_xscale("log")
    if len(across) <= _MOST_TICKS:
        axes.set_xticks(across, labels=[f"{value:g}" for value in across])
        axes.set_xticks([], minor=True)


def loss_of(privacy: Any) -> float:
    """Epsilon, or rho of a concentrated guarantee."""
    return float(privacy.rho if isinstance(privacy, ZeroConcentratedDP) else privacy.epsilon)


def _label(metrics: Metrics, error: str) -> str:
    """Name of an error and the first words on it."""
    words = metrics[error].words.split(",")[0] if error in metrics else ""
    return f"{title(metrics, error)}: {words}" if words else title(metrics, error)


def _line(row: PlanRow) -> str:
    """Which line a row is a point of."""
    return row.method if row.trust is None else f"{row.trust}: {row.method}"


def draw(plan: Plan, ax: Any = None, *, error: str | None = None) -> Any:
    """Draw one line for each method."""
    names = {name for row in plan.rows for name in row.errors}
    statistic = str(what_of(plan.statistic).get("name"))
    metrics, deciding = metrics_of(statistic), prediction_of(statistic).deciding
    wanted = next((name for name in deciding if name in names), None) if error is None else named(metrics, error)
    if wanted not in names:
        raise ParameterError(f"`error` must be one of {listed(metrics, sorted(names))}, got {quoted(wanted)}")
    kinds = {type(row.privacy) for row in plan.rows}
    if len(kinds) > 1:
        raise ParameterError("a picture needs guarantees of one type; plan for each type on its own")
    axes = new_axes(ax)
    lines: dict[str, set[tuple[float, float]]] = {}
    for row in (row for row in plan.rows if wanted in row.errors):
        lines.setdefault(_line(row), set()).add((loss_of(row.privacy), row.errors[wanted]))
    styles = {
        line: {"color": _COLORS[number % len(_COLORS)], "marker": _MARKS[number % len(_MARKS)]}
        for number, line in enumerate(lines)
    }
    draw_lines(axes, lines, styles, sorted({loss_of(row.privacy) for row in plan.rows}))
    chosen = sorted(
        (loss_of(row.privacy), row.errors[wanted]) for row in plan.rows if row.chosen and wanted in row.errors
    )
    if chosen:
        axes.scatter(*zip(*chosen, strict=True), s=110, facecolors="none", edgecolors="black", label="taken", zorder=4)
    axes.set_yscale("log")
    axes.set_xlabel(
        "rho" if kinds == {ZeroConcentratedDP} else "epsilon" if kinds == {PureDP} else "epsilon (approximate)"
    )
    axes.set_ylabel(_label(metrics, wanted))
    caption(axes, f"Predicted error of {heading(plan)}", f"{plan.records:,} records", private=True)
    axes.grid(which="both", color=GRAY, alpha=0.18, linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    legend(axes)
    return axes
