"""A study on one machine is complete when every party has read the result, and not when it was just published."""

import pytest
from helpers.study import text_of

from ogive.demo import banks as loopback
from ogive.study.document import Study
from ogive.study.store import OfParties, Progress, Store


@pytest.fixture
def told(tmp_path, monkeypatch):
    """A study whose release is published, and is to be read by its parties, right after each look at it."""
    path = tmp_path / "coordinator.db"
    store, other = Store(path), Store(path)
    study = object.__new__(loopback.Loopback)
    study._store, study.study = store, Study.parse(text_of())

    def looked(look):
        def looking(releases, number):
            found = look(releases, number)
            with other.write() as kept:
                OfParties(study.study, kept).publish(number, Progress("released"), {"published": True})
            return found

        return looking

    for name in ("result", "unread"):
        monkeypatch.setattr(loopback.OfParties, name, looked(getattr(OfParties, name)))
    yield study
    store.close()
    other.close()


def test_a_release_that_is_published_between_two_looks_is_not_complete(told):
    assert not told.is_complete("age")
    assert not told.is_complete("age")


def test_it_is_complete_when_nobody_has_it_left_to_read(told, monkeypatch):
    told.is_complete("age")
    monkeypatch.setattr(loopback.OfParties, "unread", lambda releases, number: ())
    assert told.is_complete("age")
