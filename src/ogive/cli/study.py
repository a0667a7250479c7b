"""`ogive study`: write a study, make keys, read and approve it, run its coordinator, ask for releases.

Those who take part run `ogive agent`, `ogive server`, `ogive upload` and `ogive pair`.
"""

from __future__ import annotations

import json
import logging
import math
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from ogive.cli.data import OptionalWhole, Whole, whole
from ogive.cli.options import Words
from ogive.errors import ParameterError, RefusalError, plain

if TYPE_CHECKING:
    from ogive.study.document import AnyStudy, ServersStudy
    from ogive.study.store import Releases, Store

_LOOK_SECONDS = 0.2

app = App(name="study", help="Release statistics of several organizations that keep their rows.")

Document = Annotated[Path, Parameter(help="The file of the study.")]
Key = Annotated[Path, Parameter(help="File of a private key, from ogive study keys.")]
State = Annotated[
    str, Parameter(help="File of the protocol state (state.db in the store of a server), or postgresql://USER@HOST/DB.")
]


@app.command
def new(
    document: Document,
    *,
    name: str,
    records: Annotated[int | None, Parameter(converter=whole)] = None,
    coordinator: str | None = None,
    party: Words = (),
    server: Words = (),
    people: Path | None = None,
    deadline: str | None = None,
    trust: Literal["secagg", "merge", "servers", "pairs"] = "secagg",
) -> None:
    """Write the file of a study with one release, to be edited.

    Args:
        document: The file to write; one that is there is kept.
        name: Name of the study.
        records: How many records there are in all, about; with --trust pairs each person has one.
        coordinator: Public key of the coordinator, as ogive study keys prints it.
        party: Name and public key of each party, as NAME=ed25519:...
        server: With --trust servers, instead of coordinator and parties, name and keys of each server, as
            NAME=ed25519:...,x25519:..., from ogive study keys --sealing.
        people: With --trust pairs, file with the public key of each person, one a line.
        deadline: With --trust pairs, when no pair begins any more, such as 2030-12-31T18:00:00Z.
        trust: secagg opens sums alone; merge adds up curves that each party releases by itself; servers add up shares
            that people upload; pairs of people compute noisy values of their two records.
    """
    from ogive.study.enrolment import read_people, template, write_new

    if trust == "pairs":
        if coordinator is None or people is None or deadline is None or party or server or records is not None:
            raise ParameterError("a study of pairs needs --coordinator, --people and --deadline, and no others")
        text = template(name, trust, coordinator=coordinator, people=read_people(people), deadline=deadline)
        sent = "every person"
    elif people is not None or deadline is not None or records is None:
        raise ParameterError("name how many --records there are; --people and --deadline go with --trust pairs")
    elif trust == "servers":
        if coordinator is not None or party:
            raise ParameterError("a study of servers has neither coordinator nor parties; name each --server")
        keys = {each: tuple(key.split(",")) for each, key in _named(server, "server").items()}
        for each, pair in keys.items():
            if len(pair) != 2:
                raise ParameterError(f"--server {plain(each)} needs both keys that ogive study keys --sealing prints")
        text = template(name, trust, members=keys, records=records)
        sent = "every server, and to everybody who uploads"
    else:
        if coordinator is None or server:
            raise ParameterError(
                "name the key of the --coordinator and each --party; --server goes with --trust servers"
            )
        parties = {each: (key,) for each, key in _named(party, "party").items()}
        text = template(name, trust, coordinator=coordinator, members=parties, records=records)
        sent = "every party"
    write_new(document, text.encode())
    print(f"wrote {document}; edit its releases, then send the file to {sent}", file=sys.stderr)


def _named(words: tuple[str, ...], what: str) -> dict[str, str]:
    """Names and keys."""
    named = [each.partition("=")[::2] for each in words]
    for each, key in named:
        if not key:
            raise ParameterError(f"--{what} takes NAME=KEY, such as north=ed25519:..., got {plain(each)}")
        if sum(other == each for other, _ in named) > 1:
            raise ParameterError(f"two {'parties' if what == 'party' else 'servers'} have the name {plain(each)}")
    return dict(named)


