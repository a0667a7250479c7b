"""Random damages of everything that ogive stores, sends and reads: each opens right or gives its documented error.

No case takes over 5 s of processor time or over 500 MB. `pytest -s tests/damage` prints how many there were of each;
`make test` has a sixteenth of them, or 24, and of ledgers half as many.
"""

import itertools
import json
import time
from collections import Counter

import numpy as np
import pytest
from helpers import damage
from helpers import damage_samples as samples
from helpers.damage import FoundError, Kind, outcomes, spoil_bytes
from helpers.scope import size

from ogive.errors import DataError
from ogive.ledger import entries
from ogive.pate import votes as reading

SEED = 20


@pytest.fixture(autouse=True)
def _own_keys(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("OGIVE_LEDGER_KEY", raising=False)


@pytest.mark.parametrize("name", samples.KINDS)
def test_damages_are_seen_or_do_no_harm(name):
    full, make = samples.KINDS[name]
    part = max(full // 16, 24)
    count = size(full, part=part // 2 if "ledgers" in name else part)
    found = outcomes(make(), count, SEED)
    assert found.total() == count
    print(
        f"\n{name:28} {count:6} cases: {found['right']:5} opened right",
        *(f", {n} {e}" for e, n in found.items() if e != "right"),
    )


def test_there_are_ten_thousand_damages_of_every_kind():
    assert sum(count for count, _ in samples.KINDS.values()) >= 10_000
    assert all(count >= 50 for count, _ in samples.KINDS.values())


# --- controls: what is wrong is found


def test_a_ledger_that_trusts_its_columns_is_found(monkeypatch):
    kind = samples.ledgers(samples.spoil_field)
    monkeypatch.setattr(entries, "_object", lambda text, what: json.loads(text))
    with pytest.raises(FoundError, match="spoil_field with seed"):
        outcomes(kind, 400, SEED)


def test_votes_that_are_read_by_numpy_alone_are_found(monkeypatch):
    kind = samples.votes("npy", "npz")

    def trusting(path, name):
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            return loaded if isinstance(loaded, np.ndarray) else loaded[loaded.files[0]]

    monkeypatch.setattr(reading, "read_array", trusting)
    with pytest.raises(FoundError):
        outcomes(kind, 800, SEED)


def opened_by(act, errors=(DataError,)):
    """A kind of which the undamaged opens, and everything else is left to a function."""
    return Kind([b"right"], spoil_bytes, lambda data: None if data == b"right" else act(data), errors)


def test_what_hangs_is_found():
    with pytest.raises(FoundError, match="took too long"):
        outcomes(opened_by(lambda data: time.sleep(3000)), 1, SEED, seconds=0.02)
    with pytest.raises(FoundError, match="took too long"):
        outcomes(opened_by(lambda data: all(True for _ in itertools.repeat(True))), 1, SEED, seconds=0.2)


@pytest.mark.skipif(not damage.BOUNDED, reason="memory can be bounded on Linux alone")
def test_what_takes_too_much_memory_is_found():
    with pytest.raises(FoundError, match="MemoryError"):
        outcomes(opened_by(lambda data: bytes((damage.MEGABYTES + 100) << 20)), 1, SEED)


def test_errors_of_two_lines_and_of_another_kind_are_found():
    def lines(data):
        raise DataError("one\ntwo")

    def other(data):
        raise KeyError("field")

    with pytest.raises(FoundError, match="not one line"):
        outcomes(opened_by(lines), 1, SEED)
    with pytest.raises(FoundError, match="KeyError"):
        outcomes(opened_by(other), 1, SEED)


def test_damages_differ_and_come_back_by_their_seed():
    seen = Counter(spoil_bytes(damage.random.Random(seed), bytes(200)) for seed in range(1000))
    assert len(seen) > 600
    assert seen == Counter(spoil_bytes(damage.random.Random(seed), bytes(200)) for seed in range(1000))
