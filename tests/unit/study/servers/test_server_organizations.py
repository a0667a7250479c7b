"""Organizations that upload the sums of their records to servers, and questions that follow from earlier answers."""

import numpy as np
import pytest
from helpers.scope import size
from helpers.servers_study import AGE, Trial, in_process, text_of
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive import ParameterError, PureDP
from ogive.columns import Binning, Label
from ogive.columns.grids import Grid
from ogive.errors import OgiveError, PeerError
from ogive.noise import DiscreteLaplace
from ogive.privacy import Adjacency
from ogive.queries import CurveQuery, GroupSums, GroupSumsQuery
from ogive.queries.wrapped import RefinedQuery, asked_of, finest, follows
from ogive.records import Records
from ogive.strategies import design_path
from ogive.study.course import Step, course
from ogive.study.document import ServersStudy
from ogive.study.servers import uploads

FEW = AGE | {"bounds": "[0, 8]"}
RISK = {
    "name": "risk",
    "statistic": "calibration",
    "privacy": "{ epsilon = 1 }",
    "probability": "'risk'",
    "label": "'ill'",
    "groups": "3",
    "bins": "16",
}
ROC = {
    "name": "roc",
    "statistic": "roc",
    "privacy": "{ epsilon = 1 }",
    "score": "'risk'",
    "label": "'ill'",
    "negative": "[0]",
    "bounds": "[0, 1]",
    "bins": "8",
}
VOTES = {
    "name": "labels",
    "statistic": "labels",
    "privacy": "{ epsilon = 8, delta = 1e-5 }",
    "queries": "['q0', 'q1']",
    "classes": "3",
    "sigma": "2",
}
SITES = (40, 1, size(300, part=60))


def tables(seed=1):
    rng = np.random.default_rng(seed)
    for count in SITES:
        risk = rng.random(count)
        yield {
            "age": rng.integers(0, 9, count),
            "risk": risk,
            "ill": (rng.random(count) < risk).astype(int),
            "sex": rng.choice(["f", "m"], count),
            "q0": rng.integers(0, 3, count),
            "q1": rng.integers(0, 3, count),
        }


def pooled(sites):
    return {column: np.concatenate([site[column] for site in sites]) for column in sites[0]}


def of_organizations(tmp_path, *releases, **more):
    return Trial(tmp_path, people=len(SITES), releases=releases, records=sum(SITES), parties=len(SITES), **more)


def check_exact(trial, name, records):
    """Compare every sum that was opened, without noise, with that of all records in one table."""
    number = [release.name for release in trial.study.releases].index(name)
    opened = trial.nodes[0].answers(number)
    assert opened
    for place, answer in enumerate(opened):
        step = course(trial.study, trial.study.releases[number], opened[:place])
        assert isinstance(step, Step)
        sums = Records.of(records).aggregate(step.query.aggregate)
        assert (answer.values == step.query.measure(sums)).all()
        assert answer.totals == step.query.totals(sums, trial.study.unit.adjacency)
        assert (trial.nodes[1].answers(number)[place].values == answer.values).all()


@pytest.fixture
def no_noise(monkeypatch):
    """Servers draw noise and add none, so that sums are exact."""
    monkeypatch.setattr("ogive.trust.servers.server.residues", lambda noise, modulus: np.zeros(noise.size, np.uint64))


@pytest.mark.parametrize("servers", [2, 3])
def test_sums_of_organizations_have_the_numbers_of_servers_in_one_process(tmp_path, servers):
    with of_organizations(tmp_path, FEW, servers=servers) as trial:
        trial.upload_sums(tables())
        curve = trial.release()
        assert curve.total == sum(SITES)
        made = [
            report
            for number, table in enumerate(tables())
            for report in uploads.make_reports(
                trial.study, table, trial.tokens[number : number + 1], random=np.random.default_rng(7 + number).bytes
            )
        ]
        assert (trial.nodes[1].answers(0)[0].values.ravel() == in_process(trial, made).ravel()).all()
        assert trial.nodes[0].clients == len(SITES)
        assert trial.nodes[1].spent() == PureDP(1)
        assert "Uploads were not verified" in curve.provenance.assumption


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", ["replace", "add_or_remove"])
@pytest.mark.parametrize(
    "release",
    [
        pytest.param(FEW, marks=pytest.mark.everything),
        FEW | {"where": "'sex == \"f\"'"},
        FEW | {"by": "'sex'", "groups": "['f', 'm']"},
        pytest.param(RISK, marks=pytest.mark.everything),
        pytest.param(RISK | {"where": "'age > 3'", "groups": "2", "bins": "8"}, marks=pytest.mark.everything),
        RISK | {"form": "'counts'"},
        ROC,
    ],
    ids=["curve", "subset", "groups", "calibration", "calibration of a subset", "counts", "roc"],
)  # fmt: skip
def test_exact_sums_of_organizations_are_those_of_all_records(tmp_path, no_noise, release, adjacency):
    with of_organizations(tmp_path, release, unit=f"adjacency = '{adjacency}'") as trial:
        sites = list(tables())
        trial.upload_sums(sites)
        trial.release(release["name"])
        check_exact(trial, release["name"], pooled(sites))


