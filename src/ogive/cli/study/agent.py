"""`ogive agent`: the process of one party of a study."""

from __future__ import annotations

import logging
import sys
import threading
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ogive.errors import ParameterError, RefusalError


def agent(
    study: Annotated[Path, Parameter(help="The file of the study.")],
    *,
    records: Path,
    key: Path,
    state: Path,
    ledger: str | None = None,
    account: str | None = None,
    connect: str | None = None,
    token: Path | None = None,
    authority: Path | None = None,
    certificate: Path | None = None,
    certificate_key: Path | None = None,
    listen: str | None = None,
) -> None:
    """Answer the questions of a study that you approved, with records that stay here.

    Args:
        study: The file of the study.
        records: Your records, in any form that other commands read.
        key: Your enrolment key.
        state: File of the agent's state, which says that you approved the study.
        ledger: Your ledger; by default a file beside the state.
        account: Name of the account that pays; by default the name of the study.
        connect: Address of the coordinator, https://HOST:PORT.
        token: File with your token, for --connect.
        authority: File ca.pem of the study's authority, for --connect.
        certificate: File of your certificate, where the coordinator asks for one.
        certificate_key: File of its key.
        listen: unix:/PATH of a socket at which a local carrier asks, instead of --connect.
    """
    from ogive.ledger import Ledger
    from ogive.study.agent import Agent, is_approved
    from ogive.study.document import Study
    from ogive.study.keys import load_key
    from ogive.study.own import check_records
    from ogive.study.store import Store

    if (connect is None) == (listen is None):
        raise ParameterError("say where questions come from: --connect https://HOST:PORT or --listen unix:/PATH")
    if (certificate is None) != (certificate_key is None):
        raise ParameterError("--certificate and --certificate-key go together")
    document = Study.read(study)
    own = load_key(key)
    number = document.number_of(own.public_key().public_bytes_raw())
    store = Store(state)
    if not is_approved(store, document):
        raise RefusalError(
            f"this study is not approved in {state}; read it with ogive study check, and approve it with --approve"
        )
    check_records(document, number, records)
    store.hold()
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    place = ledger if ledger is not None else str(state.with_name(state.name + ".ledger"))
    books = Ledger.open(place)
    paying = books.account(
        document.name if account is None else account,
        unit=document.unit,
        limit=document.budget if account is None else None,
    )
    party = Agent(document, records, key=own, store=store, account=paying)
    stop = threading.Event()
    if connect is not None:
        from ogive.study.https.client import Connection
        from ogive.study.https.enrolment import read_token

        if token is None:
            raise ParameterError("--connect needs --token, the file with your token")
        pair = None if certificate is None or certificate_key is None else (certificate, certificate_key)
        with Connection(
            connect,
            document.parties[number - 1].name,
            read_token(token),
            authority=authority,
            certificate=pair,
        ) as connection:
            connection.run(party, stop)
    else:
        from ogive.study.local_socket import listen_at

        assert listen is not None
        listen_at(listen, party, stop)
