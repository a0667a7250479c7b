"""Messages that must be refused, one defect each, made by a script; and the same messages without it, which are not."""

import json
from collections import Counter

import pytest
from vectors.make_aggregation import FILE, session_at, vectors

from ogive.crypto.aggregation import Round
from ogive.errors import PeerError

VECTORS = json.loads(FILE.read_text())


def test_the_file_is_what_the_script_writes():
    assert vectors() == VECTORS
    assert len({each["message"] for each in VECTORS.values()}) > len(VECTORS) - 25, "but for messages that are empty"
    assert Counter(each["to"] for each in VECTORS.values()).keys() == {"party", "server"}


@pytest.mark.parametrize("to", ["party", "server"])
@pytest.mark.parametrize("step", [each.name.lower() for each in Round])
def test_every_defect_is_refused_and_the_message_without_it_is_not(to, step):
    session = session_at(Round[step.upper()])
    chosen = {name: each for name, each in VECTORS.items() if (each["to"], each["step"]) == (to, step)}
    assert chosen or (to, step) == ("party", "keys"), "parties begin without a message"
    take = session.server.receive if to == "server" else lambda data: session.answer(1, data)
    answers = session.answers() if to == "server" else {}
    for name, each in chosen.items():
        with pytest.raises(PeerError) as refusal:
            take(bytes.fromhex(each["message"]))
        words = str(refusal.value)
        assert any(part in words for part in each["refused"].split("|")), f"{name}: {words}"
        assert "\n" not in words
    if to == "server":
        assert [take(data) for data in answers.values()] == [1, 2, 3]
        session.close()
    elif chosen:
        session.step()
