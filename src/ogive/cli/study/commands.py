"""`ogive study`: write a study, make keys, read and approve it, run its coordinator, ask for releases."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from ogive.cli.converters import whole
from ogive.cli.options.common import Words
from ogive.errors import ParameterError, RefusalError, plain

app = App(name="study", help="Release statistics of several organizations that keep their rows.")

Document = Annotated[Path, Parameter(help="The file of the study.")]
Key = Annotated[Path, Parameter(help="File of a private key, from ogive study keys.")]
State = Annotated[str, Parameter(help="File of the protocol state; of a coordinator also postgresql://USER@HOST/DB.")]


@app.command
def new(
    document: Document,
    *,
    name: str,
    coordinator: str,
    party: Words,
    records: Annotated[int, Parameter(converter=whole)],
    trust: Literal["secagg", "merge"] = "secagg",
) -> None:
    """Write the file of a study with one release, to be edited.

    Args:
        document: The file to write; one that is there is kept.
        name: Name of the study.
        coordinator: Public key of the coordinator, as ogive study keys prints it.
        party: Name and public key of each party, as NAME=ed25519:...
        records: How many records all parties have together, about.
        trust: secagg opens sums alone; merge adds up curves that each party releases by itself.
    """
    from ogive.study.keys import write_new
    from ogive.study.template import template

    named = [each.partition("=")[::2] for each in party]
    for each, key in named:
        if not key:
            raise ParameterError(f"--party takes NAME=KEY, such as north=ed25519:..., got {plain(each)}")
        if sum(other == each for other, _ in named) > 1:
            raise ParameterError(f"two parties have the name {plain(each)}")
    text = template(name, coordinator=coordinator, parties=dict(named), records=records, trust=trust)
    write_new(document, text.encode())
    print(f"wrote {document}; edit its releases, then send the file to every party", file=sys.stderr)


@app.command
def keys(
    key: Annotated[Path | None, Parameter(help="File to write a private key to.")] = None,
    *,
    service: Path | None = None,
    study: Path | None = None,
    host: Words = (),
    clients: bool = False,
) -> None:
    """Make a key pair and print its public half, or what the service of a study needs.

    Args:
        key: The file of the private key of a party or of the coordinator.
        service: Folder for a certificate authority, the certificate of the service, and a token for each party.
        study: The study of the service.
        host: Names and addresses under which the service is reached.
        clients: Issue a certificate to each party, too, for services that ask for one.
    """
    if (key is None) == (service is None):
        raise ParameterError("name the file of a new key, or a folder with --service")
    if key is not None:
        from ogive.study.fields import key_text
        from ogive.study.keys import make_key

        print(key_text(make_key(key).public_key().public_bytes_raw()))
        return
    if study is None or not host:
        raise ParameterError("--service needs --study FILE and --host NAME")
    assert service is not None
    from ogive.study.document import Study
    from ogive.study.https.enrolment import equip

    read = Study.read(study)
    equip(service, read, hosts=host, clients=clients)
    print(
        f"{service}: give ca.pem and its own .token to each party; keep ca.key, service.key and tokens", file=sys.stderr
    )


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
        records: Your records; that they have the columns is checked.
        key: Your key; says which party you are.
        state: The file in which your agent keeps its state; it notes your approval.
        approve: Approve exactly this study. An agent runs no other.
    """
    from ogive.study.agent import approve as note
    from ogive.study.document import Study
    from ogive.study.keys import load_key
    from ogive.study.store import Store
    from ogive.study.words import in_words

    if approve and (records is None or key is None or state is None):
        raise ParameterError("to approve a study, name your --records, your --key and the --state of your agent")
    study = Study.read(document)
    number = None if key is None else study.number_of(load_key(key).public_key().public_bytes_raw())
    if records is not None:
        from ogive.study.own import check_records

        check_records(study, 1 if number is None else number, records)
    print(in_words(study, number), end="")
    if approve:
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
) -> None:
    """Run the coordinator of a study as a service over HTTPS.

    Args:
        document: The study.
        key: The coordinator's key.
        state: Where its state is kept.
        service: Certificate, key and tokens.
        host: Address to listen on.
        port: Port to listen on.
        step_seconds: How long a step waits for those who have not answered.
        clients: Accept only agents with a certificate of the study's authority.
    """
    from ogive.study.document import Study
    from ogive.study.https.serving import serve as run
    from ogive.study.keys import load_key

    if not step_seconds > 0:
        raise ParameterError("--step-seconds must be above 0")
    run(
        Study.read(document),
        key=load_key(key),
        state=state,
        folder=service,
        host=host,
        port=port,
        step_seconds=step_seconds,
        clients=clients,
    )


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
    from ogive.study.flower.app import write_app

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
) -> None:
    """Ask the coordinator for a release, and wait until it is released.

    Args:
        document: The study.
        name: The release.
        state: Where the coordinator keeps its state.
        output: File for the release, as JSON.
        no_wait: Only ask, and do not wait.
    """
    from ogive.files import write_atomically
    from ogive.statistics.kinds import read_recorded
    from ogive.study.coordinator import progress, request, result
    from ogive.study.document import Study
    from ogive.study.frames import Stage
    from ogive.study.store import Store

    study = Study.read(document)
    store = Store(state)
    with store.write() as kept:
        request(kept, study, name)
    said = ""
    while True:
        with store.read() as kept:
            found, released = progress(kept, study)[name], result(kept, study, name)
        if released is not None:
            break
        if found.state == "over":
            raise RefusalError(f"release {name} is over: {plain(found.reason)}")
        line = f"release {name}: {found.state}"
        if found.state == "running":
            line += f", query {found.query + 1}, attempt {found.attempt + 1}, step {Stage(found.stage).word}"
        if line != said:
            print(line, file=sys.stderr)
            said = line
        if no_wait:
            return
        time.sleep(0.2)
    if output is not None:
        write_atomically(output, json.dumps(released).encode())
    print(read_recorded(released))


@app.command
def status(document: Document, *, state: State) -> None:
    """Say how far each release is, what it waits for, and why attempts ended.

    Args:
        document: The study.
        state: Where the coordinator keeps its state.
    """
    from ogive.study.coordinator import progress
    from ogive.study.document import Study
    from ogive.study.status import told
    from ogive.study.store import Store

    study = Study.read(document)
    store = Store.existing(state)
    with store.read() as kept:
        found = told(study, progress(kept, study), seen={})
    for each in found["releases"]:
        step = f", query {each['query']}, attempt {each['attempt']}, step {each['step']}" if each.get("step") else ""
        print(f"{each['name']}: {each['state']}{step} ({each['privacy']})")
        for line in [*each.get("failed", []), *([each["reason"]] if each.get("reason") else [])]:
            print(f"  {line}")
