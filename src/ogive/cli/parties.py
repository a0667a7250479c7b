"""What those who take part in a study run: `ogive agent`, `ogive server`, `ogive upload` and `ogive pair`."""

from __future__ import annotations

import logging
import math
import sys
import threading
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ogive.cli.data import OptionalWhole, Whole
from ogive.cli.options import Words
from ogive.errors import ParameterError, RefusalError, plain

# --- `ogive agent`


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
    from ogive.study.agent import Agent, check_records, is_approved
    from ogive.study.document import Study
    from ogive.study.enrolment import load_key
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
        from ogive.study.carriers import Connection
        from ogive.study.enrolment import read_token

        if token is None:
            raise ParameterError("--connect needs --token, the file with your token")
        pair = None if certificate is None or certificate_key is None else (certificate, certificate_key)
        with Connection(
            connect, document.parties[number - 1].name, read_token(token), authority=authority, certificate=pair
        ) as connection:
            connection.run(party, stop)
    else:
        from ogive.study.agent import listen_at

        assert listen is not None
        listen_at(listen, party, stop)


# --- `ogive server`


def server(
    study: Annotated[Path, Parameter(help="The file of the study.")],
    *,
    store: Path,
    number: OptionalWhole = None,
    key: Path = Path("my.key"),
    enrolled: Annotated[tuple[Path, ...], Parameter(consume_multiple=True)] = (),
    service: Path = Path("tls"),
    connect_to: Words = (),
    authority: Path | None = None,
    host: str = "127.0.0.1",
    port: Whole = 8443,
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
    from ogive.study.servers.service import serve

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


# --- `ogive upload`

_LONGEST = 1 << 16


def upload(
    study: Annotated[Path, Parameter(help="The file of the study.")],
    *,
    connect: str,
    token: Path,
    value: Words = (),
    value_from: Path | None = None,
    file: Path | None = None,
    authority: Path | None = None,
) -> None:
    """Send shares of a record to the servers of a study, once; nobody sees the record.

    Args:
        study: The file of the study.
        connect: Address of the study's first server, https://HOST:PORT.
        token: File with your token, or with one token a line for the rows of --file.
        value: Your value, such as 65, or COLUMN=VALUE for each column where the study asks for several.
            Other users of a machine may see the words of a command.
        value_from: Instead a file with that, a line each; /dev/stdin is standard input.
        file: Instead of a value a table with a row for each token, in any form that other commands read.
        authority: File with the certificate that issued the server's; by default those that the system trusts.
    """
    from ogive.study.servers.uploads import read_tokens
    from ogive.study.servers.uploads import upload as send

    records = own_record(value, value_from, file)
    tokens = read_tokens(token)
    new = send(study, records, tokens=tokens, connect=connect, authority=authority)
    before = len(tokens) - new
    if len(tokens) == 1:
        message = (
            "the record is uploaded"
            if new
            else "a record was uploaded with this token before; that one counts, and nothing has changed"
        )
    else:
        message = f"{new:,} records are uploaded" + (f"; {before:,} were before" if before else "")
    print(message, file=sys.stderr)


def own_record(words: tuple[str, ...], words_from: Path | None, file: Path | None) -> Any:
    """A record by its words, by those in a file, or by a table; one of them is given."""
    if bool(words) + (words_from is not None) + (file is not None) != 1:
        raise ParameterError("name your record with --value or --value-from, or a table with --file")
    if words_from is not None:
        try:
            with words_from.open(encoding="utf-8-sig") as opened:
                text = opened.read(_LONGEST + 1)
        except (OSError, UnicodeDecodeError) as problem:
            reason = getattr(problem, "strerror", None) or "it is no text in UTF-8"
            raise ParameterError(f"the value in {plain(words_from)} cannot be read: {reason}") from None
        if len(text) > _LONGEST:
            raise ParameterError(f"{plain(words_from)} has more than the {_LONGEST} characters of a value")
        words = tuple(line.strip() for line in text.splitlines() if line.strip())
        if not words:
            raise ParameterError(f"there is no value in {plain(words_from)}")
    return file if file is not None else record_of(words)


def record_of(words: tuple[str, ...]) -> Any:
    """One record, as columns or as a single value."""
    if len(words) == 1 and "=" not in words[0]:
        return [_value(words[0])]
    record = {}
    for word in words:
        column, equals, value = word.partition("=")
        if not equals or not column or column in record:
            raise ParameterError(f"--value takes 65, or COLUMN=VALUE for each column once, got {plain(word)}")
        record[column] = [_value(value)]
    return record


def _value(word: str) -> float | str:
    try:
        result = float(word)
    except ValueError:
        return word
    if math.isnan(result):
        raise ParameterError(
            "--value nan is no value; a table of --file may lack one, where the study says what it means"
        )
    return result


# --- `ogive pair`


def pair(
    study: Annotated[Path, Parameter(help="The file of the study.")],
    *,
    connect: str,
    key: Path,
    ledger: str,
    value: Words = (),
    value_from: Path | None = None,
    file: Path | None = None,
    authority: Path | None = None,
) -> None:
    """Take part in a study with your record: you meet others in pairs, and nobody sees it.

    Args:
        study: The file of the study.
        connect: Address of the study's service, https://HOST:PORT.
        key: Your key; says which person of the study you are.
        ledger: Your ledger; the price is in it before anything is sent.
        value: Your value, such as 65, or COLUMN=VALUE for each column where the study asks for several.
            Other users of a machine may see the words of a command.
        value_from: Instead a file with that, a line each; /dev/stdin is standard input.
        file: Instead of a value a table with one row, in any form that other commands read.
        authority: File with the certificate that issued the service's; by default those that the system trusts.
    """
    from ogive.study.document import PeopleStudy, read_study
    from ogive.study.enrolment import load_key
    from ogive.study.pairs.joining import join
    from ogive.study.pairs.terms import Meeting

    record = own_record(value, value_from, file)
    read = read_study(study)
    if not isinstance(read, PeopleStudy):
        raise ParameterError("this is no study of people who meet in pairs; its trust must be pairs")
    if isinstance(record, list):
        columns = [each.column for each in Meeting.of(read).query.columns.columns]
        if len(columns) > 1:
            raise ParameterError(f"the study asks for the columns {', '.join(columns)}; give each as COLUMN=VALUE")
        record = {columns[0]: record}
    given, over = join(read, record, key=load_key(key), ledger=ledger, connect=connect, authority=authority)
    pairs = "1 pair" if given == 1 else f"{given} pairs"
    if not over:
        raise RefusalError(f"the study did not end in time; you took part in {pairs}")
    print(f"the study is over; you took part in {pairs}", file=sys.stderr)