@app.command
def keys(
    key: Annotated[Path | None, Parameter(help="File to write a private key to.")] = None,
    *,
    service: Path | None = None,
    study: Path | None = None,
    host: Words = (),
    clients: bool = False,
    sealing: bool = False,
) -> None:
    """Make a key pair and print its public half, or what the service of a study needs.

    Args:
        key: The file of the private key of a party, of the coordinator or of a server.
        service: Folder for a certificate authority, the certificate of the service, and a token for each party.
        study: The study of the service.
        host: Names and addresses under which the service is reached.
        clients: Issue a certificate to each party, too, for services that ask for one.
        sealing: Print the key for uploads of a server, too.
    """
    if (key is None) == (service is None):
        raise ParameterError("name the file of a new key, or a folder with --service")
    if key is not None:
        from ogive.study.common import SEALING, key_text
        from ogive.study.enrolment import make_key
        from ogive.study.sealing import sealing_key

        private = make_key(key)
        printed = key_text(private.public_key().public_bytes_raw())
        if sealing:
            printed += f",{key_text(sealing_key(private).public_key().public_bytes_raw(), SEALING)}"
        print(printed)
        return
    if study is None or not host:
        raise ParameterError("--service needs --study FILE and --host NAME")
    assert service is not None
    from ogive.study.document import Study, read_study
    from ogive.study.enrolment import equip

    read = read_study(study)
    _warn_of_budget(read)
    equip(service, read, hosts=host, clients=clients)
    text = "give ca.pem to everybody who connects; keep ca.key and service.key"
    if isinstance(read, Study):
        text = "give ca.pem and its own .token to each party; keep ca.key, service.key and tokens"
    print(f"{service}: {text}", file=sys.stderr)


def _warn_of_budget(study: AnyStudy) -> None:
    """Say in a line that not all releases can be paid for."""
    from ogive.study.course import over_budget

    over = over_budget(study, [release.name for release in study.releases])
    if over is not None:
        print(f"ogive: warning: {over}; not all of them can be released", file=sys.stderr)


@app.command
def devices(
    document: Document,
    folder: Annotated[Path, Parameter(help="Folder to make.")],
    *,
    count: Annotated[int, Parameter(converter=whole)],
) -> None:
    """Make tokens for people who may upload to the servers of a study, one each, and each server's list of them.

    Args:
        document: The study.
        folder: Folder to make.
        count: How many people.
    """
    from ogive.study.document import ServersStudy
    from ogive.study.servers.uploads import enrol

    if count < 1:
        raise ParameterError(f"--count must be at least 1, got {count}")
    enrol(folder, ServersStudy.read(document), count)
    print(f"{folder}: give a line of tokens to each person, and its own .enrolled file to each server", file=sys.stderr)


@app.command
def check(
    document: Document,
    *,
    records: Path | None = None,
    key: Key | None = None,
    state: State | None = None,
    approve: bool = False,
) -> None:
    """Say in words what a study would learn of your records, at what price and error; with --approve, approve it.

    Args:
        document: The study.
        records: Your records; that they can answer every release is checked.
        key: Your key; says which party you are.
        state: The file in which your agent keeps its state; it notes your approval.
        approve: Approve exactly this study. An agent runs no other.
    """
    from ogive.study.document import Study, read_study
    from ogive.study.enrolment import load_key
    from ogive.study.words import in_words

    if approve and (records is None or key is None or state is None):
        raise ParameterError("to approve a study, name your --records, your --key and the --state of your agent")
    study = read_study(document)
    number = None if key is None else study.number_of(load_key(key).public_key().public_bytes_raw())
    if isinstance(study, Study):
        if records is not None:
            from ogive.study.agent import check_records

            check_records(study, 1 if number is None else number, records)
    elif records is not None or state is not None or approve:
        raise ParameterError("only its participants approve this study; leave out --records and --state")
    print(in_words(study, number), end="")
    _warn_of_budget(study)
    if approve and isinstance(study, Study):
        from ogive.study.agent import approve as note
        from ogive.study.store import Store

        assert state is not None, "it was asked for above"
        store = Store(state)
        note(store, study)
        store.close()
        print(f"approved; {state} says so", file=sys.stderr)


@app.command
def serve(
    document: Document,
    *,
    key: Key,
    state: State,
    service: Annotated[Path, Parameter(help="Folder from ogive study keys --service.")],
    host: str = "127.0.0.1",
    port: Annotated[int, Parameter(converter=whole)] = 8443,
    step_seconds: float = 60.0,
    clients: bool = False,
    patience: float = 300.0,
) -> None:
    """Run the coordinator of a study of parties, or of people who meet in pairs, as a service over HTTPS.

    Args:
        document: The study.
        key: The coordinator's key.
        state: Where its state is kept.
        service: Certificate, key and tokens.
        host: Address to listen on.
        port: Port to listen on.
        step_seconds: How long a step waits for those who have not answered.
        clients: Accept only agents with a certificate of the study's authority.
        patience: Where people meet in pairs: seconds to wait until all are there; pairs begin then with those who are.
    """
    from ogive.study.document import PeopleStudy, Study, read_study
    from ogive.study.enrolment import load_key
    from ogive.study.https.service import serve as run

    if not step_seconds > 0 or not patience > 0:
        raise ParameterError("--step-seconds and --patience must be above 0")
    read = read_study(document)
    where: dict[str, Any] = {"key": load_key(key), "state": state, "folder": service, "host": host, "port": port}
    if isinstance(read, PeopleStudy):
        from ogive.study.pairs.service import serve as run_pairs

        run_pairs(read, patience=patience, **where)
    else:
        parties = read if isinstance(read, Study) else Study.read(document)
        run(parties, step_seconds=step_seconds, clients=clients, **where)


