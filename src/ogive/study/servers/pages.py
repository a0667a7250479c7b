"""What people see of a server in a browser: uploads, questions, what was spent, and what was released."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ogive.html.document import PICTURES, document
from ogive.html.markup import Html, tag
from ogive.html.parts import fine, say, table
from ogive.study.https.pages import REFRESH_SECONDS, Released, drawn, hour, release_link


def status_page(told: dict[str, Any], released: Mapping[str, Released]) -> str:
    """The page of a server, which the browser reads again every few seconds.

    Args:
        told: Of `ServerService.told`.
        released: By the name of the release.
    """
    title = told["title"] or told["study"]
    return document(
        title,
        tag("header", tag("h1", title), say(_lead(told))),
        tag(
            "main",
            table(
                "Releases",
                ("release", "state", "guarantee", "sums opened"),
                [
                    (release_link(each), (each["state"], each["privacy"], str(each["opened"])))
                    for each in told["releases"]
                ],
                texts=(1, 2),
            ),
            *(_reason(each) for each in told["releases"]),
            *(drawn(name, each.picture) for name, each in released.items() if each.picture is not None),
            None if told["uploads"] is None else _uploads(told),
        ),
        tag("footer", say(_spent(told)), fine(f"Study {told['study']}, SHA-256 {told['digest']}")),
        refresh=REFRESH_SECONDS,
        policy=PICTURES,
    )


def _uploads(told: dict[str, Any]) -> Html:
    return table(
        "Uploads",
        ("hour (UTC)", "uploads"),
        [(hour(first), (f"{count:,}",)) for first, count in told["uploads_by_hour"]] or [("none", ("0",))],
    )


def _lead(told: dict[str, Any]) -> str:
    uploads = f"Server {told['server']} of {', '.join(told['servers'])}. "
    if told["uploads"] is None:
        uploads += "How many people upload is private. " + (
            "Uploads are taken." if told["open"] else "No more uploads are taken."
        )
    else:
        uploads += f"{told['uploads']:,} uploads are stored"
        uploads += " and more are taken." if told["open"] else "; no more are taken."
    if told["clients"] is not None:
        uploads += (
            f" {told['clients']:,} {told['who']} are counted. {told['left_out']:,} uploads are left out, "
            "because they did not come to all servers alike or were found false."
        )
    return f"{uploads} The servers are {told['waiting']}." if told["waiting"] else uploads


def _spent(told: dict[str, Any]) -> str:
    spent = "Nothing was released so far." if told["spent"] is None else f"Spent so far: {told['spent']}."
    return f"The budget of this study is {told['budget']}. {spent}"


def _reason(release: dict[str, Any]) -> Html | None:
    if not release["reason"]:
        return None
    return tag("section", tag("h3", f"Release {release['name']} is over"), tag("p", release["reason"]))
