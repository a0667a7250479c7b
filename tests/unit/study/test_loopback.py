"""A study on one machine is complete when every party has read the result, and not when it was just published."""

import pytest

from ogive.demo import banks as loopback
from ogive.study.store import Store


@pytest.fixture
def told(tmp_path, monkeypatch):
    """A study whose release is published, and is to be read by one party, right after each look at it."""
    path = tmp_path / "coordinator.db"
    store, other = Store(path), Store(path)
    study = object.__new__(loopback.Loopback)
    study._store, study.study = store, None

    def looked(found):
        with other.write() as kept:
            kept.put("result", b"published")
            kept.put("untold/0/1", b"")
        return found

    monkeypatch.setattr(loopback, "progress", lambda kept, _: {})
    monkeypatch.setattr(loopback, "result", lambda kept, *_: looked(kept.get("result")))
    monkeypatch.setattr(loopback, "unread", lambda kept, *_: looked(tuple(kept.names("untold/0/"))))
    yield study
    store.close()
    other.close()


def test_a_release_that_is_published_between_two_looks_is_not_complete(told):
    assert not told.is_complete("roc")
    assert not told.is_complete("roc")


def test_it_is_complete_when_nobody_has_it_left_to_read(told, monkeypatch):
    told.is_complete("roc")
    monkeypatch.setattr(loopback, "unread", lambda kept, *_: ())
    assert told.is_complete("roc")
