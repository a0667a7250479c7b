"""One release as one section of the page: the same questions are answered for every kind of estimate."""

from __future__ import annotations

from dataclasses import dataclass

from ogive.privacy import PureDP
from ogive.provenance import Provenance, trust_parts
from ogive.showing import words
from ogive.showing.chart import WIDE, Chart, draw, key
from ogive.showing.parts import Html, card, details, figure, fine, not_private, say, tag


@dataclass(frozen=True)
class Picture:
    """A chart with its place in the section."""

    chart: Chart
    name: str | None = None
    note: str | None = None


@dataclass(frozen=True)
class Chapter:
    """What one release says, whatever kind it is of.

    Fields:
        subject: What was measured, in a word or two; names the release in tables.
        provenance: Origin of the release: statistic, price and trust model.
        error: How far off it may be, in paragraphs.
        pictures: Charts, the most important first; a single one is as wide as the page.
        alike: Whether no chart is more important than another, so that all have one size.
        beside: What stands to the right of a single chart that is not as wide as the page.
        details: Technical facts as pairs of a name and a value, beside those that every release has.
        warning: Set where noise made the release useless: why, and what would help.
        exact: True where exact values are shown beside the released ones.
    """

    title: str
    subject: str
    provenance: Provenance
    headline: str
    error: tuple[Html, ...]
    released: tuple[Html, ...]
    pictures: tuple[Picture, ...] = ()
    alike: bool = False
    tables: tuple[Html | None, ...] = ()
    beside: tuple[Html, ...] = ()
    details: tuple[tuple[str, str], ...] = ()
    warning: str | None = None
    exact: bool = False
    schema: str = ""


def write(chapter: Chapter, *, number: int, alone: bool = False) -> Html:
    """The section of one release."""
    shown = [each for each in chapter.tables if each is not None]
    return tag(
        "article",
        tag("h2", chapter.title, id=f"release-{number}"),
        None if chapter.provenance.private else not_private("These values are exact. They must not be published."),
        _useless(chapter),
        tag("p", chapter.headline, class_="lead"),
        _pictures(chapter, f"chart-{number}"),
        tag("div", *shown, class_="tables") if shown else None,
        tag(
            "div",
            card("Privacy guarantee", *_price(chapter.provenance)),
            card("Accuracy", *chapter.error),
            card("Who must be trusted", *_trust(chapter.provenance.assumption)),
            card("What was released", *chapter.released),
            class_="cards",
        ),
        _details(chapter),
        None if alone else tag("p", tag("a", "Back to the contents", href="#contents"), class_="fine back"),
        aria_labelledby=f"release-{number}",
    )


def _useless(chapter: Chapter) -> Html | None:
    if chapter.warning is None:
        return None
    return tag("p", tag("strong", "Too noisy to use. "), chapter.warning, class_="banner", role="note")


def _pictures(chapter: Chapter, identity: str) -> Html | None:
    if not chapter.pictures:
        return None
    results = [_picture(picture, f"{identity}-{i + 1}") for i, picture in enumerate(chapter.pictures)]
    if len(results) > 1:
        return tag("div", *results, class_="pictures alike" if chapter.alike else "pictures")
    return tag("div", *results, tag("div", *chapter.beside), class_="pictures even") if chapter.beside else results[0]


def _picture(picture: Picture, identity: str) -> Html:
    drawings = [draw(picture.chart, size, identity=f"{identity}-{size.name}") for size in picture.chart.sizes]
    return tag(
        "figure",
        None if picture.name is None else tag("h3", picture.name),
        *drawings,
        tag("figcaption", key(*picture.chart.legend), None if picture.note is None else fine(picture.note)),
        class_=_figure_class(picture.chart),
    )


def _figure_class(chart: Chart) -> str | None:
    if len(chart.sizes) == 1:
        return "single"
    return "squared" if chart.sizes[0].width < WIDE.width else None


def _price(provenance: Provenance) -> list[Html]:
    if provenance.privacy is None:
        return [say("Exact values have no privacy guarantee.")]
    return [
        figure(words.amount(provenance.privacy)),
        say(words.promise(provenance.privacy, provenance.unit)),
        say(words.certainty(provenance.privacy, provenance.unit)),
        fine(f"Protects {provenance.hides}. Type: {words.kind_words(provenance.privacy)}."),
    ]


def _trust(statement: str) -> list[Html]:
    return [say(tag("strong", f"{label}: "), text) if label else say(text) for label, text in trust_parts(statement)]


def _details(chapter: Chapter) -> Html:
    provenance = chapter.provenance
    # an exact release has a method, as the same question with noise would, but does not use it
    how = words.method(provenance.method) if provenance.private else "exact counts, without noise"
    entries = [("Statistic", provenance.statistic), ("Method", how), *chapter.details]
    if provenance.price is not None and provenance.privacy is not None:
        exact = words.amount(provenance.price)
        if exact != words.amount(provenance.privacy) or not isinstance(provenance.privacy, PureDP):
            entries.append(("Privacy loss of the mechanism", exact))
    entries += [
        ("Records", _records(provenance)),
        ("Adjacency", provenance.adjacency.value if provenance.private else "none: exact values"),
    ]
    if provenance.person is not None:
        entries.append(("Person", f"column {provenance.person}, at most {words.rows(provenance.max_rows_per_person)}"))
    entries += [
        ("Trust model", provenance.trust),
        ("Release", provenance.release_id),
        ("Made with", f"ogive {provenance.version}"),
    ]
    return details(entries)


def _records(provenance: Provenance) -> str:
    if provenance.total is None:
        return "private" if provenance.private else "not stated"
    return f"{provenance.total:,} ({'public' if provenance.private else 'exact'})"
