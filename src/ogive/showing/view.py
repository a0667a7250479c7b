"""What people see of an estimate, stated once: text, card, line among groups, frame, picture and chapter follow.

A statistic derives a class from `View` and says what is its own: a name, facts or a table, notes, a headline. Each part
is computed when it is wanted, so that text does not pay for pictures, and what is heavy is imported by what needs it.
"""

from __future__ import annotations

import html
import importlib.util
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack, get_args

from ogive.core.checks import among
from ogive.core.digits import number, percent
from ogive.errors import ParameterError, UnsupportedError

if TYPE_CHECKING:
    from ogive.showing.chapter import Chapter, Picture
    from ogive.showing.parts import Html
    from ogive.showing.pictures import Style

Rows = Sequence[tuple[str, ...]]

# --- Cards of notebooks, and data frames

Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)

# colors are those of whatever page this stands in, so that it is read on light and on dark ones
_LINE = "border:none;border-bottom:1px solid rgba(128,128,128,0.35)"
_CELL = f"padding:0.25em 0.9em 0.25em 0;background:none;color:inherit;vertical-align:top;{_LINE}"
_TABLE = "border-collapse:collapse;border:none;margin:0.3em 0;color:inherit;background:none;font-size:0.95em"


@dataclass(frozen=True)
class Card:
    """An estimate in a notebook, as plain text; what is shown is escaped.

    Fields:
        facts: What a reader should know, as pairs of a name and a value.
        headings: Of the columns of a small table; none where there is no table.
        rows: Of that table; the first cell of each names it.
    """

    title: str
    facts: Sequence[tuple[str, str]] = ()
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    notes: Sequence[str] = ()


def as_html(card: Card) -> str:
    """A small self-contained piece of HTML."""
    parts = [f'<div style="font-weight:600;margin-top:0.3em">{html.escape(card.title)}</div>']
    if card.facts:
        body = "".join(
            f"<tr>{_cell(name, heading=True, align='left')}{_cell(value, align='left')}</tr>"
            for name, value in card.facts
        )
        parts.append(f'<table style="{_TABLE};max-width:46em">{body}</table>')
    if card.headings:
        first, *others = card.headings
        top = _cell(first, heading=True, align="left") + "".join(_cell(name, heading=True) for name in others)
        body = "".join(
            f"<tr>{_cell(row[0], heading=True, align='left')}{''.join(map(_cell, row[1:]))}</tr>" for row in card.rows
        )
        parts.append(f'<table style="{_TABLE}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>')
    parts += [
        f'<div style="opacity:0.8;max-width:46em;font-size:0.95em">{html.escape(note)}</div>' for note in card.notes
    ]
    return f'<div style="overflow-x:auto">{"".join(parts)}</div>'


def _cell(text: str, *, heading: bool = False, align: str = "right") -> str:
    name, weight = ("th", "font-weight:600;") if heading else ("td", "")
    return f'<{name} style="text-align:{align};{weight}{_CELL}">{html.escape(text)}</{name}>'


def aligned(table: Rows) -> list[str]:
    """Lines of cells below each other, the first of them to the left."""
    widths = [max(len(row[place]) for row in table) for place in range(len(table[0]))]
    lines = []
    for name, *rest in table:
        shown = [name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))]
        lines.append("  ".join(shown).rstrip())
    return lines


def native_frame(columns: Mapping[str, Any], backend: str | None) -> Any:
    """Columns as a data frame."""
    if backend is None:
        installed = [name for name in BACKENDS if importlib.util.find_spec(name) is not None]
        if not installed:
            raise ParameterError("a data frame needs pandas, polars or pyarrow installed")
        backend = installed[0]
    known = among(backend, "backend", BACKENDS)
    if importlib.util.find_spec(known) is None:
        raise ParameterError(f"{known} is not installed; install it with: pip install {known}")
    import narwhals  # slow to import

    return narwhals.from_dict(dict(columns), backend=known).to_native()


def level(estimate: Any) -> str:
    """The confidence level of an estimate in percent."""
    return f"{100 * estimate.confidence_level:g} %"


def sentence(words: str) -> str:
    """A clause as a sentence: with a capital and a full stop."""
    return f"{words[0].upper()}{words[1:]}."


# --- The view of an estimate


@dataclass(frozen=True)
class Numbers:
    """Named numbers with their intervals, to draw one below the other.

    Fields:
        rows: Name, number and both ends of its interval; None as the number where there is none.
        shares: Whether the numbers are shares, which are written as percent.
        truth: What the exact numbers are called beside the released ones.
        interval: What the intervals are; those of the population at the estimate's level by default.
    """

    label: str
    rows: Sequence[tuple[str, float | None, float, float]]
    shares: bool = False
    truth: str = "True value of these records"
    summary: str = ""
    interval: str = ""


