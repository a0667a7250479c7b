"""What servers of a study release: the numbers of servers in one process, whoever ends or fails to answer meanwhile."""

import asyncio
import contextlib
import shutil

import httpx
import numpy as np
import pytest
from helpers.scope import is_everything, size
from helpers.servers_study import AGE, Trial, ages, in_process, key_of, text_of

from ogive.errors import BudgetError, OgiveError, ParameterError, PeerError, RefusalError
from ogive.privacy import PureDP
from ogive.study.common import SEALING, key_text
from ogive.study.document import ServersStudy
from ogive.study.sealing import sealing_key
from ogive.study.servers.service import ServerService
from ogive.study.servers.uploads import read_report
from ogive.study.store import OfServers
from ogive.trust.servers import settings
from ogive.trust.servers.server import ServerState

FEW = AGE | {"bounds": "[0, 8]"}
MOST_CELLS = size(settings.MOST_CELLS, part=1 << 10)
VALUES = {"age": np.array([0, 1, 1, 2, 3, 5, 8, 8, 4, 4, 4, 7])}


def few(tmp_path, **options):
    return Trial(tmp_path, people=12, releases=(FEW,), records=12, **options)


@pytest.mark.parametrize(
    ("servers", "upload", "more"),
    [
        (2, "keys", {}),
        (2, "tables", {}),
        pytest.param(3, "tables", {}, marks=pytest.mark.everything),
        (3, "tables", {"colluding": 1}),
    ],
)
def test_a_release_has_the_numbers_of_servers_in_one_process(tmp_path, servers, upload, more):
    with few(tmp_path, servers=servers, upload=f'"{upload}"', **more) as trial:
        reports = trial.reports(VALUES)
        trial.take(reports)
        curve = trial.release()
        assert curve.total == 12
        expected = in_process(trial, reports)
        for node in trial.nodes.values():
            (answer,) = node.answers(0)
            assert (answer.values.ravel() == expected.ravel()).all()
            assert (answer.adding, answer.honest) == (servers, servers - more.get("colluding", servers - 1))
            assert node.estimate(0).to_dict() == curve.to_dict()
            assert node.spent() == PureDP(1)
        assert "simulated" not in curve.provenance.assumption
        assert curve.provenance.trust == "servers"


@pytest.mark.parametrize(
    ("least", "more"),
    [pytest.param(None, {}, marks=pytest.mark.everything), (8, {}), (8, {"unit": 'adjacency = "add_or_remove"'})],
)
def test_a_release_of_too_few_uploads_is_refused_and_costs_nothing(tmp_path, least, more):
    more = more | ({} if least is None else {"min_uploads": str(least)})
    with few(tmp_path, **more) as trial:
        least, reports = least or 1, trial.reports(VALUES)
        assert trial.study.min_uploads == least
        for count in (0, least - 1):
            trial.take(reports[:count], range(count))
            trial.ask()
            trial.leader.relay()
            trial.leader.advance()
            with trial.stores[0].read() as kept:
                releases = OfServers(trial.study, kept)
                assert f"uploads: {count}, min_uploads of the study: {least}" in releases.refused(0)
                assert not releases.is_requested(0)
                assert releases.closed is None
            assert [node.spent() for node in trial.nodes.values()] == [None] * 2
            assert trial.nodes[0].states()[0]["state"] == "not requested"
        trial.take(reports[count:], range(count, 12))
        assert trial.release().total in (12, None)
        with trial.stores[0].read() as kept:
            releases = OfServers(trial.study, kept)
            assert (releases.refused(0), releases.closed) == (None, 12)
        assert [node.spent() for node in trial.nodes.values()] == [PureDP(1)] * 2


def test_another_server_ends_uploads_only_where_there_are_enough(tmp_path):
    with few(tmp_path, min_uploads="3") as trial:
        trial.take(trial.reports(VALUES)[:2], range(2))
        trial.leader.relay()
        with pytest.raises(PeerError, match="uploads: 2, min_uploads of the study: 3"):
            trial.nodes[1].close_uploads(2)
        assert trial.nodes[1].closed is None


