"""What `make test` leaves out is covered by pairs, is counted, and runs in `make test-all`; runs are resumed."""

import itertools
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from helpers.scope import covering, label, spread
from helpers.waiting import PATIENCE

TESTS = Path(__file__).parents[1]
CONFTEST = 'pytest_plugins = ["helpers.scope"]\n'
MODULE = """
import os
from pathlib import Path

import pytest
from helpers.scope import size

SIZE = size(400, part=40)


@pytest.mark.covering("number")
@pytest.mark.parametrize("third", "uvw")
@pytest.mark.parametrize("second", "xyz")
@pytest.mark.parametrize(("first", "number"), [(letter, number) for letter in "abc" for number in range(4)])
def test_product(first, number, second, third):
    with Path("cases.txt").open("a") as file:
        print(first, number, second, third, file=file)


@pytest.mark.each_value(second=lambda letter: letter if letter == "x" else "other")
@pytest.mark.parametrize("second", "xyz")
@pytest.mark.parametrize("first", "abcd")
def test_costly(first, second):
    with Path("costly.txt").open("a") as file:
        print(first, second, file=file)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("number", range(7))
def test_alike(number):
    with Path("alike.txt").open("a") as file:
        print(number, file=file)


@pytest.mark.everything
def test_large():
    assert SIZE == 400


def test_small():
    assert Path("size.txt").write_text(str(SIZE))


def test_needs_something():
    if not Path("something").exists():
        pytest.skip("there is nothing")
    assert Path("something").read_text() != "wrong"
"""


@pytest.fixture
def run(tmp_path):
    """Runs pytest in a folder with the module above; returns its exit status and what it printed."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_module.py").write_text(MODULE)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS"):
        environment.pop(name, None)

    def go(*words, jobs=0):
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", str(jobs), *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return done.returncode, done.stdout

    return go


def cases(tmp_path):
    """The cases of the product that ran, and an empty list of them for the next run."""
    path = tmp_path / "cases.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return [tuple(line.split()) for line in lines]


def test_pairs_and_named_values_are_covered_and_the_rest_is_left_to_everything(run, tmp_path):
    status, text = run(jobs=2)
    some = cases(tmp_path)
    assert status == 0
    assert (tmp_path / "size.txt").read_text() == "40"
    left = 109 + 8 + 4 - len(some)
    assert f"left to `make test-all`: {left} tests of 4 functions, and the full size, or all cases, at 1 places" in text
    for one, other in itertools.combinations((0, 2, 3), 2):
        assert len({(case[one], case[other]) for case in some}) == 9
    assert {case[:2] for case in some} == {(letter, str(number)) for letter in "abc" for number in range(4)}
    assert 12 <= len(some) <= 20
    assert sorted((tmp_path / "alike.txt").read_text().split()) == ["0", "3", "6"]
    assert sorted((tmp_path / "costly.txt").read_text().splitlines()) == ["a x", "b y", "c x", "d y"]
    status, text = run("--everything")
    assert status == 0
    assert (tmp_path / "size.txt").read_text() == "400"
    assert len(set(cases(tmp_path))) == 108
    assert "left to" not in text


def test_what_was_skipped_or_not_reached_runs_later_and_nothing_twice(run, tmp_path):
    words = ("--everything", "--record", "out/record", "--unfinished", "out/record")
    status, text = run(*words, "--maxfail", "1")
    assert status == 0
    assert "129 passed, 1 skipped" in text
    assert "1 skipped, 129 deselected" in run(*words)[1]
    (tmp_path / "something").write_text("wrong")
    status, text = run(*words)
    assert status == 1
    assert "1 failed, 129 deselected" in text
    (tmp_path / "something").write_text("right")
    with (tmp_path / "out" / "record").open("a") as file:
        file.write('["passed", "test_mod')  # a run that was killed
    assert "1 passed, 129 deselected" in run(*words)[1]
    status, text = run(*words, jobs=1)
    assert status == 0
    assert "passed" not in text
    assert len(cases(tmp_path)) == 108


def test_a_covering_has_every_pair_of_an_incomplete_product_and_is_always_the_same():
    product = [case for case in itertools.product(range(4), "abc", (True, False)) if case[:2] != (3, "c")]
    chosen = covering(product)
    assert chosen == covering(product)
    assert len(chosen) <= 12
    for one, other in ((0, 1), (0, 2), (1, 2)):
        pairs = {(case[one], case[other]) for case in product}
        assert {(product[number][one], product[number][other]) for number in chosen} == pairs
    # the control: without one of the chosen cases some pair is missing
    for dropped in chosen:
        rest = [product[number] for number in chosen if number != dropped]
        assert any(
            {(case[one], case[other]) for case in rest} != {(case[one], case[other]) for case in product}
            for one, other in ((0, 1), (0, 2), (1, 2))
        )


def test_a_spread_has_every_value_and_each_of_a_parameter_about_as_often():
    product = list(itertools.product(range(8), "ab", (True, False)))
    chosen = [product[number] for number in spread(product)]
    assert [case[0] for case in chosen] == [*range(8)]
    for place in (1, 2):
        assert sorted(Counter(case[place] for case in chosen).values()) == [4, 4]
    # the control: without one of the chosen cases some value is missing
    assert len({case[0] for case in chosen[1:]}) == 7
    assert spread([]) == []


def test_labels_are_plain_values_names_or_kinds():
    assert label(3) == 3
    assert label(int) is int
    assert label(re.compile("x")) == "Pattern"
    assert label(type("Named", (), {"name": "ecdf"})()) == "ecdf"
