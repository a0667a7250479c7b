"""The whole page: one file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from ogive.errors import ParameterError
from ogive.files import write_atomically
from ogive.report import words
from ogive.report.chapter import chapter, drawing, not_private
from ogive.report.chapter import title as chapter_title
from ogive.report.chart import standalone
from ogive.report.figures import Figures, Reportable, figures_of
from ogive.report.markup import Html, tag
from ogive.statistics.curve import Curve

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""The browser is told to load nothing at all, so a page stays self-contained whatever is in it."""


def render_report(
    estimates: Sequence[Reportable],
    *,
    title: str,
    truths: Sequence[Curve | None] | None = None,
    notes: Sequence[str] | None = None,
) -> str:
    """Write one or many releases as a page of HTML.

    Args:
        estimates: Curves and quantiles as released, with their provenance.
        title: Heading of the page.
        truths: Exact curves on the same thresholds, released under the trust model clear, one for each
            estimate or None. The page then says that it must not be published.
        notes: Paragraphs to print below the heading.

    Raises:
        ParameterError: there is no estimate, one was never released, or a truth does not fit.

    Privacy:
        Post-processing, unless `truths` are given: those are exact.
    """
    if not estimates:
        raise ParameterError("a report needs at least one estimate, got none")
    exact = [None] * len(estimates) if truths is None else list(truths)
    if len(exact) != len(estimates):
        raise ParameterError(f"truths must have one entry for each of {len(estimates)} estimates, got {len(exact)}")
    figures = [figures_of(estimate, truth) for estimate, truth in zip(estimates, exact, strict=True)]
    body = tag(
        "body",
        tag("header", tag("h1", title), *(tag("p", note) for note in notes or ())),
        _warning(figures),
        _total(figures),
        _contents(figures),
        tag("main", *(chapter(found, number=i + 1) for i, found in enumerate(figures))),
        _limits(figures),
        tag("footer", tag("p", _made_with(figures))),
    )
    style = "".join(_asset(name) for name in ("chart.css", "page.css"))
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        Html(f"<style>{style}</style>"),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def write_report(
    estimates: Sequence[Reportable],
    path: str | Path,
    *,
    title: str,
    truths: Sequence[Curve | None] | None = None,
    notes: Sequence[str] | None = None,
) -> Path:
    """Write one or many releases as one self-contained HTML file, whole or not at all.

    Args:
        estimates: As for `render_report`.
        path: Where; an existing file is replaced.
        title: As for `render_report`.
        truths: As for `render_report`.
        notes: As for `render_report`.

    Returns:
        The path.

    Raises:
        ParameterError: as `render_report`, or the file cannot be written there.
    """
    place = Path(path)
    page = render_report(estimates, title=title, truths=truths, notes=notes)
    write_atomically(place, page.encode("utf-8"))
    return place


def chart_svg(estimate: Reportable) -> str:
    """Draw the curve of one release and its band as an SVG file that needs nothing else.

    Args:
        estimate: A curve, or quantiles that were read off one.

    Raises:
        ParameterError: the estimate was never released, or has no curve.

    Privacy:
        Post-processing.
    """
    figures = figures_of(estimate, None)
    if figures.share is None:
        raise ParameterError(f"only quantiles of {figures.column} were released; there is no curve to draw")
    return standalone(drawing(figures))


def _asset(name: str) -> str:
    return resources.files("ogive.report").joinpath(name).read_text(encoding="utf-8")


def _warning(figures: list[Figures]) -> Html | None:
    if any(found.truth is not None and found.provenance.private for found in figures):
        return not_private("True values are shown for demonstration; do not publish this page.")
    if any(not found.provenance.private for found in figures):
        return not_private("This page holds exact values; do not publish it.")
    return None


def _total(figures: list[Figures]) -> Html | None:
    private = [found for found in figures if found.provenance.private]
    if len(private) < 2:
        return None
    losses, adjacency = words.total_price([found.provenance for found in private])
    names: dict[str, list[str]] = {}
    for found in private:
        names.setdefault(found.provenance.release_id, []).append(found.column)
    rows = []
    for release_id, columns in names.items():
        entry = next(found.provenance for found in private if found.provenance.release_id == release_id)
        assert entry.privacy is not None
        price = words.amount(entry.privacy)
        rows.append(tag("tr", tag("th", ", ".join(dict.fromkeys(columns)), scope="row"), tag("td", price)))
    count = "one release" if len(names) == 1 else f"{len(names)} releases"
    head = tag("tr", tag("th", "Release", scope="col"), tag("th", "Price", scope="col"))
    return tag(
        "section",
        tag("h2", "Total price"),
        tag("p", " and ".join(words.amount(loss) for loss in losses), class_="figure"),
        tag(
            "p",
            f"for {count}, if all are of the same people. Whatever is read off a release, such as its quantiles, "
            f"is free. {words.promise(losses[0], adjacency)}",
        ),
        tag("table", tag("thead", head), tag("tbody", *rows)),
        class_="total",
    )


def _contents(figures: list[Figures]) -> Html | None:
    if len(figures) < 2:
        return None
    links = (tag("li", tag("a", chapter_title(found), href=f"#release-{i + 1}")) for i, found in enumerate(figures))
    return tag("nav", tag("ol", *links), aria_label="Releases")


def _limits(figures: list[Figures]) -> Html | None:
    private = [found.provenance.adjacency for found in figures if found.provenance.private]
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


def _made_with(figures: list[Figures]) -> str:
    versions = sorted({found.provenance.version for found in figures})
    return f"Made with ogive {', '.join(versions)}. This page is one file: it loads nothing and runs nothing."