def test_how_many_uploads_a_release_needs_is_part_of_the_study(tmp_path):
    plain, other = (ServersStudy.parse(text_of(releases=(FEW,), **more)) for more in ({}, {"min_uploads": "5"}))
    assert (plain.min_uploads, other.min_uploads) == (1, 5)
    assert plain.digest != other.digest
    for wrong in ("-1", "1.5", "true", "'5'"):
        with pytest.raises(ParameterError, match="min_uploads must be a whole number"):
            ServersStudy.parse(text_of(releases=(FEW,), min_uploads=wrong))


def from_the_beginning(trial, honest):
    """Ask for the release as if it had never been: a server has lost its state, and all others forget everything."""
    for number in trial.numbers:
        trial.lose(number, "state.db", "steps", *([] if number == honest else ["ledger"]))
    trial.connect()
    trial.ask()
    trial.leader.relay()
    assert trial.leader.advance()
    return trial.nodes[0].states()[0]


@pytest.mark.each_value
@pytest.mark.parametrize("honest", [0, 1])
@pytest.mark.parametrize("complete", [True, False])
def test_a_server_without_its_state_draws_no_second_noise_for_what_was_paid(tmp_path, monkeypatch, honest, complete):
    def cut_off(*_):
        raise PeerError("the answers were lost")

    with few(tmp_path) as trial:
        trial.upload(VALUES)
        if complete:
            trial.release()
        else:  # answers have left the servers, and none of them knows the sum
            monkeypatch.setattr(trial.nodes[0], "opened", cut_off)
            with pytest.raises(PeerError, match="were lost"):
                trial.release()
        assert [node.spent() for node in trial.nodes.values()] == [PureDP(1)] * 2
        state = from_the_beginning(trial, honest)
        assert state["state"] == "over"
        assert "made with another state of this server" in state["reason"]
        assert trial.nodes[honest].answers(0) == ()
        assert trial.nodes[honest].spent() == PureDP(1)


class Ends:
    """Carries so many envelopes."""

    def __init__(self, trial, number, most):
        self.trial, self.number, self.most = trial, number, most

    def carry(self, envelope):
        self.trial.carried += 1
        if self.trial.carried > self.most:
            raise PeerError("no answer")
        return self.trial.answering[self.number].answer(envelope)


@pytest.mark.each_value
@pytest.mark.parametrize("most", [6, 8, 40])
@pytest.mark.parametrize("honest", [0, 1])
def test_a_server_with_an_older_state_than_it_had_takes_part_in_nothing(tmp_path, honest, most):
    """Or it would use material for a second check, without any charge."""
    with few(tmp_path) as trial:
        trial.upload(VALUES)
        trial.stop(honest)
        place = trial.place(honest)
        before = {path.name: path.read_bytes() for path in place.glob("state.db*")}
        trial.start(honest)
        trial.carried = 0
        trial.connect({1: Ends(trial, 1, most)})
        trial.ask()
        with contextlib.suppress(PeerError):
            trial.leader.relay()
            trial.leader.advance()
        with trial.stores[honest].read() as kept:
            assert ServerState.from_bytes(kept.get("state/0")).sequence
        for state in (before, {}):  # restored, and lost
            trial.stop(honest)
            for path in place.glob("state.db*"):
                path.unlink()
            for name, content in state.items():
                (place / name).write_bytes(content)
            with pytest.raises(RefusalError, match="is lost or an older one"):
                trial.start(honest)
            trial.stores[honest].close()
            shutil.rmtree(place / "steps")  # the control: nothing else knows
            trial.start(honest)
            (place / "steps").mkdir(exist_ok=True)
            trial.nodes[honest]._steps.note(99)


