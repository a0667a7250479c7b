"""`ogive server`: the process of one server of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ogive.cli.converters import whole
from ogive.cli.options.common import Words


def server(
    study: Annotated[Path, Parameter(help="The file of the study.")],
    *,
    store: Path,
    number: Annotated[int | None, Parameter(converter=whole)] = None,
    key: Path = Path("my.key"),
    enrolled: Annotated[tuple[Path, ...], Parameter(consume_multiple=True)] = (),
    service: Path = Path("tls"),
    connect_to: Words = (),
    authority: Path | None = None,
    host: str = "127.0.0.1",
    port: Annotated[int, Parameter(converter=whole)] = 8443,
    ledger: str | None = None,
) -> None:
    """Take shares of people's records, and answer together with the other servers of a study.

    Args:
        study: The file of the study.
        store: Folder of what is uploaded, of the state and of the ledger. Keep one copy of it.
        number: Number of this server in the study, from 0, compared with its key.
        key: The key of this server; it says which server of the study this is.
        enrolled: Who may upload to this server: one or several files from ogive study devices; by default
            NAME.enrolled, with this server's name.
        service: Folder with certificate and key, from ogive study keys --service.
        connect_to: At the first server of the study: the addresses of all others, https://HOST:PORT, in their order.
        authority: File with the certificate that issued theirs; by default those that the system trusts.
        host: Address to listen on.
        port: Port to listen on.
        ledger: The ledger of this server; by default a file in the store.
    """
    from ogive.study.servers.serving import serve

    serve(
        study,
        store=store,
        number=number,
        key=key,
        enrolled=enrolled,
        service=service,
        connect_to=connect_to,
        authority=authority,
        host=host,
        port=port,
        ledger=ledger,
    )
