"""Files, frames and sums that somebody made up: one line for each, and nobody's process ends or waits for ever."""

import numpy as np
import pytest
from helpers.scope import is_everything, size
from helpers.study import AGE, Trial, carry, key_of, text_of

from ogive.errors import OgiveError, ParameterError, PeerError
from ogive.queries import Answer
from ogive.statistics.kinds import read_recorded
from ogive.study.agent import OwnPart
from ogive.study.common import LARGEST_FILE
from ogive.study.course import course
from ogive.study.document import Study
from ogive.study.frames import QUESTION, Stage
from ogive.trust.secagg.terms import Contribution

GINI = {
    "name": "gini", "statistic": "ustat", "privacy": "{ epsilon = 1 }", "kernel": "'gini'", "columns": "['age']",
    "bounds": "[0, 120]",
}  # fmt: skip
AUC = {
    "name": "auc", "statistic": "ustat", "privacy": "{ epsilon = 1 }", "kernel": "'auc'",
    "columns": "['score', 'died']", "positive": "'yes'", "negative": "'no'", "bounds": "[0, 1]",
    "public_labels": "true",
}  # fmt: skip
BOX = AGE | {"name": "box", "statistic": "boxplot"}

LONG = "a" + ".a" * 250_000
HIDES = "\\u001b[2J\\nSHA-256 00"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (f"groups.{LONG} = 1", "levels deep"),
        (f"[{LONG}]", "levels deep"),
        ("groups." + r'"\"".' * 30 + "a = 1", "levels deep"),
        ("groups." + "'a' . " * 30 + "a = 1", "levels deep"),
        ("groups = " + "[" * 200 + "]" * 200, "levels deep"),
        ("groups = " + "{a.a.a.a.a.a.a.a = " * 40 + "1" + "}" * 40, "levels deep"),
        ("groups = " + "[" * 100_000, "not TOML"),
        (f'where = "{HIDES}"', "not shown"),
        (f'by = "ward"\ngroups = ["A", "{HIDES}"]', "not shown"),
        (f'"{HIDES}" = 1', "not shown"),
    ],
    ids=["key", "table", "escaped", "spaced", "lists", "both", "brackets", "condition", "group", "field"],
)
def test_a_hostile_file_is_one_line(more, said):
    text = text_of() + b"\n" + more.encode()
    assert len(text) <= LARGEST_FILE
    with pytest.raises(ParameterError, match=said) as told:
        Study.parse(text)
    assert "\n" not in str(told.value)
    assert str(told.value).isprintable()


@pytest.mark.parametrize("where", ['name = "test"\ntitle = "%s"', 'name = "test"\n[unit]\nperson = "%s"'])
def test_a_text_cannot_write_over_what_an_owner_approves(where):
    text = text_of().decode().replace("[unit]\n", "") if "[unit]" in where else text_of().decode()
    with pytest.raises(ParameterError, match="not shown"):
        Study.parse(text.replace('name = "test"', where % HIDES).encode())


@pytest.mark.parametrize("value", ["[]", "{ a = 1 }", "1", "['ecdf']"])
def test_a_statistic_that_is_no_name_is_one_line(value):
    with pytest.raises(ParameterError, match="the statistic must be one of"):
        Study.parse(text_of().replace(b'statistic = "ecdf"', f"statistic = {value}".encode()))


def test_a_statistic_has_the_name_of_its_command_and_its_own():
    of = {
        name: Study.parse(text_of(releases=(GINI | {"statistic": name},))).releases for name in ("ustat", "ustatistic")
    }
    assert of["ustat"] == of["ustatistic"]


@pytest.mark.parametrize("records", [10**13, 10**300, "0x" + "f" * 10_000], ids=["many", "more", "most"])
def test_more_records_than_there_can_be_are_refused(records):
    with pytest.raises(ParameterError, match="records must be a whole number"):
        Study.parse(text_of(records=records))


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """A study of which nothing was asked."""
    return Trial(tmp_path_factory.mktemp("untouched"))