def test_a_step_that_cannot_be_noted_is_not_sent(tmp_path, monkeypatch):
    with few(tmp_path) as trial:
        trial.upload(VALUES)
        trial.ask()

        def full(*_):
            raise RefusalError("there is no room")

        with monkeypatch.context() as patch:
            patch.setattr(trial.nodes[1]._steps, "note", full)
            with pytest.raises(PeerError, match="there is no room"):
                trial.leader.advance()
        trial.restart(1)
        assert trial.leader.advance()
        assert trial.nodes[0].estimate(0).total == 12


def test_answers_are_added_up_with_the_own_one_alone(tmp_path):
    with few(tmp_path) as trial:
        trial.upload(VALUES)
        given = {}
        for number in trial.numbers:
            answer = trial.nodes[number].answer

            def kept(release, query, number=number, answer=answer):
                given[number] = answer(release, query)
                return given[number]

            trial.nodes[number].answer = kept
        trial.nodes[0].opened = lambda *_: None
        trial.leader.advance, trial.leader._tell = (lambda: None), (lambda: None)
        trial.ask()
        trial.leader.relay()
        trial.leader._form()
        trial.leader._answer(0, 0)
        first = bytearray(given[1])
        first[-1] ^= 1
        for wrong in ([given[0], bytes(first)], [given[0], given[0]], [given[0]], []):
            with pytest.raises(PeerError, match="lack the one that this server gave"):
                trial.nodes[1].opened(0, 0, wrong)
        trial.nodes[1].opened(0, 0, [given[0], given[1]])
        assert trial.nodes[1].estimate(0).total == 12


class Faulty:
    """Carries envelopes until the fault, which comes before or after one of them is delivered."""

    def __init__(self, trial, number, fault):
        self.trial, self.number, self.fault = trial, number, fault

    def carry(self, envelope):
        kind, place = self.fault
        self.trial.carried += 1
        if self.trial.carried - 1 != place:
            return self.trial.answering[self.number].answer(envelope)
        if kind != "lost request":
            response = self.trial.answering[self.number].answer(envelope)
            if kind == "twice":
                assert self.trial.answering[self.number].answer(envelope) == response
                return response
            if kind == "other ends":
                self.trial.restart(self.number)
        raise PeerError("no answer")


def with_fault(trial, fault):
    trial.carried = 0
    trial.connect({number: Faulty(trial, number, fault) for number in trial.numbers if number})


FAULTS = [
    ("lost request", "keys"), ("lost response", "keys"), ("twice", "tables"), ("other ends", "keys"),
    ("other ends", "tables"), ("server 0 ends", "keys"),
]  # fmt: skip


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    """How many envelopes a release without faults takes, by what people upload."""
    folder = tmp_path_factory.mktemp("steps")
    return {upload: released_with(folder / upload, ("none", -1), upload) for upload in ("keys", "tables")}


@pytest.mark.parametrize("number", range(len(FAULTS)), ids=[f"{kind}-{upload}" for kind, upload in FAULTS])
def test_a_release_survives_a_fault_at_any_step(tmp_path, steps, number):
    kind, upload = FAULTS[number]
    assert steps[upload] > 8
    # in `make test` each fault comes at one or two steps, which are others for other faults
    for place in range(steps[upload]):
        if is_everything() or (place + 2 * number) % 11 == 0:
            released_with(tmp_path / str(place), (kind, place), upload)


_found: dict[tuple[object, ...], np.ndarray] = {}


def expected_of(trial, reports):
    """The sum of servers in one process, computed once for each study, secrets and reports."""
    secrets = []
    for store in trial.stores.values():
        with store.read() as kept:
            secrets.append(kept.get("secret"))
    inputs = (trial.study.digest, *secrets, *reports)
    if inputs not in _found:
        _found[inputs] = in_process(trial, reports)
    return _found[inputs]


