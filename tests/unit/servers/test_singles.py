"""Messages of single clients as rows: many of them are one message, whoever sent another one is left out alone."""

import numpy as np
import pytest
from helpers.serving import BINNING, SESSION, SUMS_OF_GROUPS, bytes_of, collected

from ogive.crypto.wire import HEADER_BYTES
from ogive.queries import Ballots
from ogive.records.contributions import Contributions
from ogive.trust.servers.clients import Parts, Singles, upload

AGGREGATES = {"keys": BINNING, "tables": BINNING, "amounts": SUMS_OF_GROUPS, "votes": Ballots(("a", "b", "c"), 4)}


def settings_of(name, servers=2, verified=True):
    return collected(
        "keys" if name == "keys" else "tables", servers=servers, verified=verified, aggregate=AGGREGATES[name]
    )


def cast(name, clients, seed=1):
    rng = np.random.default_rng(seed)
    match name:
        case "votes":
            return Contributions(rng.integers(0, 4, (clients, 3)))
        case "amounts":
            return Contributions(rng.integers(0, 2 * SUMS_OF_GROUPS.shape[1], clients), rng.integers(0, 5, clients))
    return Contributions(rng.integers(0, 13, clients))


def uploaded(settings, contributions, seed=5):
    return upload(settings, contributions, batch=0, session=SESSION, random=bytes_of(seed))


@pytest.mark.parametrize(
    ("name", "servers", "verified"),
    [(name, *several) for name in AGGREGATES for several in [(2, True), (2, False), (3, True)][: 2 + (name != "keys")]],
)
def test_rows_are_the_messages_of_single_clients_and_become_one_message_again(name, servers, verified):
    settings = settings_of(name, servers, verified)
    messages = uploaded(settings, cast(name, 7))
    for server, message in enumerate(messages):
        singles = Singles(settings, server, SESSION)
        rows = singles.rows(message, 7)
        assert rows.shape == (7, singles.length)
        assert singles.message(rows) == message
        assert singles.alike(rows).all()
        whole = Parts.read(message[HEADER_BYTES:], settings, server, SESSION)
        names = whole.names(SESSION)
        for client, row in enumerate(rows):
            one = Parts.read(row.tobytes()[HEADER_BYTES:], settings, server, SESSION)
            assert one.clients == 1
            assert (one.names(SESSION) == names[client]).all()


@pytest.mark.parametrize("name", AGGREGATES)
def test_a_message_of_one_client_is_a_row(name):
    settings = settings_of(name)
    for server, message in enumerate(uploaded(settings, cast(name, 1))):
        singles = Singles(settings, server, SESSION)
        assert len(message) == singles.length
        assert singles.alike(np.frombuffer(message, np.uint8)[np.newaxis]).all()


def test_what_does_not_belong_here_is_not_alike():
    settings = settings_of("keys")
    singles = Singles(settings, 1, SESSION)
    rows = singles.rows(uploaded(settings, cast("keys", 5))[1], 5)
    rows[1, 3] ^= 1  # the front of the header
    rows[3, HEADER_BYTES + 2] ^= 1  # the length of a part
    assert singles.alike(rows).tolist() == [True, False, True, False, True]
    other = Singles(settings, 1, bytes([1]) * 16)
    assert not other.alike(rows).any()


@pytest.mark.parametrize("bad", [[], [0], [4], [1, 2], [0, 3, 4], [0, 1, 2, 3, 4]])
def test_rows_that_cannot_be_read_are_left_out_alone(bad):
    settings = settings_of("tables")
    singles = Singles(settings, 1, SESSION)
    rows = singles.rows(uploaded(settings, cast("tables", 5))[1], 5)
    explicit = singles.length - 8 - 32 - 8  # the last number of the material
    for client in bad:
        rows[client, explicit : explicit + 8] = 255
    good = [client for client in range(5) if client not in bad]
    assert (singles.good(rows) == rows[good]).all()
    assert len(singles.good(rows)) == len(good)