@pytest.mark.parametrize(
    "shape", [(0,), (0, 2**32 - 1, 2**32 - 1, 2**32 - 1), (2**32 - 1, 2**32 - 1, 0), (2**32 - 1,) * 8]
)
@pytest.mark.parametrize("stage", [Stage.KEYS, Stage.RESULT])
def test_sums_of_impossible_shapes_are_no_question(untouched, shape, stage):
    """Signed by the coordinator itself."""
    trial = untouched
    numbers = (1, 0, 1, 0, stage, 1, 4, 2, 0, len(shape), *shape)
    body = trial.study.digest + b"".join(number.to_bytes(4, "little") for number in numbers) + bytes(8)
    question = QUESTION + key_of(0).sign(QUESTION + body) + body
    with pytest.raises(PeerError):
        trial.sites[1].agent.answer(question)


def lying(monkeypatch, trial, party, *, declared=None, vector=None):
    """Let a party declare or send something else."""
    liar = trial.sites[party].agent._part(0).contribution

    class Liar(Contribution):
        def declared(self, query):
            return super().declared(query) if declared is None else (declared,)

    liar.__class__ = Liar
    honest = OwnPart.vector

    def sent(self, query):
        found = honest(self, query)
        return found if vector is None or self.contribution is not liar else np.full_like(found, vector)

    monkeypatch.setattr(OwnPart, "vector", sent)


def run(trial, *names):
    for name in names:
        trial.coordinator.request(name)
    for _ in range(3):
        carry(trial.coordinator, trial.agents)
        trial.clock.now += 61
    return trial.coordinator.progress()


def test_a_party_that_declares_too_many_records_is_left_out(tmp_path, monkeypatch):
    """Its number would not fit into what the coordinator stores, which then could go on with nothing at all."""
    trial = Trial(tmp_path)
    lying(monkeypatch, trial, 4, declared=2**64 - 1)
    assert run(trial, "age")["age"].members == (1, 2, 3)
    assert read_recorded(trial.coordinator.result("age")).total == 3000


@pytest.mark.parametrize(
    "vector",
    [pytest.param(2**62, marks=pytest.mark.everything), 2**63, pytest.param(2**63 - 1, marks=pytest.mark.everything)],
)
def test_a_false_vector_ends_no_process(tmp_path, monkeypatch, vector):
    releases = (BOX, AGE) if is_everything() else (BOX,)
    names = [release["name"] for release in releases]
    trial = Trial(tmp_path, text_of(releases=releases, unit='adjacency = "add_or_remove"'))
    lying(monkeypatch, trial, 4, vector=vector)
    found = run(trial, *names)
    assert {each.state for each in found.values()} == {"released"}
    assert all(set(site.agent.results()) == set(names) for site in trial.sites.values())


def test_a_release_of_which_nothing_can_be_computed_is_over_and_others_go_on(tmp_path):
    none = {"age": np.zeros(0, np.int64)}
    trial = Trial(tmp_path, text_of(releases=(GINI, AGE)), records=dict.fromkeys(range(1, 5), none))
    found = run(trial, "gini", "age")
    assert found["gini"].state == "over"
    assert "at least two records" in found["gini"].reason
    assert found["age"].state == "released"


@pytest.mark.parametrize("release", [GINI, AUC, BOX], ids=["gini", "auc", "box"])
def test_whatever_sums_are_told_there_is_a_result_or_one_line(release):
    unit = 'public = ["died"]' if release is AUC else ""
    study = Study.parse(text_of(releases=(release,), unit=unit))
    step = course(study, study.releases[0], ())
    shape = step.query.measure(np.zeros(step.query.aggregate.shape, np.int64)).shape
    rng = np.random.default_rng(1)
    lines = 0
    values = [rng.integers(-(2**63), 2**63 - 1, shape) for _ in range(size(5, part=2))]
    for value in [*values, *(np.full(shape, each, np.int64) for each in (-(2**63), -1, 0, 2**63 - 1))]:
        for total in (0, 1, 2**63, 2**64 - 1):
            totals = (total,) * (2 if release is AUC else 1)
            try:
                course(study, study.releases[0], (Answer(value, totals, adding=4, honest=2),))
            except OgiveError as problem:
                lines += "\n" not in str(problem)
    assert lines or release is BOX
