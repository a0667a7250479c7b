"""`ogive local devices` and `ogive local serve`: collecting reports over a network."""

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
) -> None:
    """Take reports over HTTPS, one of each participant, and show owners what they are asked.

    Args:
        study: The description, as ogive local describe writes it.
        service: Folder from ogive local devices.
        store: Folder of the reports, which ogive local aggregate reads at any time. Keep one copy of it.
        host: Address to listen on.
        port: Port to listen on.
    """
    from ogive.study.local.serving import serve as run

    run(described(study), service=service, store=store, host=host, port=port)
