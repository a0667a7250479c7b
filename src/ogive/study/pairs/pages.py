"""What people see of a study of pairs in a browser: who is there, how far the pairs are, and what was released."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ogive.html.document import PICTURES, document
from ogive.html.markup import tag
from ogive.html.parts import fine, say, table
from ogive.study.https.pages import REFRESH_SECONDS, Released, drawn, release_link


def status_page(told: dict[str, Any], released: Mapping[str, Released]) -> str:
    """The page of a study of people, which the browser reads again every few seconds.

    Args:
        told: Of `PairsService.told`.
        released: By the name of the release.
    """
    title = told["title"] or told["study"]
    pairs = [
        ("that were to compute", (f"{told['pairs']:,}",)),
        ("opened", (f"{told['opened']:,}",)),
        ("lost", (f"{told['lost']:,}",)),
    ]
    return document(
        title,
        tag("header", tag("h1", title), say(_lead(told))),
        tag(
            "main",
            table(
                "Releases",
                ("release", "state", "guarantee"),
                [(release_link(each), (each["state"], each["privacy"])) for each in told["releases"]],
                texts=(1, 2),
            ),
            None if told["reason"] is None else say(f"The study is over without a release: {told['reason']}."),
            *(drawn(name, each.picture) for name, each in released.items() if each.picture is not None),
            table("Pairs", ("pairs of people", "number"), pairs),
        ),
        tag(
            "footer",
            say(f"The release costs each person {told['releases'][0]['privacy']}, whatever comes of their pairs."),
            fine(f"Study {told['study']}, SHA-256 {told['digest']}"),
        ),
        refresh=REFRESH_SECONDS,
        policy=PICTURES,
    )


def _lead(told: dict[str, Any]) -> str:
    here = f"{told['here']:,} of {told['people']:,} people are connected."
    if told["releases"][0]["state"] in ("released", "over"):
        return f"{here} No more pairs compute."
    return f"{here} No pair begins after {told['deadline'].replace('T', ' ').replace('+00:00', ' UTC')}."