def released_with(folder, fault, upload):
    """Check a release with one fault; returns how many envelopes were carried."""
    with few(folder, upload=f'"{upload}"') as trial:
        reports = trial.reports(VALUES)
        trial.take(reports)
        trial.ask()
        with_fault(trial, fault)
        failures = 0
        while trial.nodes[0].estimate(0) is None:
            try:
                trial.leader.relay()
                trial.leader.advance()
            except PeerError:
                failures += 1
                assert failures < 3
                if fault[0] == "server 0 ends":
                    trial.restart(0)
        trial.leader.advance()  # whoever was not told is told now
        expected = expected_of(trial, reports)
        for node in trial.nodes.values():
            (answer,) = node.answers(0)
            assert (answer.values.ravel() == expected.ravel()).all()
            assert node.spent() == PureDP(1)
            assert node.clients == 12
        return trial.carried


def test_uploads_that_one_server_cannot_use_are_left_out_at_all(tmp_path):
    with few(tmp_path) as trial:
        reports = trial.reports(VALUES)
        front = len(reports[0]) - sum(map(len, read_report(reports[0], trial.study))) - 8
        first = len(read_report(reports[0], trial.study)[0])
        garbled = bytearray(reports[2])
        garbled[front + 4 + 20] ^= 1  # the part of server 0 cannot be decrypted
        other = bytearray(reports[5])
        other[front + 4 + first + 4 + 20] ^= 1  # that of server 1
        # the part of server 1 is another person's
        swapped = reports[8][: front + 4 + first] + reports[9][front + 4 + first :]
        trial.take([*reports[:2], bytes(garbled), *reports[3:5], bytes(other), *reports[6:8], swapped, *reports[9:]])
        curve = trial.release()
        # the part of person 9 came to server 1 twice and counts there once; that of person 8 never came
        assert curve.total == 9
        assert {node.clients for node in trial.nodes.values()} == {9}
        assert trial.nodes[0].left_out == 3
        left = [report for number, report in enumerate(reports) if number not in (2, 5, 8)]
        assert (trial.nodes[0].answers(0)[0].values.ravel() == in_process(trial, left).ravel()).all()


def test_several_releases_are_asked_of_the_same_uploads_until_the_budget_is_spent(tmp_path):
    names = ("one", "two", "three")
    releases = [FEW | {"name": name} for name in names] + [FEW | {"name": "half", "bins": "4", "grid": "'linear'"}]
    with Trial(tmp_path, people=12, releases=releases, records=12, budget="{ epsilon = 2 }") as trial:
        trial.upload(VALUES)
        assert trial.release("one").total == 12
        assert trial.release("two").total == 12
        assert trial.nodes[0].answers(0)[0].values.tolist() == trial.nodes[0].answers(1)[0].values.tolist()
        with pytest.raises(BudgetError, match=r"^release three is refused: releases one .* together cost more"):
            trial.ask("three")
        with trial.stores[0].write() as kept:
            kept.put("requested/three", b"")
        assert trial.leader.advance()
        states = {each["name"]: each for each in trial.nodes[0].states()}
        assert states["three"]["state"] == "over"
        assert "costs epsilon = 1, and the account has nothing left" in states["three"]["reason"]
        assert states["two"]["state"] == "released"
        assert states["half"]["state"] == "not requested"
        assert not trial.leader.advance()
        assert trial.nodes[1].spent() == PureDP(2)
        told = {each["name"]: each for each in trial.nodes[1].states()}
        assert told["three"]["reason"] == f"server server-0: {states['three']['reason']}"
        assert {name: each["state"] for name, each in told.items()} == {
            name: each["state"] for name, each in states.items()
        }


