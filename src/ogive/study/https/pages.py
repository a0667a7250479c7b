"""What people see of a study in a browser: who is connected, what each step waits for, and what was released."""

from __future__ import annotations

import time
from typing import Any

from ogive.html.document import document
from ogive.html.markup import Html, tag
from ogive.html.parts import fine, say, table
from ogive.report import render_report
from ogive.statistics.kinds import read_recorded
from ogive.study.status import is_connected

REFRESH_SECONDS = 5


def status_page(told: dict[str, Any]) -> str:
    """The page of a study, which the browser reads again every few seconds."""
    title = told["title"] or told["study"]
    connected = sum(is_connected(party) for party in told["parties"])
    return document(
        title,
        tag("header", tag("h1", title), say(_lead(told, connected))),
        tag(
            "main",
            table(
                "Releases",
                ("release", "state", "guarantee", "parties in the sum"),
                [(_name(each), _cells(each)) for each in told["releases"]],
                texts=(1, 2),
            ),
            *(_reasons(each) for each in told["releases"]),
            table(
                "Parties",
                ("party", "agent", "asked for this step"),
                [
                    (
                        party["name"],
                        (_agent(party), "waiting for its reply" if party["name"] in told["waiting_for"] else "-"),
                    )
                    for party in told["parties"]
                ],
                texts=(1, 2),
            ),
        ),
        tag(
            "footer",
            say(f"Budget of each party for this study: {told['budget']}."),
            fine(f"Study {told['study']}, SHA-256 {told['digest']}"),
        ),
        refresh=REFRESH_SECONDS,
    )


def release_page(name: str, found: dict[str, Any]) -> str:
    """The page of a release: its curve with its band, its error and its guarantee."""
    return render_report([read_recorded(found)], title=name)


def _lead(told: dict[str, Any], connected: int) -> str:
    parties = f"{connected} of {len(told['parties'])} parties are connected."
    running = [each for each in told["releases"] if each["state"] == "running"]
    if not running:
        return f"{parties} No release is running."
    waiting = ", ".join(told["waiting_for"]) or "nobody"
    return f"{parties} Release {running[0]['name']} is at the step {running[0]['step']} and waits for {waiting}."


def _name(release: dict[str, Any]) -> Html:
    if release["state"] == "released":
        return tag("a", release["name"], href=f"/releases/{release['name']}")
    return Html(release["name"])  # a name of a study has no character that means anything in HTML


def _cells(release: dict[str, Any]) -> tuple[str, str, str]:
    state = release["state"]
    if state == "running":
        state = f"step {release['step']}, query {release['query']}, attempt {release['attempt']}"
    return state, release["privacy"], str(len(release.get("members", []))) if release.get("members") else "-"


def _reasons(release: dict[str, Any]) -> Html | None:
    lines = [*release.get("failed", []), *([release["reason"]] if release.get("reason") else [])]
    if not lines:
        return None
    return tag("section", tag("h3", f"Attempts of {release['name']}"), tag("ul", *(tag("li", line) for line in lines)))


def _agent(party: dict[str, Any]) -> str:
    if party["seen"] is None:
        return "not seen yet"
    if is_connected(party):
        return "connected"
    return f"last seen {time.strftime('%Y-%m-%d %H:%M', time.gmtime(party['seen']))} UTC"