class View:
    """What people see of an estimate; a statistic overrides the parts that it has.

    What must be stated: `name`, `columns`, a `headline` and what is `released`. Everything else has a default.
    """

    estimate: Any

    truth: Any = None
    """The exact estimate beside which a chapter is written; None elsewhere."""

    facts_width: ClassVar[int] = 12
    """Letters of a name of `facts` in text, the colon included."""

    table_title: ClassVar[str] = ""
    true_title: ClassVar[str] = "True values"
    """Above the table of a chapter, and above that of the exact estimate."""

    guarantee_first: ClassVar[bool] = False
    """Whether text states the guarantee as the first fact, not beside the title."""

    def __init__(self, result: Any) -> None:
        self.estimate = result

    # what it is called

    @property
    def name(self) -> str:
        """What was measured, within a sentence."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        """Above cards, pictures and, if `chapter_title` says no other, chapters."""
        return self.name

    @property
    def short(self) -> str:
        """A few words for `repr`, which take no time."""
        return self.name

    @property
    def subject(self) -> str:
        """What was measured in a word or two, its column where it has one; names the release in a report's tables."""
        return str(getattr(self.estimate, "column", self.name))

    # text and cards

    @property
    def guarantee(self) -> str:
        """The guarantee in a clause, as text and cards state it."""
        return str(self.estimate.caption)

    @property
    def facts(self) -> Sequence[tuple[str, str]]:
        """What a reader should know, as pairs of a name and a value, without the guarantee."""
        return ()

    @property
    def headings(self) -> Sequence[str]:
        """Of the columns of the table; none where there is no table."""
        return ()

    @property
    def rows(self) -> Rows:
        """Of the table; the first cell of each names it."""
        return ()

    @property
    def notes(self) -> Sequence[str]:
        """Clauses below the table."""
        return ()

    def text(self) -> str:
        """Some lines of plain text."""
        facts = [("privacy", self.guarantee), *self.facts] if self.guarantee_first else self.facts
        lines = [f"{name + ':' if name else '':<{self.facts_width}}{value}" for name, value in facts]
        if self.headings:
            lines += aligned([tuple(self.headings), *self.rows])
        head = self.title if self.guarantee_first else f"{self.name} ({self.guarantee})"
        return "\n".join([head, *(f"  {line}" for line in (*lines, *self.notes))])

    def card(self) -> Card:
        """What notebooks show."""
        facts = [("privacy", self.guarantee), *self.facts]
        return Card(self.title, facts, tuple(self.headings), self.rows, list(self.notes))

    # a line among groups, and a data frame

    @property
    def about(self) -> str:
        """What was released of each group."""
        return self.name

    @property
    def line(self) -> Sequence[tuple[str, str]]:
        """Headings and cells of the estimate beside those of other groups; the facts by default."""
        return self.facts

    compares: ClassVar[bool] = False
    """Whether groups are compared by a number of the estimate."""

    def number(self, confidence_level: float, probability: float) -> Any:
        """That `Number`; of several quantiles the one of a probability."""
        raise NotImplementedError

    @property
    def columns(self) -> Mapping[str, Any]:
        """Columns of a data frame, all of one length."""
        raise NotImplementedError

    # pictures

    @property
    def numbers(self) -> Numbers | None:
        """Numbers with intervals to draw; None where there are none, or where the picture is another."""
        return None

    @property
    def key(self) -> str:
        """What a legend of several curves says of each, after the name of its group; empty for nothing."""
        return ""

    def between(self, groups: Sequence[Any], estimates: Sequence[Any]) -> list[str]:
        """What a table of groups says of their differences, in lines."""
        return []

    def at(self, place: float) -> list[str]:
        """What is read at a place of its axis, in lines."""
        raise UnsupportedError(f"nothing is read at a place of {self.title}")

    def between_at(self, groups: Sequence[Any], estimates: Sequence[Any], place: float) -> list[str]:
        """What is said there of the differences of groups, in lines."""
        return []

    def mark_groups(self, axes: Any, groups: Sequence[Any], estimates: Sequence[Any]) -> None:
        """Add to a picture of several groups, drawn over each other, what each of them has of its own."""

    draw_groups: ClassVar[Callable[..., Any] | None] = None
    """How the estimates of several groups are drawn into one picture, where none is drawn over the last."""

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        """Draw the numbers, each with its interval; returns matplotlib axes."""
        from ogive.showing.pictures import intervals, new_axes

        shown = self.numbers
        known = [row for row in shown.rows if row[1] is not None and math.isfinite(row[1])] if shown else []
        if shown is None or not known:
            raise ParameterError("noise leaves no number to draw")
        axes = new_axes(ax, size=(7.2, max(1.9, 1.6 + 0.32 * len(known))))
        names, values, low, high = zip(*known, strict=True)
        intervals(axes, names, values, list(zip(low, high, strict=True)), style)
        about = shown.interval or f"{level(self.estimate)} intervals"
        axes.set_xlabel(f"{shown.label}; {about[0].lower()}{about[1:]}")
        return self.finish(axes)

    def finish(self, axes: Any, *, grid: str = "x") -> Any:
        """Give axes the title, the guarantee and the legend of every picture."""
        from ogive.showing.pictures import caption, legend, lighten

        caption(axes, self.title, self.estimate.caption, private=self.estimate.private)
        lighten(axes, grid=grid)
        legend(axes)
        return axes

    # the chapter of a report

    @property
    def chapter_title(self) -> str:
        """Above its chapter, where that is not called as cards are."""
        return self.title

    @property
    def headline(self) -> str:
        """The release in a sentence or two."""
        raise NotImplementedError

    @property
    def error(self) -> Sequence[Html | str]:
        """How far off it may be, in paragraphs; the notes by default."""
        return [sentence(note) for note in self.notes]

    @property
    def released(self) -> Sequence[Html | str]:
        """What was released, in paragraphs."""
        raise NotImplementedError

    @property
    def details(self) -> Sequence[tuple[str, str]]:
        """Technical facts as pairs of a name and a value, beside those that every release has."""
        return ()

    @property
    def useless(self) -> str | None:
        """Why noise made the release useless, and what would help; None where it did not."""
        return None

    @property
    def truth_for(self) -> str:
        """What a truth would be for, in the error that refuses it."""
        return self.subject

    @property
    def truth_words(self) -> str:
        """What an exact estimate must be, to stand beside this one."""
        return f"the exact {self.name}"

    def alike(self, truth: Any) -> bool:
        """Whether an exact estimate is of the same question."""
        return True

    def check_truth(self, truth: Any) -> None:
        """Refuse to show what is not an exact estimate of the same question beside this one."""
        if type(truth) is not type(self.estimate) or truth.private or not self.alike(truth):
            raise ParameterError(f"the truth for {self.truth_for} must be {self.truth_words}")

    def tables(self, exact: Any) -> Sequence[Html | None]:
        """Tables of a chapter: the own one, and that of the view of the exact estimate where there is one."""
        from ogive.showing.parts import table

        views = [(self, self.table_title or self.title), *([] if exact is None else [(exact, self.true_title)])]
        return [
            table(words, tuple(view.headings), [(row[0], row[1:]) for row in view.rows])
            for view, words in views
            if view.headings
        ]

    def pictures(self, exact: Any) -> Sequence[Picture]:
        """Charts of a chapter: the numbers, beside those of the view of the exact estimate where there is one."""
        from ogive.showing.chapter import Picture
        from ogive.showing.chart import MOST_ROWS

        shown = self.numbers
        if shown is None or not 0 < len(shown.rows) <= MOST_ROWS:
            return ()
        true = None if exact is None else self.true_numbers(exact)
        return (Picture(self.chart(shown, true, self.title, f"{shown.summary} {self.headline}")),)

    def true_numbers(self, exact: Any) -> Sequence[float | None] | None:
        """The exact values of `numbers`, from the view of the exact estimate."""
        return None if exact.numbers is None else [row[1] for row in exact.numbers.rows]

    def chart(self, shown: Numbers, true: Sequence[float | None] | None, title: str, summary: str) -> Any:
        """A chart of numbers, beside the exact ones where these are known."""
        from ogive.showing import words
        from ogive.showing.chart import Dot, DotChart

        known = true or [None] * len(shown.rows)
        dots = tuple(Dot(*row, truth) for row, truth in zip(shown.rows, known, strict=True))
        interval = shown.interval or f"{words.percent(self.estimate.confidence_level)} interval for the population"
        truths = (("truth", shown.truth),) if any(truth is not None for truth in known) else ()
        return DotChart(
            title=title,
            label=shown.label,
            dots=dots,
            summary=summary,
            shares=shown.shares,
            legend=(("interval", interval), *truths),
        )

    def chapter(self, truth: Any = None) -> Chapter:
        """What a report says of it, beside the exact estimate where that is given."""
        from ogive.showing.chapter import Chapter
        from ogive.showing.parts import Html, say

        if truth is not None:
            self.check_truth(truth)
        result, self.truth = self.estimate, truth
        assert result.provenance is not None, "released"
        exact = truth.view() if truth is not None and result.private else None
        error, released = (
            tuple(part if isinstance(part, Html) else say(part) for part in parts)
            for parts in (self.error, self.released)
        )
        return Chapter(
            title=self.chapter_title,
            subject=self.subject,
            provenance=result.provenance,
            headline=self.headline,
            error=error,
            released=released,
            pictures=tuple(self.pictures(exact)),
            tables=tuple(self.tables(exact)),
            details=tuple(self.details),
            warning=self.useless,
            exact=truth is not None,
        )


