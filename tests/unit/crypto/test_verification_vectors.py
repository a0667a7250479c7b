"""Uploads and messages that must be refused, one defect each, made by a script; and those without it, which are not."""

import json

import pytest
from helpers.verifying import STUDY, check_servers
from vectors.make_verification import CLAIM, FILE, ROUNDS, SHAPE, at, batches, received, uploaded, vectors

from ogive.crypto.tables import ShareBatch
from ogive.errors import PeerError

VECTORS = json.loads(FILE.read_text())


def read(data, server=1):
    return ShareBatch.from_bytes(data, shape=SHAPE, study=STUDY, server=server, servers=2)


def test_the_file_is_what_the_script_writes():
    assert vectors() == VECTORS


@pytest.mark.parametrize("name", VECTORS["uploads"])
def test_false_uploads_are_read_and_found_out(name):
    pair = [read(bytes.fromhex(data), server) for server, data in enumerate(VECTORS["uploads"][name])]
    assert check_servers(CLAIM, pair)[0].tolist() == [False]


def test_uploads_without_a_defect_are_accepted():
    for cell in range(4):
        pair = [read(data, server) for server, data in enumerate(uploaded([int(cell == j) for j in range(4)]))]
        assert check_servers(CLAIM, pair)[0].tolist() == [True]
    assert check_servers(CLAIM, batches())[0].tolist() == [True]


@pytest.mark.parametrize("name", VECTORS["batches"])
def test_bad_batches_are_refused(name):
    case = VECTORS["batches"][name]
    with pytest.raises(PeerError, match=case["refused"]):
        read(bytes.fromhex(case["message"]))


@pytest.mark.parametrize("turn", ROUNDS)
def test_bad_messages_are_refused_and_good_ones_taken_after_them(turn):
    take = at(turn)
    for case in VECTORS[turn].values():
        with pytest.raises(PeerError, match=case["refused"]) as refusal:
            take([bytes.fromhex(case["message"])])
        assert "\n" not in str(refusal.value)
    assert len(take([received()[turn]])) == 1
