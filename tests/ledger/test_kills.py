"""Releases are killed for real, at every step and at random times, and the budget is neither lost nor refilled.

One trial asks a new question, kills the process that answers it at least once (most of the time more often)
and asks again until it is answered. It fails if the spend ever falls, is charged twice or is missing after
noise was drawn, if two attempts draw different noise, or if a secret outlives its release.
KILL_TRIALS=1000 makes the series longer; `make test` has a part of what `make test-all` has.
"""

import os
import random

import pytest
from helpers.postgres import server
from helpers.scope import size
from helpers.trial_children import STEPS
from helpers.trials import kill_trials


@pytest.mark.slow
def test_kills_neither_refill_nor_leak(place, program):
    trials = int(os.environ.get("KILL_TRIALS", size(80, part=24)))
    seconds = 0.12 if place.startswith("postgresql") else 0.06
    found = kill_trials(program, place, trials=trials, seed=1, seconds=seconds)
    print(f"{found.trials} trials, {found.kills} kills, {found.resumed} resumed with noise: {found.steps}")
    assert not found.faults, found.faults[:5]
    assert found.trials == trials
    assert found.kills >= trials * 3 // 4
    assert set(STEPS) <= set(found.steps)
    assert found.resumed >= trials // 10


def test_a_ledger_whose_maker_is_killed_is_made_by_the_next(place, program, tmp_path):
    chance = random.Random(3)
    killed, ledgers = 0, size(20, part=10)
    for number in range(ledgers):
        fresh = server().database() if place.startswith("postgresql") else str(tmp_path / f"fresh-{number}.db")
        request = {"task": "open", "place": fresh}
        status, _ = program.run(request, kill_after=chance.uniform(0, 0.015))
        killed += os.WIFSIGNALED(status)
        (first, one), (second, other) = program.run(request), program.run(request)
        assert first == second == 0, (one, other)
        assert one == other
        assert [kind for kind, _ in one] == ["opened"]
    assert killed >= ledgers // 5


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("spoiled", "fault"),
    [
        ("forgets the secret", "different noise"),
        ("charges every attempt", "charged more than once"),
        ("commits late", "nothing is charged"),
    ],
)
def test_a_broken_ledger_does_not_pass(place, program, spoiled, fault):
    found = kill_trials(program, place, trials=40, seed=2, spoiled=spoiled)
    assert any(fault in text for text in found.faults)
