"""The whole page: one file that needs nothing else."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogive.accounting.losses import shown_up
from ogive.core.files import permissions, write_atomically
from ogive.errors import ParameterError
from ogive.provenance import Provenance, publishable
from ogive.report.budget import Total, budget, moment, totals
from ogive.showing import chart, parts, words
from ogive.showing.chapter import Chapter, write
from ogive.statistics.base import Estimate
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.groups.estimate import GroupEstimates
from ogive.statistics.kinds import KINDS
from ogive.statistics.quantiles.estimate import QuantileEstimates

if TYPE_CHECKING:
    from ogive.ledger import Account
    from ogive.pate import SanitizedCost

# --- Chapters: one for each release, with a title of its own


@dataclasses.dataclass
class _Release:
    estimates: list[Estimate]
    truth: Estimate | None
    name: str | None


def chapters_of(
    estimates: Sequence[Estimate],
    truths: Sequence[Estimate | None],
    names: Sequence[str | None],
    account: Account | None,
) -> list[Chapter]:
    """The chapters of a page, in the order in which their releases first appear.

    A release that is given twice, or as its curve and as quantiles read off it, or with and without contrasts of its
    groups, is one chapter. Estimates that claim one release id and contradict each other stay apart. Titles that would
    be the same get what tells them apart: the guarantee, then the part, the name, the ledger's number and moment, and
    where all of that is the same, a count.
    """
    releases: list[_Release] = []
    for estimate, truth, name in zip(estimates, truths, names, strict=True):
        known = next((each for each in releases if all(_same(estimate, one) for one in each.estimates)), None)
        if known is None:
            releases.append(_Release([estimate], truth, name))
            continue
        chapter_of(estimate, truth)  # a truth that does not fit is refused, also where another is shown
        known.truth = known.truth or truth
        known.name = known.name or name
        if estimate not in known.estimates:
            known.estimates.append(estimate)
    results = [_chapter(release) for release in releases]
    titles = _titles(results, [release.name for release in releases], account)
    return [dataclasses.replace(chapter, title=title) for chapter, title in zip(results, titles, strict=True)]


def _same(first: Estimate, second: Estimate) -> bool:
    """Whether two estimates are readings of one release."""
    one, other = (getattr(estimate, "provenance", None) for estimate in (first, second))
    if one is None or other is None or one.release_id != other.release_id:
        return False
    if not isinstance(first, Curve | QuantileEstimates) or not isinstance(second, Curve | QuantileEstimates):
        return _released(first) == _released(second)
    if (first.column, first.grid) != (second.column, second.grid):
        return False
    curve, again = _curve(first), _curve(second)
    return curve is None or again is None or curve == again


def _released(estimate: Estimate) -> Estimate:
    """An estimate as it was released, without the contrasts that were added to it later."""
    return dataclasses.replace(estimate, contrasts=()) if isinstance(estimate, GroupEstimates) else estimate


def _curve(estimate: Curve | QuantileEstimates) -> Curve | None:
    return estimate if isinstance(estimate, Curve) else estimate.curve


def _chapter(release: _Release) -> Chapter:
    """One chapter of all readings: the first that has a chart, and the tables that the others add."""
    results = [chapter_of(estimate, release.truth) for estimate in release.estimates]
    main = next((chapter for chapter in results if chapter.pictures), results[0])
    others = (chapter for chapter in results if chapter is not main)
    tables: dict[parts.Html | None, None] = dict.fromkeys(chain(main.tables, *(chapter.tables for chapter in others)))
    return dataclasses.replace(main, tables=tuple(tables))


def _titles(chapters: Sequence[Chapter], names: Sequence[str | None], account: Account | None) -> list[str]:
    entries = {} if account is None else {entry.release_id: entry for entry in account.history}
    paid = [entries.get(chapter.provenance.release_id) for chapter in chapters]
    differences: tuple[Sequence[str | None], ...] = (
        [_guarantee(chapter) for chapter in chapters],
        [None if entry is None else "all records" if entry.part is None else f"part {entry.part}" for entry in paid],
        names,
        [None if entry is None else f"no. {entry.number} of {moment(entry.started)}" for entry in paid],
    )
    titles = [chapter.title for chapter in chapters]
    for words_of in differences:
        for places in _shared(titles):
            if len({words_of[i] for i in places}) > 1:
                for i in places:
                    titles[i] += "" if words_of[i] is None else f", {words_of[i]}"
    for places in _shared(titles):
        for number, i in enumerate(places, start=1):
            titles[i] += f", {number} of {len(places)}"
    return titles


def _guarantee(chapter: Chapter) -> str:
    privacy = chapter.provenance.privacy
    return "exact values" if privacy is None else words.amount(privacy)


def _shared(titles: Sequence[str]) -> list[list[int]]:
    """The places of titles that occur several times."""
    places: dict[str, list[int]] = {}
    for i, title in enumerate(titles):
        places.setdefault(title, []).append(i)
    return [each for each in places.values() if len(each) > 1]


def chapter_of(estimate: Any, truth: Any = None) -> Chapter:
    """What a report says of one estimate."""
    if not isinstance(estimate, Estimate):
        names = ", ".join(kind.estimate.__name__ for kind in KINDS)
        raise ParameterError(f"a report shows {names}; got {type(estimate).__name__}")
    if estimate.provenance is None:
        what = getattr(estimate, "column", type(estimate).__name__)
        raise ParameterError(f"{what} was never released, so its price is unknown; report what release returns")
    chapter = estimate.view().chapter(truth)
    some = "" if (where := estimate.provenance.where) is None else f" where {where}"
    return dataclasses.replace(chapter, schema=estimate.schema, title=chapter.title + some)


# --- The section of a published data-dependent cost

TITLE = "Data-dependent cost of labels"

MEANING = (
    "Where teachers agree, an answer reveals little about any one of them, so one run may reveal less than it is "
    "charged for. A data-dependent epsilon describes one run on the actual votes: with any one teacher replaced, "
)
JOINT = "the outputs would have been at most e to the epsilon times less likely, except for an added chance of delta."
ADDITIVE = (
    "the answers that were given would have been at most e to the epsilon times less likely; this fails with a chance "
    "of at most delta."
)
LIMITS = (
    "With other votes the same run may reveal more. So this cost is not differential privacy, cannot be charged to a "
    "budget, and is not part of any total on this page."
)
SECRET = (
    "The exact number is computed from the votes without noise. Two sets of votes that differ in one teacher have "
    "different costs, so the exact number reveals something about the votes that nothing hides: if it changes when "
    "a hospital joins, the change shows how that hospital votes."
)
NOISY = (
    "The number shown here has noise scaled to the largest change that one teacher can cause, and includes the cost of "
    "publishing it."
)


def cost_section(cost: SanitizedCost, *, number: int, alone: bool = False) -> parts.Html:
    """What a published cost says, as a section of the page."""
    return parts.tag(
        "article",
        parts.tag("h2", TITLE, id=f"release-{number}"),
        parts.tag("p", headline(cost), class_="lead"),
        parts.tag("div", _numbers(cost), class_="tables"),
        parts.tag(
            "div",
            parts.card(
                "What a data-dependent epsilon means",
                parts.say(MEANING, JOINT if cost.form == "joint" else ADDITIVE),
                parts.say(LIMITS),
            ),
            parts.card("Why the exact number must not be published", parts.say(SECRET), parts.say(NOISY)),
            parts.card("Accuracy", *_error(cost)),
            parts.card(
                "Cost that holds for any votes",
                parts.figure(f"epsilon = {shown_up(cost.independent_epsilon, '.3f')}, delta = {shown_up(cost.delta)}"),
                parts.say(
                    f"This is differential privacy, for at most {cost.max_answers:,} answers. A ledger charges this "
                    "cost."
                ),
            ),
            class_="cards",
        ),
        _details(cost),
        None if alone else parts.tag("p", parts.tag("a", "Back to the contents", href="#contents"), class_="fine back"),
        aria_labelledby=f"release-{number}",
    )


def headline(cost: SanitizedCost) -> str:
    """The cost in a sentence."""
    answered = "" if cost.answered is None else f", of which {cost.answered:,} were answered,"
    return (
        f"{cost.queries:,} queries to {cost.teachers:,} teachers{answered} cost about epsilon = {cost.epsilon:.3f} "
        f"at delta = {shown_up(cost.delta)}, for the actual votes."
    )


def _numbers(cost: SanitizedCost) -> parts.Html:
    rows: list[parts.Row] = [("Estimate for these votes", [f"{cost.epsilon:.3f}"])]
    if cost.upper_limit is not None:
        rows.append(("Upper limit, 95 % confidence", [f"{shown_up(cost.upper_limit, '.3f')}"]))
    rows.append(("Bound for any votes", [f"{shown_up(cost.independent_epsilon, '.3f')}"]))
    return parts.table(f"Epsilon at delta = {shown_up(cost.delta)}", ["Cost", "Epsilon"], rows)


def _error(cost: SanitizedCost) -> tuple[parts.Html, ...]:
    notes = [parts.say(parts.strong("An estimate, not a bound:"), " half of the time it is below the true cost.")]
    if cost.upper_limit is not None:
        notes.append(parts.say(f"With 95 % confidence the true cost is at most {shown_up(cost.upper_limit, '.3f')}."))
        if cost.upper_limit >= cost.independent_epsilon:
            notes.append(parts.say("This limit is not below the cost that holds for any votes; use that one."))
    return (*notes, parts.fine("The scale of the noise depends on the votes and is secret too."))


def _details(cost: SanitizedCost) -> parts.Html:
    return parts.details(
        [
            ("Aggregator", cost.aggregator),
            ("Classes", f"{cost.classes:,}"),
            ("Form", "all outputs" if cost.form == "joint" else "the answers that were given"),
            ("Renyi order", f"{cost.order:g}"),
            ("Smoothness", f"{cost.smoothness:.4g}"),
            ("Scale of the noise", f"{cost.scale:.4g} smooth sensitivities"),
            ("Cost of publishing", f"{cost.release_rdp:.3f} of Renyi cost, included above"),
            ("Sensitivity computed by", cost.method),
        ]
    )


def render_report(
    estimates: Sequence[Estimate],
    *,
    title: str,
    truths: Sequence[Estimate | None] | None = None,
    notes: Sequence[str] | None = None,
    names: Sequence[str | None] | None = None,
    account: Account | None = None,
    costs: Sequence[SanitizedCost] = (),
) -> str:
    """Write one or many releases as a page of HTML.

    A release that is given several times, or as a curve and as quantiles read off it, is shown once.

    Args:
        estimates: Curves, quantiles, ROC curves, labels and so on as released, with their provenance.
        title: Heading of the page.
        truths: The same without noise, on the same thresholds, released under the trust model clear, one for
            each estimate or None. The page then says that it must not be published.
        notes: Paragraphs to print below the heading.
        names: Where each estimate came from, for example its file's name, or None; tells releases of one title apart.
        account: The ledger's account that paid: adds a section with its limit, what is spent and left, and
            its history.
        costs: Data-dependent costs of labels as `ogive.pate.sanitize` published them: adds a section for each.

    Raises:
        ParameterError: there is nothing to show, one was never released, or truths or names do not fit.

    Privacy:
        Post-processing, unless `truths` are given: those are exact.
    """
    chapters = _chapters(estimates, truths, names, account, costs)
    alone = len(chapters) + len(costs) == 1
    private = [chapter.provenance for chapter in chapters if chapter.provenance.private]
    return parts.document(
        title,
        parts.tag("header", parts.tag("h1", title), *(parts.tag("p", note) for note in notes or ())),
        _warning(chapters),
        _total(chapters) if account is None else budget(account, {each.release_id for each in private}),
        None if alone else _contents([*(chapter.title for chapter in chapters), *(TITLE for _ in costs)]),
        parts.tag(
            "main",
            *(write(chapter, number=i, alone=alone) for i, chapter in enumerate(chapters, start=1)),
            *(cost_section(cost, number=i, alone=alone) for i, cost in enumerate(costs, start=len(chapters) + 1)),
        ),
        _limits(private),
        parts.tag("footer", parts.tag("p", _versions(chapters))),
    )


def write_report(
    estimates: Sequence[Estimate],
    path: str | Path,
    *,
    title: str,
    truths: Sequence[Estimate | None] | None = None,
    notes: Sequence[str] | None = None,
    names: Sequence[str | None] | None = None,
    account: Account | None = None,
    costs: Sequence[SanitizedCost] = (),
) -> Path:
    """Write one or many releases as one self-contained HTML file, whole or not at all.

    With truths, or an estimate that is not private, the file is for its owner alone.

    Args:
        estimates: As for `render_report`.
        path: Where; an existing file is replaced.
        title: As for `render_report`.
        truths: As for `render_report`.
        notes: As for `render_report`.
        names: As for `render_report`.
        account: As for `render_report`.
        costs: As for `render_report`.

    Returns:
        The path.

    Raises:
        ParameterError: as `render_report`, or the file cannot be written there.
    """
    place = Path(path)
    page = render_report(estimates, title=title, truths=truths, notes=notes, names=names, account=account, costs=costs)
    exact = any(truth is not None for truth in truths or ())
    public = not exact and publishable(*(estimate.provenance for estimate in estimates))
    write_atomically(place, page.encode("utf-8"), mode=permissions(public=public))
    return place


def chart_svg(estimate: Estimate) -> str:
    """Draw the main chart of one release as an SVG file that needs nothing else.

    Args:
        estimate: As released: a curve, quantiles that were read off one, a ROC curve, a calibration.

    Raises:
        ParameterError: the estimate was never released, or has nothing to draw.

    Privacy:
        Post-processing.
    """
    chapter = chapter_of(estimate)
    if not chapter.pictures:
        raise ParameterError(f"only single values of {chapter.subject} were released; there is no curve to draw")
    return chart.standalone(chapter.pictures[0].chart)


def summarize(
    estimates: Sequence[Estimate],
    *,
    names: Sequence[str | None] | None = None,
    account: Account | None = None,
    costs: Sequence[SanitizedCost] = (),
) -> list[dict[str, Any]]:
    """What a report says first of each release, as plain data.

    Args:
        estimates: As for `render_report`.
        names: As for `render_report`.
        account: As for `render_report`.
        costs: As for `render_report`.

    Returns:
        For each section of the page its release_id, schema and privacy as in the estimate's JSON; its title, its first
        sentences, and a warning where noise made the release useless, else None. A published cost is not a release and
        has no guarantee of its own, so that its release_id and privacy are None.

    Raises:
        ParameterError: as `render_report`.
    """
    releases = [
        {
            "release_id": chapter.provenance.release_id,
            "schema": chapter.schema,
            "privacy": None if chapter.provenance.privacy is None else chapter.provenance.privacy.to_dict(),
            "title": chapter.title,
            "headline": chapter.headline,
            "warning": chapter.warning,
        }
        for chapter in _chapters(estimates, None, names, account, costs)
    ]
    empty = {"release_id": None, "privacy": None, "title": TITLE, "warning": None}
    return [*releases, *({**empty, "schema": cost.schema, "headline": headline(cost)} for cost in costs)]


def _chapters(
    estimates: Sequence[Estimate],
    truths: Sequence[Estimate | None] | None,
    names: Sequence[str | None] | None,
    account: Account | None,
    costs: Sequence[SanitizedCost],
) -> list[Chapter]:
    if not estimates and not costs:
        raise ParameterError("a report needs at least one estimate, got none")
    for word, given in (("truths", truths), ("names", names)):
        if given is not None and len(given) != len(estimates):
            raise ParameterError(
                f"`{word}` must have one entry for each of {len(estimates)} estimates, got {len(given)}"
            )
    none = [None] * len(estimates)
    return chapters_of(estimates, none if truths is None else truths, none if names is None else names, account)


def _warning(chapters: list[Chapter]) -> parts.Html | None:
    if any(chapter.exact and chapter.provenance.private for chapter in chapters):
        return parts.not_private("This page shows true values for demonstration; do not publish it.")
    if any(not chapter.provenance.private for chapter in chapters):
        return parts.not_private("This page holds exact values; do not publish it.")
    return None


def _total(chapters: list[Chapter]) -> parts.Html | None:
    private = [chapter for chapter in chapters if chapter.provenance.private]
    if len(private) < 2:
        return None
    names: dict[str, list[str]] = {}
    for chapter in private:
        names.setdefault(chapter.provenance.release_id, []).append(chapter.title)
    rows = []
    for release_id, subjects in names.items():
        entry = next(chapter.provenance for chapter in private if chapter.provenance.release_id == release_id)
        assert entry.privacy is not None
        rows.append((", ".join(dict.fromkeys(subjects)), [words.amount(entry.privacy)]))
    result = totals([chapter.provenance for chapter in private])
    return parts.tag(
        "section",
        parts.tag("h2", "Total price"),
        *(piece for total in result for piece in _total_words(total, alone=len(result) == 1)),
        parts.table("Price of each release", ["Release", "Price"], rows),
        class_="total",
    )


def _total_words(total: Total, *, alone: bool) -> tuple[parts.Html, parts.Html]:
    count = "one release" if total.releases == 1 else f"{total.releases} releases"
    whose = ", if all are about the same people" if alone else f" that protect {total.unit.words}"
    who = "record" if total.unit.person is None else "person"
    twice = (
        f" Releases that hide whether a {who} is in the data count twice here: replacing a {who} is removing one and "
        "adding one."
        if total.mixed
        else ""
    )
    return (
        parts.figure(" and ".join(words.amount(loss) for loss in total.losses)),
        parts.say(
            f"for {count}{whose}.{twice} Everything computed from a release, such as its quantiles, "
            f"is free. {words.promise(total.together, total.unit)} {words.certainty(total.together, total.unit)}"
        ),
    )


def _contents(titles: list[str]) -> parts.Html:
    links = (parts.tag("li", parts.tag("a", title, href=f"#release-{i}")) for i, title in enumerate(titles, start=1))
    return parts.tag("nav", parts.tag("ol", *links), id="contents", aria_label="Releases")


def _limits(private: list[Provenance]) -> parts.Html | None:
    if not private:
        return None
    limits = words.limits([each.unit for each in private])
    items = (parts.tag("li", parts.tag("strong", name), " " + sentence) for name, sentence in limits)
    return parts.tag(
        "section",
        parts.tag("h2", "What is not protected", id="limits"),
        parts.tag("ul", *items),
        class_="limits",
        aria_labelledby="limits",
    )


def _versions(chapters: list[Chapter]) -> str:
    versions = sorted({chapter.provenance.version for chapter in chapters})
    note = f"Made with ogive {', '.join(versions)}. " if versions else ""
    return f"{note}This page is one file: it loads nothing and runs nothing."
