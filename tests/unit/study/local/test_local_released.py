"""The estimate that a service of local reports shows: what its file holds now, and nothing that is no such estimate."""

import asyncio
import logging

import httpx
import numpy as np
import pytest
from helpers.local_service import LocalTrial

import ogive
from ogive.local import Collection
from ogive.study.local.service import NAME, LocalService, ReleasedFile


@pytest.fixture
def trial(tmp_path):
    return LocalTrial(tmp_path / "trial", people=60)


def estimate_of(trial, people):
    collection = Collection(trial.description)
    collection.add(b"".join(trial.reports[:people]))
    return ogive.estimate_collection(collection)


def test_the_pages_show_what_the_file_holds_now(trial, tmp_path):
    path = tmp_path / "ages.json"
    reports = trial.opened()
    service = LocalService(trial.description, reports, trial.participants(), ReleasedFile(path)).application()
    assert get(service, f"/releases/{NAME}").status_code == 404
    assert "<img" not in get(service, "/status").text
    shown = []
    for people in (30, 60):
        estimate = estimate_of(trial, people)
        estimate.to_json(path)
        shown.append(get(service, "/status").text)
        assert get(service, f"/v1/releases/{NAME}").json() == estimate.to_dict()
        assert get(service, f"/releases/{NAME}").status_code == 200
    assert all("<img" in page for page in shown)
    assert shown[0] != shown[1]
    assert get(service, "/releases/other").status_code == 404
    path.unlink()
    assert "<img" not in get(service, "/status").text
    reports.close()


def get(application, path):
    """What an application answers."""

    async def answer():
        transport = httpx.ASGITransport(app=application)
        async with httpx.AsyncClient(transport=transport, base_url="https://service") as client:
            return await client.get(path)

    return asyncio.run(answer())


def test_a_file_is_read_again_only_where_it_was_replaced(trial, tmp_path):
    path = tmp_path / "ages.json"
    estimate_of(trial, 30).to_json(path)
    released = ReleasedFile(path)
    first = released.pictured()[NAME]
    assert released.pictured()[NAME] is first
    estimate_of(trial, 60).to_json(path)
    assert released.pictured()[NAME] is not first


@pytest.mark.parametrize("kind", ["exact", "central", "damaged", "other"])
def test_what_is_no_estimate_of_local_reports_is_not_shown(kind, tmp_path, caplog):
    path, values = tmp_path / "ages.json", np.arange(100)
    if kind in ("exact", "central"):
        trust = ogive.trust.Clear if kind == "exact" else ogive.trust.Central
        options = {} if kind == "exact" else {"privacy": ogive.PureDP(1)}
        ogive.ecdf(values, bounds=(0, 120), bins=12, trust=trust, **options).to_json(path)
    else:
        path.write_text('{"schema": ' if kind == "damaged" else "[1]")
    released = ReleasedFile(path)
    with caplog.at_level(logging.WARNING):
        assert [released.pictured(), released.pictured(), released.find(NAME)] == [{}, {}, None]
    (line,) = [each.message for each in caplog.records if "is not shown" in each.message]
    assert "estimate" in line
