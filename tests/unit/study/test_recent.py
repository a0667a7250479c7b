"""What strangers ask services for is read from the disk once a second, however many ask."""

import asyncio
import threading
import types

import httpx
import pytest
from helpers.people_study import Serving, study_of
from helpers.servers_study import AGE, Trial
from starlette.applications import Starlette

from ogive.errors import LedgerError
from ogive.study.https import connections, pages
from ogive.study.https.connections import Recent
from ogive.study.https.pages import Shell
from ogive.study.servers.service import ServerService


def test_many_who_ask_at_once_get_one_value_and_a_second_later_another(monkeypatch):
    clock, found = types.SimpleNamespace(now=7.0), []
    monkeypatch.setattr(connections, "time", types.SimpleNamespace(monotonic=lambda: clock.now))

    def find():
        found.append(threading.get_ident())
        return len(found)

    async def ask(count):
        return await asyncio.gather(*(value.get() for _ in range(count)))

    async def ask_again():
        first = await ask(50)
        clock.now += 0.999
        second = await ask(2)
        clock.now += 0.001
        return first, second, await ask(3)

    value = Recent(find)
    assert asyncio.run(ask_again()) == ([1] * 50, [1, 1], [2, 2, 2])
    assert threading.get_ident() not in found


def test_what_cannot_be_read_is_said_and_tried_again():
    outcomes = [LedgerError("away"), 7]

    def find():
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    value = Recent(find)
    with pytest.raises(LedgerError, match="away"):
        asyncio.run(value.get())
    assert asyncio.run(value.get()) == 7


def counted(monkeypatch, target, name):
    """How often a method is called, as a list that grows."""
    calls, method = [], getattr(target, name)

    def call(*arguments):
        calls.append(name)
        return method(*arguments)

    monkeypatch.setattr(target, name, call)
    return calls


def statuses(application, paths):
    async def read():
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="https://server") as client:
            return [(await client.get(path)).status_code for path in paths]

    return asyncio.run(read())


def test_a_server_opens_state_and_ledger_once_for_all_strangers(tmp_path, monkeypatch):
    monkeypatch.setattr(connections, "SECONDS", 60.0)
    with Trial(tmp_path, people=4, releases=(AGE,), records=4) as trial:
        reads, spent = counted(monkeypatch, trial.stores[0], "read"), counted(monkeypatch, trial.nodes[0], "spent")
        application = ServerService(trial.nodes[0], trial.leader).application()
        paths = ["/", "/v1/status", "/metrics", "/health"]
        assert statuses(application, paths) == [200] * 4
        once = len(reads), len(spent)
        assert statuses(application, 10 * paths) == [200] * 40
        assert (len(reads), len(spent)) == once
        assert once[1] == 1


def test_the_page_of_a_release_is_made_once_and_anew_where_another_was_released(tmp_path, monkeypatch):
    with Trial(tmp_path, people=4, releases=(AGE,), records=4) as trial:
        trial.upload({"age": [20, 30, 40, 50]})
        found = trial.release().to_dict()
    given = [found]
    made = counted(monkeypatch, pages, "release_page")
    shell = Shell(b"")
    shell.result = lambda name: given[0] if name == "age" else None
    application = Starlette(routes=shell.routes())
    assert statuses(application, [*3 * ["/releases/age"], "/releases/other"]) == [200, 200, 200, 404]
    assert len(made) == 1
    given[0] = found | {"column": "years"}
    assert statuses(application, 2 * ["/releases/age"]) == [200, 200]
    assert len(made) == 2


def test_a_service_of_people_opens_its_state_once_for_all_strangers(tmp_path, monkeypatch):
    monkeypatch.setattr(connections, "SECONDS", 60.0)
    serving = Serving(tmp_path, study_of())
    reads = counted(monkeypatch, serving.store, "read")
    application = serving.service.application()
    try:
        assert statuses(application, 10 * ["/", "/v1/status"]) == [200] * 20
        assert len(reads) == 1
    finally:
        serving.store.close()
