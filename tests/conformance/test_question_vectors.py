"""Questions are called what they were called in November 2026, and a secret gives the noise that it gave."""

import json

import pytest
from vectors.make_questions import FILE, asked, cases

CASES = cases()
KEPT = json.loads(FILE.read_text())


def test_every_question_is_kept():
    assert KEPT.keys() == CASES.keys()


@pytest.mark.parametrize("name", KEPT)
def test_a_question_and_its_noise_are_what_they_were(name):
    assert asked(*CASES[name]) == KEPT[name]


def test_another_question_has_another_digest_and_another_noise():
    """The control: a question that differs in one option."""
    one, other = KEPT["central ecdf tree_ls PureDP"], KEPT["central ecdf path PureDP"]
    assert one["digest"] != other["digest"]
    assert one["first"] != other["first"]