@app.command
def flower(
    document: Document,
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    connect: str = "https://127.0.0.1:8443",
    service: Path | None = None,
) -> None:
    """Write an app for Flower that carries a study between its service and the agents of its parties.

    Args:
        document: The study.
        output: Folder of the app; it must be new.
        connect: Address of the service, as the SuperLink's machine reaches it.
        service: Folder on the SuperLink's machine with ca.pem and the .token of each party; by default the folder
            service of the current one.
    """
    from ogive.study.document import Study
    from ogive.study.flower import write_app

    write_app(output, Study.read(document), url=connect, service=str((service or Path("service")).absolute()))
    print(
        f"wrote {output}; start Flower with the settings in {output}/environment: with these it sends no telemetry and "
        "looks for no updates, and the app refuses to run without them",
        file=sys.stderr,
    )


@app.command
def release(
    document: Document,
    name: Annotated[str, Parameter(help="Name of the release in the study.")],
    *,
    state: State,
    output: Annotated[Path | None, Parameter(name=("--output", "-o"))] = None,
    no_wait: bool = False,
    yes: bool = False,
) -> None:
    """Ask for a release of the study, and wait until it is released.

    The first release of a study of servers ends the uploads.

    Args:
        document: The study.
        name: The release.
        state: Where the coordinator, or the first server, keeps its state.
        output: File for the release, as JSON.
        no_wait: Only ask, and do not wait.
        yes: Do not ask whether uploads shall end.
    """
    from ogive.core.files import write_atomically
    from ogive.statistics.kinds import read_recorded
    from ogive.study.document import PeopleStudy, ServersStudy, read_study
    from ogive.study.store import OfServers, Store, check_state, request

    study = read_study(document)
    number = study.place_of(name)
    store = Store.existing(state)
    check_state(store, study)
    if isinstance(study, ServersStudy):
        with store.read() as entries:
            known = OfServers(study, entries)
            ends = known.closed is None and not known.is_requested(number)
        if ends:
            _confirm_end(study, name, yes=yes)
    if not isinstance(study, PeopleStudy):  # pairs begin by themselves
        request(store, study, name)
    released = _wait_for(study, number, store, no_wait=no_wait)
    if released is None:
        return
    if output is not None:
        write_atomically(output, json.dumps(released).encode())
    print(read_recorded(released))