def test_votes_of_organizations_are_added_up_where_the_study_says_so(tmp_path, no_noise):
    with of_organizations(tmp_path, VOTES, upload="'sums'", budget="{ epsilon = 8, delta = 1e-5 }") as trial:
        sites = list(tables())
        trial.upload_sums(sites)
        assert trial.release("labels").total == sum(SITES)
        check_exact(trial, "labels", pooled(sites))


def test_records_of_a_person_are_bounded_at_each_organization(tmp_path, no_noise):
    unit = "person = 'who'\nmax_rows_per_person = 1"
    with of_organizations(tmp_path, FEW, unit=unit) as trial:
        trial.upload_sums([{"age": [1, 1, 2], "who": [1, 1, 2]}, {"age": [3], "who": [3]}])
        assert trial.release().total == 3


@pytest.mark.parametrize("upload", [pytest.param("tables", marks=pytest.mark.everything), "auto"])
def test_people_upload_once_for_calibration_and_the_sums_are_those_of_their_records(tmp_path, no_noise, upload):
    table = pooled(list(tables(2)))
    people = len(table["age"])
    with Trial(tmp_path, people=people, releases=(RISK, FEW), records=people, upload=f"'{upload}'") as trial:
        assert len(trial.study.collected) == 2
        trial.upload(table)
        assert trial.release("risk").total == people
        check_exact(trial, "risk", table)
        assert trial.release("age").total == people
        check_exact(trial, "age", table)


@pytest.mark.parametrize("upload", [pytest.param("keys", marks=pytest.mark.everything), "tables"])
def test_numbers_of_public_classes_are_opened_where_people_upload(tmp_path, no_noise, upload):
    table = pooled(list(tables(4)))
    people = len(table["age"])
    release = ROC | {"public_labels": "true"}
    unit = "public = ['ill']"
    with Trial(tmp_path, people=people, releases=(release,), records=people, unit=unit, upload=f"'{upload}'") as trial:
        trial.upload(table)
        trial.release("roc")
        check_exact(trial, "roc", table)
        (answer,) = trial.nodes[1].answers(0)
        assert answer.totals == (people - table["ill"].sum(), table["ill"].sum())


def test_calibration_survives_a_restart_between_its_questions(tmp_path, monkeypatch):
    table = pooled(list(tables(3)))
    with Trial(tmp_path, people=len(table["age"]), releases=(RISK,), records=sum(SITES)) as trial:
        trial.upload(table)
        trial.ask("risk")
        trial.leader.relay()
        trial.leader._form()
        trial.leader._answer(0, 0)
        for number in trial.numbers:
            trial.restart(number)
        assert trial.leader.advance()
        assert trial.nodes[1].estimate(0).to_dict() == trial.nodes[0].estimate(0).to_dict()
        assert trial.nodes[1].spent() == PureDP(1)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"parties": "0"}, "parties must be a whole number of at least 1, got 0"),
        ({"upload": "'tables'"}, "parties upload the sums of their records, not 'tables'; leave out parties"),
        ({"upload": "'keys'"}, "parties upload the sums of their records, not 'keys'"),
        ({"verified": "true"}, "sums of an organization cannot be verified"),
        ({"releases": (VOTES,), "budget": "{ epsilon = 8, delta = 1e-5 }"}, "teachers upload their votes one by one"),
        ({"records": 10**12, "releases": (RISK,)}, "may leave the range of the servers' numbers"),
    ],
)
def test_what_organizations_cannot_upload_is_refused_in_one_line(more, words):
    with pytest.raises(OgiveError) as refusal:
        ServersStudy.parse(text_of(**({"parties": 3, "releases": (FEW,), "records": 100} | more)))
    assert words in str(refusal.value).replace("`", "")
    assert "\n" not in str(refusal.value)


def test_sums_that_follow_from_an_answer_and_from_nothing_uploaded_before_are_refused(monkeypatch):
    monkeypatch.setattr("ogive.study.document.finest", lambda _: None)
    with pytest.raises(ParameterError, match="calibration asks for sums that follow from its first answer"):
        ServersStudy.parse(text_of(releases=(RISK,)))


def test_sums_need_parties():
    with pytest.raises(ParameterError, match="sums are uploaded by organizations; say how many with parties"):
        ServersStudy.parse(text_of(upload="'sums'"))