def test_the_end_of_a_release_is_told_when_the_others_are_back_and_changes_no_result(tmp_path):
    with few(tmp_path) as trial:
        trial.upload(VALUES)
        trial.ask()
        with trial.stores[0].write() as kept:
            OfServers(trial.study, kept).end(0, "nobody\x1b[2J\nwants it" + "!" * 9_999)
        peer = trial.leader._peers[0]
        carrier, peer._carrier = peer._carrier, Away()
        with pytest.raises(PeerError, match="away"):
            trial.leader.advance()
        assert trial.nodes[1].states()[0]["state"] == "not requested"
        peer._carrier = carrier
        assert not trial.leader.advance()
        (state,) = trial.nodes[1].states()
        assert state["state"] == "over"
        assert state["reason"].startswith("server server-0: nobody [2J wants it!!!")
        assert len(state["reason"]) < 600
        peer._carrier = Away()
        assert not trial.leader.advance()  # it was told
        peer._carrier = carrier
    with few(tmp_path) as trial:
        trial.upload(VALUES)
        assert trial.release().total == 12
        peer = trial.leader._peers[0]
        peer.ask("over", release=0, reason="it never was")
        assert trial.nodes[1].states()[0]["state"] == "released"
        with pytest.raises(PeerError, match="no release number 2"):
            peer.ask("over", release=1, reason="none")


class Away:
    """Carries nothing."""

    def carry(self, envelope):
        raise PeerError("it is away")


def test_what_another_server_refuses_with_is_one_short_line(tmp_path):
    with few(tmp_path) as trial:
        for said, shown in (("a\x1b]0;b\n`c" + "d" * 9_999, "a ]0;b `cddd"), (["list"], "['list']")):
            trial.answering[1]._do = lambda *_, said=said: ({"refused": said}, [])
            with pytest.raises(PeerError) as problem:
                trial.leader._peers[0].ask("close", count=0)
            assert str(problem.value).startswith(f"server server-1: {shown}")
            assert str(problem.value).isprintable()
            assert len(str(problem.value)) < 600


VOTES = {
    "name": "labels",
    "statistic": "labels",
    "privacy": "{ epsilon = 8, delta = 1e-5 }",
    "queries": "['q0', 'q1', 'q2']",
    "classes": "3",
    "sigma": "2",
}
WEIGHT = {
    "name": "weight",
    "statistic": "quantiles",
    "privacy": "{ epsilon = 1 }",
    "column": "'weight'",
    "bounds": "[0, 200]",
    "bins": "32",
    "probabilities": "[0.5]",
}
RISK = {
    "name": "risk",
    "statistic": "calibration",
    "privacy": "{ epsilon = 1 }",
    "probability": "'risk'",
    "label": "'ill'",
    "negative": "[0]",
}


def test_votes_of_teachers_are_added_up(tmp_path):
    cast = np.random.default_rng(2).integers(0, 3, (40, 3))
    cast[:, 0] = 1
    with Trial(tmp_path, people=40, releases=(VOTES,), records=40, budget="{ epsilon = 8, delta = 1e-5 }") as trial:
        trial.upload({f"q{query}": cast[:, query] for query in range(3)})
        labels = trial.release("labels")
        assert labels.total == 40
        assert trial.nodes[0].clients == 40
        assert labels.labels[0] == 1
        assert (trial.nodes[1].answers(0)[0].values == trial.nodes[0].answers(0)[0].values).all()


def test_releases_of_several_columns_are_uploaded_together(tmp_path):
    rng = np.random.default_rng(4)
    table = {"age": rng.integers(0, 9, 30), "weight": rng.random(30) * 100}
    unit = "adjacency = 'add_or_remove'"
    with Trial(tmp_path, people=30, releases=(FEW, WEIGHT), records=30, unit=unit) as trial:
        assert len(trial.study.collected) == 2
        trial.upload(table)
        assert trial.release("age").provenance.total is None
        trial.restart(1)
        assert trial.release("weight").provenance.trust == "servers"
        assert trial.nodes[1].spent() == PureDP(2)


def test_no_uploads_at_all(tmp_path):
    with few(tmp_path, unit="adjacency = 'add_or_remove'", min_uploads="0") as trial:
        curve = trial.release()
        assert trial.nodes[0].clients == 0
        assert curve.provenance.total is None