def _confirm_end(study: ServersStudy, name: str, *, yes: bool) -> None:
    text = f"release {name} ends the uploads of study {study.name} for good (min_uploads: {study.min_uploads})"
    if yes or sys.stdin is None or not sys.stdin.isatty():
        print(text, file=sys.stderr)
        return
    print(f"{text}; go on? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RefusalError("nothing was asked for, and uploads go on")


def _wait_for(study: AnyStudy, number: int, store: Store, *, no_wait: bool) -> dict[str, Any] | None:
    """What a release comes to, with lines that say how far it is."""
    from ogive.study.document import PeopleStudy
    from ogive.study.store import in_the_sum, releases_of

    name = study.releases[number].name
    shown: set[str] = set()
    while True:
        with store.read() as entries:
            releases = releases_of(study, entries)
            refused, over, news = releases.refused(number), releases.over(number), releases.news(number)
            news = [line for line in news if line not in shown]
            result = _result(study, releases, number) if news else None
            row = releases.row(number, released=True)
        # an estimate takes time, in which a database may end a transaction that does nothing
        released = None if result is None else result()
        summed = "" if released is None else in_the_sum(row, _names(study))
        if refused is not None:
            raise RefusalError(f"release {name} is refused: {plain(refused)}")
        if over is not None:
            raise RefusalError(f"release {name} is over: {plain(over)}")
        if summed:
            print(f"release {name}: released, parties in the sum: {summed}", file=sys.stderr)
        if released is not None:
            return released
        if no_wait or not isinstance(study, PeopleStudy):
            for line in news:
                print(f"release {name}: {line}", file=sys.stderr)
        if no_wait:
            return None
        shown.update(news)
        time.sleep(_LOOK_SECONDS)


def _result(study: AnyStudy, releases: Releases, number: int) -> Callable[[], dict[str, Any] | None]:
    """What makes the result of a release, as plain data, of what is read here."""
    from ogive.study.document import PeopleStudy
    from ogive.study.store import OfParties

    if isinstance(releases, OfParties):
        stored = releases.result(number)
        return lambda: stored
    answers = releases.answers(number)

    def estimated() -> dict[str, Any] | None:
        if isinstance(study, PeopleStudy):
            from ogive.study.pairs.study import Meeting  # other studies need no circuits

            return Meeting.of(study).estimate(answers[0]).to_dict() if answers else None
        from ogive.study.course import estimate_of

        estimate = estimate_of(study, number, answers)
        return None if estimate is None else estimate.to_dict()

    return estimated


def _names(study: AnyStudy) -> list[str]:
    return [party.name for party in getattr(study, "parties", ())]


@app.command
def status(document: Document, *, state: State) -> None:
    """Say how far each release is, whose records it has, and why attempts ended.

    Args:
        document: The study.
        state: Where the coordinator keeps its state.
    """
    from ogive.study.document import read_study
    from ogive.study.store import OfServers, Store, check_state, in_the_sum, releases_of

    study = read_study(document)
    store = Store.existing(state)
    check_state(store, study)
    numbers = range(len(study.releases))
    with store.read() as entries:
        releases = releases_of(study, entries)
        servers = isinstance(releases, OfServers)  # for others their state says it
        open_ = [number for number in numbers if servers and releases.over(number) is None]
        results = {number: _result(study, releases, number) for number in open_}
    complete = [number in results and results[number]() is not None for number in numbers]
    with store.read() as entries:
        releases = releases_of(study, entries)
        rows = [releases.row(number, released=done) for number, done in zip(numbers, complete, strict=True)]
    for each in rows:
        step = f", query {each['query']}, attempt {each['attempt']}, step {each['step']}" if each.get("step") else ""
        summed = in_the_sum(each, _names(study))
        summed = f", parties in the sum: {summed}" if summed else ""
        print(f"{each['name']}: {each['state']}{step} ({each['privacy']}){summed}")
        for line, attempts in Counter(each.get("failed", [])).items():
            print(f"  {line}" + (f" ({attempts} attempts)" if attempts > 1 else ""))
        if each.get("reason"):
            print(f"  {each['reason']}")


# --- `ogive agent`


def agent(
    study: Document,
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
    from ogive.study.agent import Agent, Connection, check_records, is_approved, listen_at
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
    name, limit = (document.name, document.budget) if account is None else (account, None)
    paying = Ledger.open(place).account(name, unit=document.unit, limit=limit)
    party = Agent(document, records, key=own, store=store, account=paying)
    stop = threading.Event()
    if connect is not None:
        from ogive.study.enrolment import read_token

        if token is None:
            raise ParameterError("--connect needs --token, the file with your token")
        pair = None if certificate is None or certificate_key is None else (certificate, certificate_key)
        with Connection(
            connect, document.parties[number - 1].name, read_token(token), authority=authority, certificate=pair
        ) as connection:
            connection.run(party, stop)
    elif listen is not None:
        listen_at(listen, party, stop)


# --- `ogive server`


def server(
    study: Document,
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
    study: Document,
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
    if len(tokens) > 1:
        text = f"{new:,} records are uploaded" + (f"; {before:,} were before" if before else "")
    elif new:
        text = "the record is uploaded"
    else:
        text = "a record was uploaded with this token before; that one counts, and nothing has changed"
    print(text, file=sys.stderr)


def own_record(words: tuple[str, ...], words_from: Path | None, file: Path | None) -> Any:
    """A record by its words, by those in a file, or by a table; one of them is given."""
    if bool(words) + (words_from is not None) + (file is not None) != 1:
        raise ParameterError("name your record with --value or --value-from, or a table with --file")
    if words_from is not None:
        try:
            with words_from.open(encoding="utf-8-sig") as opened:
                text = opened.read(_LONGEST + 1)
        except (OSError, UnicodeDecodeError) as problem:
            reason = getattr(problem, "strerror", None) or "it is not text in UTF-8"
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
            "--value nan is not a value; a table of --file may lack one, where the study says what it means"
        )
    return result


# --- `ogive pair`


def pair(
    study: Document,
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
    from ogive.study.pairs.study import Meeting

    record = own_record(value, value_from, file)
    read = read_study(study)
    if not isinstance(read, PeopleStudy):
        raise ParameterError("this is not a study of people who meet in pairs; its trust must be pairs")
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
