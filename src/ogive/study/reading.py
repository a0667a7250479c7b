"""Reading a study of any kind."""

from __future__ import annotations

from pathlib import Path

from ogive.study.common import parse_toml, read_file
from ogive.study.document import Study
from ogive.study.pairs.document import PAIRS, PeopleStudy
from ogive.study.servers.document import SERVERS, ServersStudy


def read_study(path: str | Path) -> Study | ServersStudy | PeopleStudy:
    """Read a study of parties, of servers or of people from its file."""
    return read_file(path, _parse)


def _parse(text: bytes) -> Study | ServersStudy | PeopleStudy:
    trust = parse_toml(text).get("trust")
    if trust == SERVERS:
        return ServersStudy.parse(text)
    if trust == PAIRS:
        return PeopleStudy.parse(text)
    return Study.parse(text)
