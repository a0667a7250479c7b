"""How far a study is, as plain data that is public."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ogive.study.coordinator import Coordinator, Progress
from ogive.study.document import Study
from ogive.study.frames import Stage

JOINED_SECONDS = 60.0
"""A party whose agent asked within this time is connected."""


def status_of(coordinator: Coordinator, *, seen: Mapping[int, float] | None = None) -> dict[str, Any]:
    """The state of every release and party.

    Args:
        coordinator: Of the study.
        seen: When each party's agent last asked for a question, in seconds since 1970.
    """
    return told(coordinator.study, coordinator.progress(), waiting=coordinator.waiting_for, seen=seen or {})


def told(
    study: Study, progress: Mapping[str, Progress], *, waiting: tuple[int, ...] = (), seen: Mapping[int, float]
) -> dict[str, Any]:
    """As `status_of`, of what a coordinator stored."""
    names = [party.name for party in study.parties]
    return {
        "study": study.name,
        "title": study.title,
        "digest": study.digest.hex(),
        "budget": str(study.budget),
        "parties": [{"name": name, "seen": seen.get(number)} for number, name in enumerate(names, 1)],
        "waiting_for": [names[number - 1] for number in waiting],
        "releases": [
            _release(release.name, str(release.privacy), progress.get(release.name), names)
            for release in study.releases
        ],
    }


def is_connected(party: Mapping[str, Any]) -> bool:
    """Whether a party of a status asked for a question within `JOINED_SECONDS`."""
    return party["seen"] is not None and time.time() - party["seen"] < JOINED_SECONDS


def in_the_sum(release: Mapping[str, Any], parties: Sequence[Mapping[str, Any]]) -> str:
    """How many parties' records are in a release of a status, and whose are not; empty before that is settled."""
    members = release.get("members") or []
    if not members:
        return ""
    others = [party["name"] for party in parties if party["name"] not in members]
    return f"{len(members)} of {len(parties)}" + (f", without {', '.join(others)}" if others else "")


def _release(name: str, privacy: str, found: Progress | None, names: list[str]) -> dict[str, Any]:
    if found is None:
        return {"name": name, "privacy": privacy, "state": "not requested"}
    return {
        "name": name,
        "privacy": privacy,
        "state": found.state,
        "query": found.query + 1,
        "attempt": found.attempt + 1,
        "step": Stage(found.stage).word if found.state == "running" else None,
        "members": [names[number - 1] for number in found.members],
        "reason": found.reason or None,
        "failed": list(found.failed),
    }