def test_an_organization_has_one_token(tmp_path):
    with (
        of_organizations(tmp_path, FEW) as trial,
        pytest.raises(ParameterError, match="uploads the sums of its records with one token, got 2"),
    ):
        list(uploads.make_reports(trial.study, {"age": [1, 2]}, trial.tokens[:2]))


@pytest.mark.parametrize("wrong", [-(10**6), pytest.param(1 << 59, marks=pytest.mark.everything)])
def test_what_is_no_sum_ends_its_release_alone(tmp_path, monkeypatch, wrong):
    with of_organizations(tmp_path, FEW, FEW | {"name": "finer", "bins": "4", "grid": "'linear'"}) as trial:
        honest, upload_sums = list(tables()), uploads.upload_sums

        def false(collected, sums, **where):
            first = collected is trial.study.collected[0]
            return upload_sums(collected, sums + wrong if first else sums, **where)

        trial.upload_sums(honest[:2])
        monkeypatch.setattr(uploads, "upload_sums", false)
        trial.take(uploads.make_reports(trial.study, honest[2], [trial.tokens[2]]), [2])
        trial.ask("age")
        trial.ask("finer")
        assert trial.leader.advance()
        assert trial.leader.advance()
        states = {each["name"]: each for each in trial.nodes[0].states()}
        assert states["age"]["state"] == "over"
        assert "somebody uploaded what is not a sum of records" in states["age"]["reason"]
        assert trial.nodes[0].estimate(1).total == sum(SITES)
        assert not trial.leader.advance()


def test_sums_from_which_nothing_can_be_computed_end_their_release_alone(tmp_path, monkeypatch):
    from ogive.study.servers import node

    def hopeless(*_, **__):
        raise PeerError("nothing can be computed from these sums")

    with of_organizations(tmp_path, FEW) as trial:
        trial.upload_sums(tables())
        trial.ask()
        check = node.Node._check_sums

        def checked(self, release, opened):
            with monkeypatch.context() as patch:
                patch.setattr(node, "course", hopeless)
                check(self, release, opened)

        monkeypatch.setattr(node.Node, "_check_sums", checked)
        assert trial.leader.advance()
        assert trial.nodes[0].states()[0]["reason"] == "nothing can be computed from these sums"
        assert trial.nodes[0].answers(0) == ()
        assert not trial.leader.advance()


LAWS = DiscreteLaplace(64), DiscreteLaplace(1)
FINE = Grid.linear(0, 1, bins=16)
ENDS = st.sets(st.integers(0, 14)).map(lambda bins: [*FINE.thresholds[sorted(bins)].tolist(), 1.0])


def sums_in(grid, bits=6):
    return GroupSums(Binning("risk", grid, "low", "refuse"), Label("ill", (1,), (0,)), bits)


@settings(max_examples=60, deadline=None)
@given(
    ends=ENDS,
    risk=st.lists(st.one_of(st.floats(0, 1), st.sampled_from(FINE.thresholds.tolist()), st.just(np.nan)), min_size=1),
    data=st.data(),
)
def test_sums_in_wide_groups_are_those_of_the_narrow_ones_joined(ends, risk, data):
    ill = data.draw(st.lists(st.integers(0, 1), min_size=len(risk), max_size=len(risk)))
    table = Records.of({"risk": np.array(risk), "ill": np.array(ill)})
    wide, narrow = sums_in(Grid.explicit(ends, low=0.0)), sums_in(FINE)
    assert finest([narrow.probability, wide]) == narrow
    asked = asked_of(GroupSumsQuery(wide, *LAWS), narrow)
    counted = asked_of(
        CurveQuery(narrow.probability, design_path(16, privacy=PureDP(1), adjacency=Adjacency.REPLACE)), narrow
    )
    assert (asked.measure(table.aggregate(narrow)) == table.aggregate(wide)).all()
    assert asked.totals(table.aggregate(narrow), Adjacency.REPLACE) == (len(risk),)
    exact = counted.query.measure(table.aggregate(narrow.probability))
    assert (counted.measure(table.aggregate(narrow)) == exact).all()


def test_sums_do_not_follow_from_others_than_narrower_ones_of_the_same_columns():
    narrow = sums_in(FINE)
    third = sums_in(Grid.explicit([1 / 3, 1.0], low=0.0))
    assert not follows(third, narrow)
    assert not follows(sums_in(FINE, bits=7), narrow)
    assert not follows(Binning("other", FINE, "low", "refuse"), narrow)
    assert finest([narrow.probability]) is None
    assert finest([narrow, third]) is None
    with pytest.raises(ParameterError, match="must tell what the query asks for"):
        RefinedQuery(GroupSumsQuery(third, *LAWS), narrow)
