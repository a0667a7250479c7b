"""The process of one server of a study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.errors import ParameterError
from ogive.ledger import Ledger
from ogive.study.https.serving import LOG, listen, log_to_stderr, run
from ogive.study.keys import load_key
from ogive.study.servers.asking import LEADER, Peer
from ogive.study.servers.carrying import HttpsCarrier
from ogive.study.servers.document import ServersStudy
from ogive.study.servers.enrolment import Enrolled, list_name
from ogive.study.servers.evaluating import Workers
from ogive.study.servers.https import ServerService
from ogive.study.servers.leader import Leader
from ogive.study.servers.node import Node
from ogive.study.store import Store

STATE, LEDGER = "state.db", "ledger"


def serve(
    study: ServersStudy | str | Path,
    *,
    store: str | Path,
    number: int | None = None,
    key: Ed25519PrivateKey | str | Path = "my.key",
    enrolled: Sequence[str | Path] = (),
    service: str | Path = "tls",
    connect_to: Sequence[str] = (),
    authority: str | Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8443,
    ledger: str | None = None,
    workers: Workers | None = None,
) -> None:
    """Run a server of a study until the process is told to stop, as `ogive server` does.

    Args:
        study: The study, or its file.
        store: Folder of uploads, state and ledger; made if it is not there.
        number: Which server this is said to be; None for whichever has the key.
        key: The server's, or its file.
        enrolled: Files of who may upload to this server; none for the one that `ogive study devices` names after it.
        service: Folder with its certificate.
        connect_to: At server 0 the addresses of all others, in the order of the study.
        authority: File with the certificate that theirs were issued with; None for those that the system trusts.
        host: Address to listen on.
        port: Port to listen on; 0 for any that is free.
        ledger: Where the ledger is; None for a file in the folder.
        workers: Who evaluates uploads: a function as `map`, such as that of a pool of processes, which is called as
            `workers(evaluate_part, parts)`. None for this process, with all its cores. Workers read the files in the
            store by their paths. If they fail, this process does their work.

    Raises:
        ParameterError: a file cannot be used, the key is another server's, or addresses are given that are not needed.
        RefusalError, LedgerError: another process runs on the folder, or it cannot be used.

    Privacy:
        Workers see what this server sees of uploads, so they belong to its administration. Noise, keys and state stay
        in this process.
    """
    study = study if isinstance(study, ServersStudy) else ServersStudy.read(study)
    key = key if isinstance(key, Ed25519PrivateKey) else load_key(Path(key))
    folder = Path(store)
    found = study.number_of(key.public_key().public_bytes_raw())
    if number not in (None, found):
        raise ParameterError(
            f"the key is that of server {found}, {study.servers[found].name}, and `number` is {number}"
        )
    number = found
    if number != LEADER and connect_to:
        raise ParameterError(f"server 0, {study.servers[LEADER].name}, connects to the others; leave out --connect-to")
    lists = [Path(each) for each in enrolled or [list_name(study.servers[number].name)]]
    listed = Enrolled.read(lists, study, number)
    listening = listen(Path(service), host, port)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    state = Store(folder / STATE)
    state.hold()
    log_to_stderr()
    account = Ledger.open(ledger if ledger is not None else folder / LEDGER).account(
        study.name, unit=study.unit, limit=study.budget
    )
    node = Node(study, folder, key=key, store=state, account=account, enrolled=listed, workers=workers)
    issuer = None if authority is None else Path(authority)
    carriers = [HttpsCarrier(study, other, url, authority=issuer) for other, url in enumerate(connect_to, 1)]
    leader = None
    if number == LEADER:
        peers = [Peer(node, other, carrier) for other, carrier in enumerate(carriers, 1)]
        leader = Leader(node, state, peers)
    LOG.info(
        "server %s of study %s at https://%s:%d, %d may upload",
        study.servers[number].name, study.name, host, listening.getsockname()[1], len(listed),
    )  # fmt: skip
    run(ServerService(node, leader).application(), listening, Path(service))
    if leader is not None:
        leader.close()
    for carrier in carriers:
        carrier.close()
    node.close()
    state.close()
