"""`ogive local devices`, `serve` and `send`: collecting reports over a network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ogive.cli.converters import whole
from ogive.cli.local.naming import described
from ogive.cli.options.common import Words


def devices(
    study: Annotated[Path, Parameter(help="The description, as ogive local describe writes it.")],
    folder: Annotated[Path, Parameter(help="Folder to make.")],
    /,
    *,
    host: Words,
    count: Annotated[int | None, Parameter(converter=whole)] = None,
) -> None:
    """Make what a service and its participants need: a certificate, and a token for each participant.

    Args:
        study: The description, as ogive local describe writes it.
        folder: Folder to make.
        host: Names and addresses under which the service is reached.
        count: How many participants get a token; by default all that the description asks.
    """
    from ogive.study.local.enrolment import equip

    description = described(study)
    equip(folder, description, count=description.participants if count is None else count, hosts=host)
    print(
        f"{folder}: give ca.pem to everybody, and a line of tokens to each participant; keep the rest", file=sys.stderr
    )


def serve(
    study: Annotated[Path, Parameter(help="The description, as ogive local describe writes it.")],
    /,
    *,
    service: Path,
    store: Path,
    host: str = "127.0.0.1",
    port: Annotated[int, Parameter(converter=whole)] = 8443,
    released: Path | None = None,
) -> None:
    """Take reports over HTTPS, one of each participant, and show owners what they are asked.

    Args:
        study: The description, as ogive local describe writes it.
        service: Folder from ogive local devices.
        store: Folder of the reports, which ogive local aggregate reads at any time. Keep one copy of it.
        host: Address to listen on.
        port: Port to listen on.
        released: File of the estimate that the status page shows to everybody, as ogive local aggregate --output writes
            it; it may be written later, and again.
    """
    from ogive.study.local.serving import serve as run

    run(described(study), service=service, store=store, host=host, port=port, released=released)


def send(
    study: Annotated[Path, Parameter(help="The description, as ogive local describe writes it.")],
    reports: Annotated[Path, Parameter(help="File of reports, as ogive local randomize writes it.")],
    /,
    *,
    connect: str,
    token: Path,
    authority: Path | None = None,
) -> None:
    """Send reports to the service that collects them, each with its participant's token.

    The same file may be sent again; a report of a participant who sent another one changes nothing.

    Args:
        study: The description, as ogive local describe writes it.
        reports: File of reports, as ogive local randomize writes it.
        connect: Address of the service, https://HOST:PORT.
        token: File with your token, or with a token a line for each of the reports.
        authority: File with the certificate that issued the service's; by default those that the system trusts.
    """
    from ogive.study.local.sending import send as post

    new, before = post(described(study), reports, tokens=token, connect=connect, authority=authority)
    said = "1 report was sent" if new == 1 else f"{new:,} reports were sent"
    print(said + (f"; for {before:,} another report is stored, which stays" if before else ""), file=sys.stderr)
