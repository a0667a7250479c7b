"""The process of one server of a study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.errors import ParameterError
from ogive.ledger import Ledger
from ogive.study.https.serving import LOG, listen, log_to_stderr, run
from ogive.study.servers.asking import LEADER, Peer
from ogive.study.servers.carrying import HttpsCarrier
from ogive.study.servers.document import ServersStudy
from ogive.study.servers.enrolment import Enrolled, list_name
from ogive.study.servers.https import ServerService
from ogive.study.servers.leader import Leader
from ogive.study.servers.node import Node
from ogive.study.store import Store

STATE, LEDGER = "state.db", "ledger"


def serve(
    study: ServersStudy,
    *,
    key: Ed25519PrivateKey,
    number: int | None,
    folder: Path,
    enrolled: Sequence[Path],
    certificates: Path,
    host: str,
    port: int,
    connect_to: Sequence[str],
    authority: Path | None,
    ledger: str | None = None,
) -> None:
    """Run a server until the process is told to stop.

    Args:
        study: The study.
        key: The server's.
        number: Which server this is said to be; None for whichever has the key.
        folder: Holds uploads, state and ledger; made if it is not there.
        enrolled: Files of who may upload to this server; none for the one that `enrolment.enrol` names after it.
        certificates: Folder with its certificate.
        host: Address to listen on.
        port: Port to listen on; 0 for any that is free.
        connect_to: At server 0 the addresses of all others, in the order of the study.
        authority: File with the certificate that theirs were issued with; None for those that the system trusts.
        ledger: Where the ledger is; None for a file in the folder.

    Raises:
        ParameterError: a file cannot be used, the key is another server's, or addresses are given that are not needed.
        RefusalError, LedgerError: another process runs on the folder, or it cannot be used.
    """
    found = study.number_of(key.public_key().public_bytes_raw())
    if number not in (None, found):
        raise ParameterError(
            f"the key is that of server {found}, {study.servers[found].name}, and `number` is {number}"
        )
    number = found
    if number != LEADER and connect_to:
        raise ParameterError(f"server 0, {study.servers[LEADER].name}, connects to the others; leave out --connect-to")
    listed = Enrolled.read(enrolled or [Path(list_name(study.servers[number].name))], study, number)
    listening = listen(certificates, host, port)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = Store(folder / STATE)
    store.hold()
    log_to_stderr()
    account = Ledger.open(ledger if ledger is not None else folder / LEDGER).account(
        study.name, unit=study.unit, limit=study.budget
    )
    node = Node(study, folder, key=key, store=store, account=account, enrolled=listed)
    carriers = [HttpsCarrier(study, other, url, authority=authority) for other, url in enumerate(connect_to, 1)]
    leader = None
    if number == LEADER:
        peers = [Peer(node, other, carrier) for other, carrier in enumerate(carriers, 1)]
        leader = Leader(node, store, peers)
    LOG.info(
        "server %s of study %s at https://%s:%d, %d may upload",
        study.servers[number].name, study.name, host, listening.getsockname()[1], len(listed),
    )  # fmt: skip
    run(ServerService(node, leader).application(), listening, certificates)
    if leader is not None:
        leader.close()
    for carrier in carriers:
        carrier.close()
    node.close()
    store.close()
