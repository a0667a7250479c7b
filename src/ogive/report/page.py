"""The whole page: one file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogive.errors import ParameterError
from ogive.files import permissions, write_atomically
from ogive.html import words
from ogive.html.chapter import Chapter, write
from ogive.html.chart import standalone
from ogive.html.document import document
from ogive.html.markup import Html, tag
from ogive.html.parts import figure, not_private, say, table
from ogive.provenance import publishable
from ogive.report.budget import budget
from ogive.report.chapters import chapter_of, chapters_of
from ogive.report.data_dependent import TITLE, cost_section, headline
from ogive.report.totals import Total, totals
from ogive.statistics.base import Estimate

if TYPE_CHECKING:
    from ogive.ledger import Account
    from ogive.pate import SanitizedCost


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
    return document(
        title,
        tag("header", tag("h1", title), *(tag("p", note) for note in notes or ())),
        _warning(chapters),
        _total(chapters) if account is None else budget(account, _private_ids(chapters)),
        None if alone else _contents([*(chapter.title for chapter in chapters), *(TITLE for _ in costs)]),
        tag(
            "main",
            *(write(chapter, number=i, alone=alone) for i, chapter in enumerate(chapters, start=1)),
            *(cost_section(cost, number=i, alone=alone) for i, cost in enumerate(costs, start=len(chapters) + 1)),
        ),
        _limits(chapters),
        tag("footer", tag("p", _made_with(chapters))),
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
    return standalone(chapter.pictures[0].chart)


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
        sentences, and a warning where noise made the release useless, else None. A published cost is no release and
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


def _warning(chapters: list[Chapter]) -> Html | None:
    if any(chapter.exact and chapter.provenance.private for chapter in chapters):
        return not_private("This page shows true values for demonstration; do not publish it.")
    if any(not chapter.provenance.private for chapter in chapters):
        return not_private("This page holds exact values; do not publish it.")
    return None


def _total(chapters: list[Chapter]) -> Html | None:
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
    found = totals([chapter.provenance for chapter in private])
    return tag(
        "section",
        tag("h2", "Total price"),
        *(piece for total in found for piece in _total_words(total, alone=len(found) == 1)),
        table("Price of each release", ["Release", "Price"], rows),
        class_="total",
    )


def _private_ids(chapters: list[Chapter]) -> set[str]:
    return {chapter.provenance.release_id for chapter in chapters if chapter.provenance.private}


def _total_words(total: Total, *, alone: bool) -> tuple[Html, Html]:
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
        figure(" and ".join(words.amount(loss) for loss in total.losses)),
        say(
            f"for {count}{whose}.{twice} Everything computed from a release, such as its quantiles, "
            f"is free. {words.promise(total.together, total.unit)} {words.certainty(total.together, total.unit)}"
        ),
    )


def _contents(titles: list[str]) -> Html:
    links = (tag("li", tag("a", title, href=f"#release-{i}")) for i, title in enumerate(titles, start=1))
    return tag("nav", tag("ol", *links), id="contents", aria_label="Releases")


def _limits(chapters: list[Chapter]) -> Html | None:
    private = [chapter.provenance.unit for chapter in chapters if chapter.provenance.private]
    if not private:
        return None
    items = (tag("li", tag("strong", name), " " + sentence) for name, sentence in words.limits(private))
    return tag(
        "section",
        tag("h2", "What is not protected", id="limits"),
        tag("ul", *items),
        class_="limits",
        aria_labelledby="limits",
    )


def _made_with(chapters: list[Chapter]) -> str:
    versions = sorted({chapter.provenance.version for chapter in chapters})
    made = f"Made with ogive {', '.join(versions)}. " if versions else ""
    return f"{made}This page is one file: it loads nothing and runs nothing."