# --- Measures, each with its interval

WIDEST = 0.25
"""A wider interval of an AUC or index says little: half of the way from chance to perfect."""


def shown(measure: Any, *, shares: bool = False) -> str:
    """The number of a measure as text, as exact as its interval is wide; shares in percent."""
    if math.isnan(measure.value):
        return "-"
    return percent(measure.value) if shares else number(measure.value, measure.high - measure.low)


def ends(measure: Any, *, shares: bool = False) -> str:
    """Its interval as text."""
    if not math.isfinite(measure.low + measure.high):
        return "any number"
    texts = (percent(end) if shares else number(end, measure.high - measure.low) for end in measure[1:3])
    return " to ".join(texts)


def with_ends(measure: Any) -> str:
    """The number, with its interval behind it."""
    return f"{shown(measure)} ({ends(measure)})"


_FEW = 3
"""Groups of which all pairs are compared."""


class MeasuresView(View):
    """A table of measures of one score, or of two with their differences."""

    compares = True
    table_title = "Measures"
    judged: ClassVar[str]
    """The measure whose interval says whether the release is of use."""

    apart: ClassVar[Sequence[str]]
    """Titles of the measures by which groups are compared."""

    @property
    def measures(self) -> Mapping[str, tuple[str, Mapping[str, Any]]]:
        """Those of the table by title: the name of each, and what else says which it is."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        """The name with a capital."""
        return sentence(self.name)[:-1]

    @property
    def subject(self) -> str:
        """The score, or both."""
        other = self.estimate.other
        return str(self.estimate.score) if other is None else f"{self.estimate.score} and {other.score}"

    @property
    def facts(self) -> list[tuple[str, str]]:
        """How many records there are."""
        noisy = self.estimate.private and self.estimate.total is None
        return [("records", f"{'about ' if noisy else ''}{self.estimate.records:,.0f}")]

    @property
    def headings(self) -> tuple[str, ...]:
        """Of a value or two, and the interval."""
        other = self.estimate.other
        values = ("value",) if other is None else (self.estimate.score, other.score, "difference")
        return ("measure", *values, f"{level(self.estimate)} interval")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """One of each measure."""
        second, rows = self.estimate.second, list[tuple[str, ...]]()
        for title, (name, where) in self.measures.items():
            value = self.estimate.measure(name, **where)
            if second is None:
                rows.append((title, shown(value), ends(value)))
            else:
                other, less = second.measure(name, **where), self.estimate.improvement(name, **where)
                rows.append((title, shown(value), shown(other), shown(less), ends(less)))
        return rows

    @property
    def notes(self) -> list[str]:
        """What intervals hold."""
        notes = ["intervals are for the population: sampling error" + (" and noise" if self.estimate.private else "")]
        if self.estimate.other is not None:
            notes.append("intervals of differences hold however the errors of both scores go together, and are wide")
        return notes

    def between(self, groups: Sequence[Any], estimates: Sequence[Any]) -> list[str]:
        """Differences of groups: of all pairs of three at most, of more than three from the first."""
        pairs = list(itertools.combinations(zip(groups, estimates, strict=True), 2))
        compared = [(title, *self.measures[title]) for title in self.apart]
        lines = []
        for (one, first), (other, second) in pairs if len(groups) <= _FEW else pairs[: len(groups) - 1]:
            gaps = {title: first.difference(second, name, **of) for title, name, of in compared}
            known = [f"{title} {with_ends(gap)}" for title, gap in gaps.items() if not math.isnan(gap.value)]
            lines += [f"{one} minus {other}: {', '.join(known)}"] if known else []
        return lines

    @property
    def useless(self) -> str | None:
        """Whether nearly nothing is known of what the score tells."""
        value = self.estimate.measure(self.judged)
        if not self.estimate.private or value.high - value.low < WIDEST:
            return None
        help_ = "Use a larger privacy budget, more records, or fewer bins."
        return f"How well the score ranks these records is hardly known. {help_}"

    @property
    def line(self) -> list[tuple[str, str]]:
        """The records and the first measures."""
        first = list(self.measures.items())[:2]
        return [*self.facts, *((title, with_ends(self.estimate.measure(name, **of))) for title, (name, of) in first)]
