"""What owners read before they report, with a form that makes the report in their browser; and how far it is."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from ogive.columns import Binning
from ogive.html.document import PICTURES, POLICY, document
from ogive.html.markup import Html, tag
from ogive.html.parts import fine, say, table
from ogive.local.chances import chances
from ogive.local.description import Description
from ogive.local.randomized_response import RandomizedResponse
from ogive.local.text import asked, purpose, refuses, revealed, sent
from ogive.local.tree import TreeOracle
from ogive.local.unary import UnaryOracle
from ogive.privacy import PureDP
from ogive.study.https.pages import REFRESH_SECONDS, Released, drawn, hour

CLIENT = "local_report.mjs"
_STYLE = "font: inherit; width: 100%; max-width: 34rem; padding: .45rem .6rem; display: block; margin: .2rem 0 .8rem"


@cache
def client() -> str:
    """The module with which browsers make a report."""
    return _text(CLIENT)


@cache
def _script() -> str:
    return client() + _text("local_page.mjs")


@cache
def policy() -> str:
    """What the page of owners may do beside showing itself: run its own script, and ask its own service."""
    digest = base64.b64encode(hashlib.sha256(_script().encode()).digest()).decode()
    return f"; script-src 'sha256-{digest}'; connect-src 'self'"


def owners_page(description: Description) -> str:
    """The page that an owner reads: the question, what is sent, with which chances it is true, and what that tells."""
    columns = description.domain.columns
    title = description.title or "A question to you"
    form = _form(description) if _in_browsers(description) else _elsewhere()
    more = ["If your value is not accepted, no report is sent, and the collector sees that yours is missing."]
    return document(
        title,
        tag(
            "header",
            tag("h1", title),
            tag(
                "p",
                f"{description.participants:,} people are asked. Your answer stays on your device: it sends one random "
                "report, which says little of your answer alone, and much of everybody's together.",
                class_="lead",
            ),
        ),
        tag(
            "main",
            _part("What you are asked", *(tag("p", asked(each, description.rounding)) for each in columns)),
            form,
            _part("What is sent", _joined(sent(description))),
            _part("When it is true", *(say(each) for each in chances(description.oracle))),
            _part("What an observer can learn", *(say(each) for each in _sentences(revealed(description)))),
            _part(
                "What an observer cannot learn",
                say(
                    "Whether your report is true. Whoever sees it, the collector included, can never be surer of your "
                    "answer than the limit above allows, whatever else they know and however long they compute. They "
                    "see no part of your answer that is not in the report."
                ),
            ),
            _part(
                "What is not protected",
                say(
                    "That you take part, your number, and when and from where you report. That the collector asks you "
                    "once only: another question costs as much again. Your answer, from somebody who watches your "
                    "device."
                ),
                *map(say, more if any(map(refuses, columns)) else ()),
            ),
            _part("What it is for", *map(say, purpose(description.statistic))),
        ),
        tag(
            "footer",
            say(tag("a", "The question as a file", href="/v1/study"), ", ", tag("a", "the client", href=f"/{CLIENT}"),
                ", ", tag("a", "how many have reported", href="/status")),
            fine(f"Collection {description.id}, SHA-256 {description.digest.hex()}"),
        ),
        Html(f'<script type="module">{_script()}</script>') if _in_browsers(description) else None,
        policy=POLICY + policy(),
    )  # fmt: skip


def status_page(told: dict[str, Any], released: Mapping[str, Released]) -> str:
    """How many have reported, and what was released; the browser reads it again every few seconds.

    Args:
        told: Of `LocalService.told`.
        released: Of `ReleasedFile.pictured`.
    """
    return document(
        told["title"] or told["study"],
        tag(
            "header",
            tag("h1", told["title"] or told["study"]),
            say(f"{told['uploads']:,} of {told['participants']:,} participants have reported."),
        ),
        tag(
            "main",
            table(
                "Reports",
                ("hour (UTC)", "reports"),
                [(hour(first), (f"{count:,}",)) for first, count in told["uploads_by_hour"]] or [("none", ("0",))],
            ),
            *(drawn(name, each.picture) for name, each in released.items() if each.picture is not None),
        ),
        tag(
            "footer",
            say(f"Each report costs its owner {told['privacy']}."),
            fine(f"Collection {told['study']}, SHA-256 {told['digest']}"),
        ),
        refresh=REFRESH_SECONDS,
        policy=PICTURES,
    )


def _form(description: Description) -> Html:
    (column,) = description.domain.columns
    assert isinstance(column, Binning)
    dates = column.grid.unit == "date"
    return tag(
        "section",
        tag("h2", "Your report"),
        tag(
            "form",
            tag(
                "label",
                f"{column.column} ({column.grid.span})",
                tag("input", name="answer", type="date" if dates else "text", autocomplete="off", style=_STYLE,
                    inputmode=None if dates else "decimal"),
            ),
            tag("label", "Your token", tag("input", name="token", type="text", autocomplete="off", style=_STYLE)),
            tag("button", "Make and send my report", type="submit", style="font: inherit; padding: .45rem .9rem"),
            data_digest=description.digest.hex(),
            data_limit=str(description.privacy.epsilon),
        ),
        tag("p", tag("output"), role="status"),
        fine(
            "Your browser draws the report, keeps it, and sends nothing else; a second click sends the same report. "
            "The page and its script come from the collector's service: if you do not trust them, make the report with "
            "ogive local randomize, or with a copy of the client that you have read."
        ),
    )  # fmt: skip


def _elsewhere() -> Html:
    return _part(
        "Your report",
        say("This page cannot make your report; ogive local randomize makes it, and ogive local send sends it."),
    )


def _in_browsers(description: Description) -> bool:
    """Whether the client knows the question."""
    column, *more = description.domain.columns
    known = isinstance(column, Binning) and column.grid.unit != "datetime" and not more
    return (
        known and isinstance(description.privacy, PureDP) and description.rounding == "simple" and _method(description)
    )


def _method(description: Description) -> bool:
    oracle = description.oracle
    if isinstance(oracle, TreeOracle):
        return oracle.composition == "basic" and oracle.seed < 1 << 53
    return isinstance(oracle, RandomizedResponse | UnaryOracle)


def _part(name: str, *children: Html) -> Html:
    return tag("section", tag("h2", name), *children)


def _joined(lines: list[str]) -> Html:
    return say(" ".join(each.strip() for each in lines))


def _sentences(lines: list[str]) -> list[str]:
    return [each.strip() for each in lines]


def _text(name: str) -> str:
    return resources.files("ogive.study.local").joinpath(name).read_text(encoding="utf-8")
