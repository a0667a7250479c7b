"""What people see of a study in a browser: who is connected, what each step waits for, and what was released."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ogive.errors import ParameterError
from ogive.provenance import Provenance
from ogive.report import chart_svg, render_report
from ogive.report.budget import totals
from ogive.showing.parts import PICTURES, Html, document, fine, say, table, tag
from ogive.statistics.kinds import read_recorded
from ogive.study.coordinator import in_the_sum, is_connected
from ogive.study.https.connections import html, line

REFRESH_SECONDS = 5


@dataclass(frozen=True)
class Released:
    """What the page of a study shows of a release.

    Fields:
        provenance: Its price among others.
        picture: The main chart as an SVG file; None where only single values were released.
    """

    provenance: Provenance
    picture: str | None

    @staticmethod
    def of(found: dict[str, Any]) -> Released:
        """From the release as plain data."""
        estimate = read_recorded(found)
        assert estimate.provenance is not None, "releases of a study have one"
        try:
            picture = chart_svg(estimate)
        except ParameterError:
            picture = None
        return Released(estimate.provenance, picture)


def status_page(told: dict[str, Any], released: Mapping[str, Released]) -> str:
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
                [(release_link(each), _cells(each, told["parties"])) for each in told["releases"]],
                texts=(1, 2, 3),
            ),
            *(_reasons(each) for each in told["releases"]),
            _as_json(released),
            *(drawn(name, each.picture) for name, each in released.items() if each.picture is not None),
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
            say(_spent(told["budget"], [each.provenance for each in released.values()])),
            fine(f"Study {told['study']}, SHA-256 {told['digest']}"),
        ),
        refresh=REFRESH_SECONDS,
        policy=PICTURES,
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


def release_link(release: dict[str, Any]) -> Html:
    """The name of a release, and where its page is once it is released."""
    if release["state"] == "released":
        return tag("a", release["name"], href=f"/releases/{release['name']}")
    return Html(release["name"])  # a name of a study has no character that means anything in HTML


def _cells(release: dict[str, Any], parties: Sequence[Mapping[str, Any]]) -> tuple[str, str, str]:
    state = release["state"]
    if state == "running":
        state = f"step {release['step']}, query {release['query']}, attempt {release['attempt']}"
    return state, release["privacy"], in_the_sum(release, parties) or "-"


def hour(seconds: int) -> str:
    """The name of the hour that begins so many seconds after 1970."""
    return time.strftime("%Y-%m-%d %H:00", time.gmtime(seconds))


def drawn(name: str, picture: str) -> Html:
    """The chart of a release, as a picture of its own, so that no rule of one changes another."""
    data = base64.b64encode(picture.encode()).decode()
    drawn = tag("img", src=f"data:image/svg+xml;base64,{data}", alt=f"The chart of {name}", style="max-width: 100%")
    return tag("section", tag("h3", f"Release {name}"), tag("a", drawn, href=f"/releases/{name}"))


def _as_json(released: Mapping[str, Released]) -> Html | None:
    """Where each release is as a file."""
    if not released:
        return None
    links = [
        part
        for name in released
        for part in (" ", tag("a", f"{name}.json", href=f"/v1/releases/{name}", download=f"{name}.json"))
    ]
    return tag("p", "Files for ogive show and ogive report:", *links)


def _spent(budget: str, released: Sequence[Provenance]) -> str:
    limit = f"The budget of each party's records for this study is {budget}."
    if not released:
        return f"{limit} Nothing was released so far."
    spent = " and ".join(str(total.together) for total in totals(released))
    return f"{limit} What was released so far costs {spent}."


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


# --- What was released, as every service of a study gives it: as JSON, and as a page


class Results:
    """The releases of a study."""

    def __init__(self, find: Callable[[str], dict[str, Any] | None]) -> None:
        self._find = find
        self._pictured: dict[str, Released] = {}
        self._pages: dict[str, tuple[dict[str, Any], str]] = {}

    def routes(self) -> list[Route]:
        """Where they are."""
        return [Route("/v1/releases/{name}", self._json), Route("/releases/{name}", self._page)]

    async def pictured(self, states: list[dict[str, Any]]) -> dict[str, Released]:
        """Those of some releases that are complete, by name, as the page of a study shows them; drawn once."""
        for each in states:
            name = each["name"]
            if each["state"] == "released" and name not in self._pictured:
                found = await run_in_threadpool(self._find, name)
                if found is not None:
                    self._pictured[name] = await run_in_threadpool(Released.of, found)
        return self._pictured

    async def _json(self, request: Request) -> Response:
        found = await run_in_threadpool(self._find, request.path_params["name"])
        return _none() if found is None else JSONResponse(found)

    async def _page(self, request: Request) -> Response:
        name = request.path_params["name"]
        found = await run_in_threadpool(self._find, name)
        if found is None:
            return _none()
        if name not in self._pages or self._pages[name][0] != found:
            self._pages[name] = found, await run_in_threadpool(release_page, name, found)
        return html(self._pages[name][1])


def _none() -> Response:
    return line("there is no such release yet", 404)