def test_envelopes_of_others_are_refused(tmp_path):
    from ogive.study.sealing import enclose
    from ogive.study.servers.asking import pack

    with few(tmp_path) as trial:
        study = trial.study
        request = pack({"ask": "close", "count": 0}, [])
        good = {
            "study": study.digest, "sender": 0, "key": key_of(0), "receiver": 1, "sealing": study.servers[1].sealing,
        }  # fmt: skip
        assert trial.answering[1].answer(enclose(request, **good))
        for change in (
            {"key": key_of(5)},
            {"study": bytes(32)},
            {"sender": 1},
            {"receiver": 0},
            {"sealing": study.servers[0].sealing},
        ):
            with pytest.raises(PeerError, match="none of server 0 to server 1"):
                trial.answering[1].answer(enclose(request, **good | change))
        for wrong in (b"", b"x" * 200, enclose(request, **good)[:-1]):
            with pytest.raises(PeerError):
                trial.answering[1].answer(wrong)


def public(service, digest):
    """What anybody may read of a server, without the digest of its study."""

    async def read():
        transport = httpx.ASGITransport(service.application())
        async with httpx.AsyncClient(transport=transport, base_url="https://server") as client:
            paths = ("/", "/metrics", "/v1/status", f"/v1/tasks/{digest}")
            return "\n".join([(await client.get(path)).raise_for_status().text for path in paths])

    return asyncio.run(read()).replace(digest, "")


@pytest.mark.parametrize("unit", ["replace", "add_or_remove"])
def test_a_private_number_of_people_is_told_by_nothing_that_anybody_may_read(tmp_path, unit, monkeypatch):
    monkeypatch.setattr("ogive.study.https.connections.SECONDS", 0.0)
    with few(tmp_path, unit=f'adjacency = "{unit}"') as trial:
        service = ServerService(trial.nodes[0], trial.leader)
        digest = trial.study.digest.hex()
        before = public(service, digest)
        trial.upload(VALUES)
        after = public(service, digest)
        service._problem = "waiting: 12 are stored"
        trial.leader._form()
        with trial.stores[0].write() as kept:
            OfServers(trial.study, kept).end(0, "12 failed")
        assert (before == after) == (unit == "add_or_remove")
        told = public(service, digest)
        for words in ("12 failed", "12 are stored", '"clients":12', '"left_out":0', "ogive_server_uploads 12"):
            assert (words in told) == (unit == "replace")


def test_a_malformed_request_of_server_0_is_refused_and_changes_nothing(tmp_path):
    with few(tmp_path) as trial:
        trial.upload(VALUES)
        peer = trial.leader._peers[0]
        with pytest.raises(PeerError, match="no release number 100"):
            peer.ask("opened", [b"x", b"y"], release=99, query=0)
        trial.leader.relay()
        peer.ask("close", count=trial.nodes[0].close_uploads())
        (names,) = trial.nodes[0].names()
        for wrong in ([], [names[1]] * 2):
            with pytest.raises(PeerError, match=f"names for {len(wrong)} sets of clients, and 1 are formed"):
                peer.ask("agree", wrong)
        assert not trial.nodes[1].formed()
        trial.leader._form()
        own, others = trial.nodes[0].begin(0, 0), peer.ask("begin", expected=1, release=0, query=0)[1]
        done = False
        while not done:
            sent = [own.get(1, b"")]
            (own, done), (_, others) = trial.nodes[0].take(others), peer.ask("take", sent, expected=1)
        with pytest.raises(PeerError, match="no message is expected any more"):
            peer.ask("take", [b""])
        assert trial.release().total == 12


def test_an_old_response_is_no_answer_to_a_new_request(tmp_path):
    class Replaying:
        def __init__(self, carrier):
            self.carrier, self.first = carrier, None

        def carry(self, envelope):
            response = self.carrier.carry(envelope)
            self.first = self.first or response
            return self.first

    from helpers.servers_study import Direct

    with few(tmp_path) as trial:
        trial.upload(VALUES)
        trial.connect({1: Replaying(Direct(trial, 1))})
        with pytest.raises(PeerError, match="answered another request"):
            trial.release()


