"""Every person a process of its own, a relay another, over sockets of this machine; and processes that are killed."""

import multiprocessing

import numpy as np
import pytest
from helpers.pairs_network import Processes, collector_of, study_of
from helpers.twoparty import gini_circuit

from ogive.crypto.twoparty import Step, is_extended, pair_bytes
from ogive.pairs import round_robin

pytestmark = pytest.mark.skipif(
    "forkserver" not in multiprocessing.get_all_start_methods(), reason="this machine has no server to fork from"
)

VALUES = [5, 60, 17, 33]
PAIRS = np.array([[0, 1], [2, 3], [0, 2], [1, 3], [2, 1]])


def differences(found):
    return {tuple(found.pairs[pair].tolist()): found.values(pair)["difference"] for pair in found.outputs}


def test_each_pair_is_two_processes_and_the_relay_carries_what_it_cannot_read():
    study = study_of(PAIRS, 4)
    with Processes(study, VALUES) as run:
        found = run.collect(collector_of(study))
        carried = run.carried()
        given = run.given()
    assert differences(found) == {(0, 1): 55, (2, 3): 16, (0, 2): 12, (1, 3): 27, (2, 1): 43}
    assert not found.lost
    assert given == {0: 2, 1: 3, 2: 3, 3: 2}
    sizes = pair_bytes(study.circuits[2])
    assert len(carried) == len(PAIRS) * sum(sizes.values())
    # openings are in the clear; of all else but headers no byte is likelier than another: 5 deviations of each
    sealed = b"".join(bodies(carried))
    counts = np.bincount(np.frombuffer(sealed, np.uint8), minlength=256)
    assert len(sealed) == len(carried) - len(PAIRS) * (sizes[Step.INVITE] + sizes[Step.HELLO] + 4 * 84)
    assert np.all(np.abs(counts - len(sealed) / 256) < 5.5 * np.sqrt(len(sealed) / 256))


def bodies(carried):
    """The sealed bodies of messages one after the other."""
    while carried:
        length = int.from_bytes(carried[76:84], "little")
        signed = carried[5] in (Step.INVITE, Step.HELLO)
        if not signed:
            yield carried[84 : 84 + length]
        carried = carried[84 + length + 64 * signed :]


def test_noise_is_drawn_by_both_processes_also_where_transfers_are_extended():
    circuit = gini_circuit(6, digits=7, precision=20)
    study = study_of(np.array([[0, 1]]), 2, circuits={1: circuit})
    assert is_extended(study.settings(0, np.array([0, 1])).circuit)
    with Processes(study, VALUES[:2]) as run:
        found = run.collect(collector_of(study))
    assert abs(found.values(0)["noisy"] - 55) <= 1 << 7
    assert not found.lost


@pytest.mark.parametrize("messages", [0, 2, 3, 5], ids="after {} messages".format)
def test_a_process_that_is_killed_costs_no_other_pair_anything(messages):
    """User 1 is killed before its hello, after it, after its part of the first pair, and in the middle of another."""
    values = [5, 60, 17, 33, 48, 2]
    design = round_robin(6, 3, seed=b"kill").pairs
    study = study_of(design, 6)
    with Processes(study, values, dies_after={1: messages}) as run:
        found = run.collect(collector_of(study))
        given = run.given()
    assert found.gone.tolist() == [False, True, False, False, False, False]
    assert 1 not in given
    opened = differences(found)
    assert all(value == abs(values[first] - values[second]) for (first, second), value in opened.items())
    assert {tuple(ends) for ends in design.tolist() if 1 not in ends} <= set(opened)
    assert all(1 in found.pairs[pair] for pair in found.lost)
    assert all(halves <= 3 for halves in given.values())
    # whoever lost the killed one before their pair had begun meets another of these, and that pair is opened
    assert len(found.pairs) - len(design) <= 1
    assert set(range(len(design), len(found.pairs))) <= set(found.outputs)
