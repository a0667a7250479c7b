"""A plan as a table to read."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial

from ogive.errors import marks_of, unmarked
from ogive.planning.base import LeftOut
from ogive.planning.metrics import Metrics, in_order, metrics_of, title
from ogive.planning.rows import Plan, PlanRow
from ogive.planning.table import Column, Table
from ogive.privacy import Privacy
from ogive.statistics.questions import what_of, which_records
from ogive.statistics.showing import Card

_COLUMNS = ("column", "score", "probability")
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


def table(plan: Plan, say: Callable[[str], str] = unmarked) -> str:
    """Aligned rows, then what was left out, then what the columns say; `say` shows the messages that mark Python."""
    errors = _errors(plan)
    several = any(row.trust is not None for row in plan.rows)
    shown = Table([Column[PlanRow](" ", lambda row: "*" if row.chosen else " ", left=True), *_columns(plan)], plan.rows)
    models = "trust models" if several else "trust model"
    lines = [f"plan for {heading(plan)}: {plan.records} records, {models} {plan.trust}", plan.unit.words]
    if plan.guessed:
        shares = "" if errors == ["value"] else "; errors are shares of that many records"
        lines.append(f"{plan.records} is your own guess{shares}")
    granted = tuple(dict.fromkeys([row.privacy for row in plan.rows] + [each.privacy for each in plan.left_out]))
    always, others = _once_for_all(plan.left_out, granted)
    for privacy in dict.fromkeys(row.privacy for row in plan.rows):
        lines += ["", f"{privacy}", shown.heading]
        lines += [shown.line(row) for row in plan.rows if row.privacy == privacy]
        lines += map(say, _reasons([each for each in others if each.privacy == privacy], plan))
    if always:
        lines += [*([""] if len(granted) > 1 else []), *map(say, _reasons(always, plan))]
    return "\n".join([*lines, "", *_legend(plan, say)])


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
    columns = [Column[PlanRow]("guarantee", lambda row: str(row.privacy)), *_columns(plan)]
    mark = {True: " *", False: ""}
    method = [column.title for column in columns].index("method")
    rows = [
        [column.cell(row) + (mark[row.chosen] if place == method else "") for place, column in enumerate(columns)]
        for row in plan.rows
    ]
    guess = " (your own guess)" if plan.guessed else ""
    facts = [("records", f"{plan.records}{guess}"), ("hides", plan.unit.words), ("trust", plan.trust)]
    notes = [line.strip() for line in _reasons(plan.left_out, plan)]
    return Card(
        f"Plan for {heading(plan)}",
        facts,
        [column.title for column in columns],
        rows,
        [*map(unmarked, notes), *_legend(plan, unmarked)],
    )


def _named(row: PlanRow) -> str:
    return row.method if row.trust is None else f"{row.method} under {row.trust}"


def _metrics(plan: Plan) -> Metrics:
    return metrics_of(str(what_of(plan.statistic).get("name")))


def _errors(plan: Plan) -> list[str]:
    return in_order(_metrics(plan), {name for row in plan.rows for name in row.errors})


def _columns(plan: Plan) -> list[Column[PlanRow]]:
    """What is said of each row, without the mark of those that are taken."""
    several = any(row.trust is not None for row in plan.rows)
    shared = any(row.traffic is not None for row in plan.rows)
    return [
        *([Column[PlanRow]("trust", lambda row: row.trust or "", left=True)] if several else []),
        Column("method", lambda row: row.method, left=True),
        Column("price", lambda row: str(row.price), left=True),
        Column("noise", lambda row: row.noise, left=True),
        *([Column("upload", _upload, left=True)] if shared else []),
        *(Column(title(_metrics(plan), name), partial(_error, name=name)) for name in _errors(plan)),
        *(Column(name, partial(_moved, name=name)) for name in (_TRAFFIC if shared else ())),
    ]


def _legend(plan: Plan, say: Callable[[str], str]) -> list[str]:
    """What the columns say."""
    metrics = _metrics(plan)
    lines = ['* what this statistic takes; with method="auto" the best that fits']
    lines += [f"{title(metrics, name)}: {metrics[name].words}" for name in _errors(plan) if name in metrics]
    if any(row.traffic is not None for row in plan.rows):
        lines += [f"{name}: {words}" for name, words in _TRAFFIC.items()]
    return [*lines, say(marks_of(plan.basis))] if plan.basis else lines


def _once_for_all(
    left_out: Sequence[LeftOut], granted: Sequence[Privacy]
) -> tuple[tuple[LeftOut, ...], tuple[LeftOut, ...]]:
    """What is left out under every guarantee for one reason, said once; then the rest."""
    under: dict[LeftOut, set[Privacy]] = {}
    for each in left_out:
        under.setdefault(dataclasses.replace(each, privacy=granted[0]), set()).add(each.privacy)
    always = tuple(each for each, guarantees in under.items() if len(guarantees) == len(granted))
    rest = tuple(each for each in left_out if dataclasses.replace(each, privacy=granted[0]) not in always)
    return always, rest


def _reasons(left_out: Sequence[LeftOut], plan: Plan) -> list[str]:
    """A line for every reason, marked, with all methods that it holds for."""
    places: dict[tuple[str, str], list[str | None]] = {}
    for each in left_out:
        # advice on what else to write follows a semicolon, and is for those who asked for that very method
        places.setdefault((marks_of(each.reason).split(";")[0], each.method), []).append(each.trust)
    methods: dict[tuple[str, str], list[str]] = {}
    for (reason, method), trusts in places.items():
        named = [trust for trust in trusts if trust is not None]
        place = "" if set(named) in (set(), set(plan.trust.split(", "))) else f" under {' and '.join(named)}"
        shared = reason.removeprefix(method)  # some begin with the method's name
        methods.setdefault((place, shared), []).append(method)
    lines = []
    for (place, reason), names in methods.items():
        subject = ("each" if len(names) > 1 else names[0]) if reason.startswith(" ") else ""
        lines.append(f"   left out{place}: {', '.join(names)}, since {subject}{reason}")
    return lines


def _upload(row: PlanRow) -> str:
    return "-" if row.traffic is None else row.traffic.upload


def _error(row: PlanRow, name: str) -> str:
    """An error, or the smallest and the largest of it over the public shapes."""
    if name in row.spans:
        return "..".join(f"{each:.3g}" for each in row.spans[name])
    return f"{row.errors[name]:.3g}" if name in row.errors else "-"


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
