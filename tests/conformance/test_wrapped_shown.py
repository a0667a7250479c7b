"""Whatever can be asked of groups or of a subset can be shown in every form: it is refused before it is paid, or never.

Each example of each statistic stands alone, in groups, under a condition, and in groups under a condition.
"""

import copy
import pickle

import numpy as np
import pytest
from helpers.examples import EXAMPLES
from helpers.few_simulations import simulate_little
from matplotlib import pyplot as plt

import ogive
from ogive import Adjacency, Clear, PureDP, release
from ogive.errors import ParameterError, UnsupportedError
from ogive.report.page import chapter_of
from ogive.statistics import Grouped, Subset
from ogive.statistics.kinds import read_estimate

WRAPPED = {
    "alone": lambda statistic: statistic,
    "groups": lambda statistic: Grouped(statistic, "g", ("u", "v")),
    "subset": lambda statistic: Subset(statistic, "x > 10"),
    "groups of a subset": lambda statistic: Subset(Grouped(statistic, "g", ("u", "v")), "x > 10"),
}


def again(estimate):
    """A copy, as other processes and caches get it."""
    for made in (pickle.loads(pickle.dumps(estimate)), copy.deepcopy(estimate)):
        assert type(made) is type(estimate)
        assert made.to_dict() == estimate.to_dict()
        assert str(made) == str(estimate)
    return made


FORMS = {
    "text": str,
    "repr": repr,
    "page": lambda estimate: estimate._repr_html_(),
    "frame": lambda estimate: estimate.to_frame(),
    "chapter": chapter_of,
    "copy": again,
    "document": lambda estimate: read_estimate(estimate.to_dict()),
}
ALONE = {"bounds", "boxplot", "describe", "groups", "labels", "ustatistic"}
"""Statistics that are never asked of groups."""
BY_PATHS = ("quantiles", 1)
"""What is asked by a method that groups do not have."""
CASES = [(name, number) for name, examples in EXAMPLES.items() for number in range(len(examples))]
TURNS = (("alone", "groups of a subset"), ("subset", "groups"))


def is_soon(name, number, how):
    """Whether `make test` looks at a case: the first example in two ways of four, in turn, and others in one.

    What is never asked of groups is shown in both other ways, which costs nothing.
    """
    turn = list(EXAMPLES).index(name) % 2
    if name in ALONE:
        return number == 0 or how == "alone"
    return how in TURNS[turn] if number == 0 else how == TURNS[(turn + number) % 2][1]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    values = {"x": np.clip(rng.gamma(4.0, 8.0, size=800), 0, 100), "p": rng.beta(1, 5, size=800)}
    labels = {"y": rng.integers(0, 2, size=800), "z": rng.integers(0, 3, size=800), "g": rng.choice(["u", "v"], 800)}
    return values | labels


@pytest.fixture(autouse=True)
def few_simulations(monkeypatch):
    """Whatever its width, a band or an interval is shown in the same way."""
    simulate_little(monkeypatch)


@pytest.mark.parametrize(
    ("name", "number", "how"),
    [
        pytest.param(name, number, how, marks=() if is_soon(name, number, how) else pytest.mark.everything)
        for name, number in CASES
        for how in WRAPPED
    ],
)
def test_what_is_not_refused_is_shown(name, number, how, table):
    statistic = EXAMPLES[name][number]
    try:
        asked = WRAPPED[how](statistic)
    except ParameterError:
        assert "groups" in how
        assert name in ALONE
        return
    assert name not in ALONE or "groups" not in how
    try:
        found = release(asked, trust=Clear(table), adjacency=Adjacency.ADD_OR_REMOVE)
    except (ParameterError, UnsupportedError):
        with ogive.Session(table, limit=PureDP(2)) as session:  # not every statistic is told exactly
            try:
                found = session.release(asked, privacy=PureDP(1))
            except UnsupportedError:
                assert session.spent is None
                assert "groups" in how
                assert (name, number) == BY_PATHS
                return
    for form, shown in FORMS.items():
        assert shown(found) is not None, form
    found.plot()
    plt.close("all")


def test_a_description_says_where_its_groups_are():
    (described,) = EXAMPLES["describe"]
    with pytest.raises(ParameterError, match=r"has groups of its own, Describe\(..., by=...\)"):
        Grouped(described, "g", ("u", "v"))