def test_a_folder_is_of_one_study_and_one_server(tmp_path):
    with few(tmp_path / "one") as trial:
        trial.stop(0)
        trial.study = type(trial.study).parse(trial.study.text + b"\n# other\n")
        from helpers.servers_study import enrolled

        (trial.place(0) / "enrolled").write_bytes(enrolled(trial.tokens, trial.study, 0))
        with pytest.raises(PeerError, match="is of another study"):
            trial.start(0)
        trial.nodes[0].close = lambda: None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"servers": 1}, "at least 2 tables"),
        ({"upload": '"sums"'}, "sums are uploaded by organizations"),
        ({"servers": 3, "upload": '"keys"'}, "for two servers"),
        ({"unit": 'person = "pid"'}, "one record to servers; leave out person"),
        ({"records": 0}, "records"),
        ({"tolerated": 2}, "tolerated"),
        ({"colluding": 2}, "colluding must be a whole number from 1 to 1, got 2"),
        ({"coordinator": "1"}, "has no field 'coordinator'"),
        ({"releases": (FEW | {"method": "'path2'"},)}, "release age"),
        ({"releases": (FEW | {"where": "'age > 3'"},)}, "release age"),
        (
            {"releases": (RISK | {"bins": f"{size(600_000, part=600)}"},)},
            f"servers count records in at most {MOST_CELLS} cells",
        ),
    ],
)
def test_studies_that_servers_cannot_run_are_refused_in_one_line(change, words, monkeypatch):
    monkeypatch.setattr(settings, "MOST_CELLS", MOST_CELLS)
    with pytest.raises(OgiveError) as refusal:
        ServersStudy.parse(text_of(**{"releases": (FEW,)} | change))
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_two_servers_need_keys_of_their_own():
    text = text_of(releases=(FEW,)).decode().split("[[server]]")
    text[2] = text[1].replace("server-0", "server-1") + text[2][text[2].index("[[release]]") :]
    with pytest.raises(ParameterError, match="two servers have the same key"):
        ServersStudy.parse("[[server]]".join(text).encode())


@pytest.mark.everything
def test_ages_of_many_people(tmp_path):
    with Trial(tmp_path, people=300, records=300) as trial:
        values = ages(300)
        trial.upload({"age": values})
        curve = trial.release()
        assert abs(curve.quantile(0.5) - np.median(values)) < 15


@pytest.mark.parametrize(
    "point",
    [
        bytes(32),
        bytes([1, *bytes(31)]),
        bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
    ],
    ids=["zero", "one", "order of eight"],
)
def test_a_key_to_which_everybody_could_read_is_refused_when_the_study_is_read(point):
    own = key_text(sealing_key(key_of(1)).public_key().public_bytes_raw(), SEALING)
    text = text_of().decode().replace(own, key_text(point, SEALING))
    for read in (ServersStudy.parse, ServersStudy.parse_unchecked):
        with pytest.raises(
            ParameterError, match="sealing key of server server-1 is none that anything can be encrypted"
        ):
            read(text.encode())


@pytest.mark.parametrize("number", [0, 1])
def test_uploads_that_were_cut_off_after_they_ended_are_noticed(tmp_path, number):
    with few(tmp_path) as trial:
        trial.upload(VALUES)
        trial.release()
        trial.stop(number)
        segment = trial.place(number) / "uploads" / "00000001.segment"
        whole = segment.read_bytes()
        segment.write_bytes(whole[:-100])
        with pytest.raises(RefusalError, match=r"holds \d+ uploads, and there were 12 when uploads ended"):
            trial.start(number)
        trial.stores[number].close()
        segment.write_bytes(whole)
        trial.start(number)
        assert trial.nodes[number].closed == len(trial.nodes[number].uploads) == 12
