"""What the commands of studies refuse, each in one line, with nothing left half-made."""

import re
import socket

import pytest
from helpers.refusing import refused
from helpers.study import AGE, Clock, Site, key_of, public, text_of

from ogive.cli import main
from ogive.study.coordinator import Coordinator
from ogive.study.document import Study
from ogive.study.store import Progress, Store

NEW = ["study", "new", "new.toml", "--name", "good", "--coordinator", public(0), "--records", "100", "--party"]
NORTH, SOUTH = f"north={public(1)}", f"south={public(2)}"
SERVE = ["study", "serve", "study.toml", "--key", "own.key", "--state", "c.db", "--service", "service"]
AGENT = ["agent", "study.toml", "--records", "people.csv", "--key", "site.key", "--state", "a.db"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A study with the keys of its coordinator and of its first party, and a table."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_bytes(text_of())
    for number, name in ((0, "own.key"), (1, "site.key")):
        written = key_of(number).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (tmp_path / name).write_bytes(written)
    (tmp_path / "people.csv").write_text("age\n1\n2\n")
    (tmp_path / "words.csv").write_text("age\n1\nold\n")
    (tmp_path / "gaps.csv").write_text("age,name\n1,a\n,b\n")
    (tmp_path / "weights.csv").write_text("weight\n1\n2\n")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*NEW, NORTH, "south"], "--party takes NAME=KEY"),
        ([*NEW, NORTH, NORTH], "two parties have the name north"),
        ([*NEW, NORTH], "at least 2 tables [[party]]"),
        ([*NEW, NORTH, "south=ed25519:AAAA"], "the key of party south must be what ogive study keys prints"),
        ([*NEW, NORTH, SOUTH, "--trust", "servers"], "a study of servers has neither coordinator nor parties"),
        ([*NEW, NORTH, SOUTH, "--trust", "local"], "--trust must be secagg, merge, servers or pairs"),
        ([*NEW, NORTH, SOUTH, "--server", NORTH], "--server goes with --trust servers"),
        (["study", "keys"], "name the file of a new key, or a folder with --service"),
        (["study", "keys", "own.key"], "is there already and is not overwritten"),
        (["study", "keys", "--service", "s"], "--service needs --study FILE and --host NAME"),
        (["study", "keys", "--service", "s", "--study", "study.toml", "--host", "bad host!"], "--host must be a name"),
        (["study", "keys", "--service", "s", "--study", "people.csv", "--host", "localhost"], "not TOML"),
        (["study", "check", "absent.toml"], "No such file"),
        (["study", "check", "study.toml", "--approve"], "to approve a study, name your --records, your --key"),
        (["study", "check", "study.toml", "--records", "weights.csv"], "has no column 'age'"),
        (["study", "check", "study.toml", "--key", "people.csv"], "is not a key of a study"),
        (["study", "status", "study.toml", "--state", "absent.db"], "there is no state absent.db"),
        (["study", "release", "study.toml", "age", "--state", "absent.db"], "there is no state absent.db"),
        (["study", "check", "study.toml", "--records", "words.csv"], "release age: column 'age' holds text"),
        (["study", "check", "study.toml", "--records", "gaps.csv"], "release age: column 'age' has missing values"),
        (["study", "release", "study.toml", "weight", "--state", "c.db"], "has no release 'weight'; it has age"),
        (SERVE, "the list of tokens service/tokens cannot be read"),
        ([*SERVE, "--step-seconds", "0"], "--step-seconds and --patience must be above 0"),
        (AGENT, "--connect https://HOST:PORT or --listen unix:/PATH"),
        ([*AGENT, "--listen", "unix:/tmp/x"], "this study is not approved in a.db"),
    ],
)
def test_what_cannot_be_done_is_one_line(folder, capsys, arguments, words):
    before = {path.name for path in folder.iterdir()}
    assert words in refused(capsys, arguments)
    made = {path.name for path in folder.iterdir()} - before
    assert not {name for name in made if not name.startswith(("a.db", "c.db"))}


def test_an_address_where_nobody_can_listen_is_one_line(folder, capsys):
    assert main(["study", "keys", "--service", "service", "--study", "study.toml", "--host", "localhost"]) == 0
    capsys.readouterr()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert "Address already in use" in refused(capsys, [*SERVE, "--port", str(port)])
    assert "--port must be 0 to 65535" in refused(capsys, [*SERVE, "--port", "99999"])
    assert "cannot listen at 300.1.1.1 port 8443" in refused(capsys, [*SERVE, "--host", "300.1.1.1"])
    assert not (folder / "c.db").exists()


def test_an_agent_whose_records_lack_a_column_does_not_start(folder, capsys):
    approve = ["study", "check", "study.toml", "--records", "people.csv", "--key", "site.key", "--state", "a.db"]
    assert main([*approve, "--approve"]) == 0
    assert "approved; a.db says so" in capsys.readouterr().err
    lacking = [word.replace("people.csv", "weights.csv") for word in AGENT]
    assert "has no column 'age'" in refused(capsys, [*lacking, "--listen", "unix:/nowhere/x"])
    assert "cannot be made" in refused(capsys, [*AGENT, "--listen", "unix:/nowhere/x"])


def test_a_new_study_is_read_back_and_kept(folder, capsys):
    assert main([*NEW, NORTH, SOUTH, "--trust", "merge"]) == 0
    capsys.readouterr()
    kept = (folder / "new.toml").read_bytes()
    assert "is not overwritten" in refused(capsys, [*NEW, NORTH, SOUTH])
    assert (folder / "new.toml").read_bytes() == kept
    assert main(["study", "check", "new.toml"]) == 0
    said = capsys.readouterr().out
    assert "Parties (2): north, south" in said
    assert "Everyone may see your curve" in said


def test_two_releases_share_one_legend_and_one_that_cannot_be_made_is_named(folder, capsys):
    two = AGE | {"name": "again"}
    (folder / "two.toml").write_bytes(text_of(releases=(AGE, two)))
    assert main(["study", "check", "two.toml"]) == 0
    said = capsys.readouterr().out
    for once in ("Release age: ecdf of age", "Release again: ecdf of age", "per server: ", "ks: "):
        assert said.count(f"\n{once}") == 1
    (folder / "two.toml").write_bytes(text_of(releases=(AGE, two | {"method": "'sqrt'"})))
    said = refused(capsys, ["study", "check", "two.toml"])
    assert "release again: method 'sqrt' cannot give epsilon = 1 with Gaussian noise" in said


def test_releases_that_the_budget_does_not_pay_for_are_warned_of_and_refused(folder, capsys):
    (folder / "study.toml").write_bytes(text_of(releases=(AGE, AGE | {"name": "b"}), budget="{ epsilon = 1 }"))
    over = r"releases age \(epsilon = 1\) and b \(epsilon = 1\) together .*budget of epsilon = 1"
    for command in (
        ["check", "study.toml"],
        ["keys", "--service", "s", "--study", "study.toml", "--host", "localhost"],
    ):
        assert main(["study", *command]) == 0
        warned = [line for line in capsys.readouterr().err.splitlines() if line.startswith("ogive: warning: ")]
        assert len(warned) == 1
        assert re.fullmatch(f"ogive: warning: {over}; not all of them can be released", warned[0])
    store = Store("c.db")
    Coordinator(Study.read("study.toml"), key=key_of(0), store=store)
    store.close()
    ask = ["study", "release", "study.toml", "--state", "c.db", "--no-wait"]
    assert main([*ask, "age"]) == 0
    capsys.readouterr()
    assert re.fullmatch(f"ogive: error: release b is refused: {over}\n", refused(capsys, [*ask, "b"]))


def test_a_study_of_people_is_checked_and_gets_a_certificate_and_its_price_is_compared(folder, capsys):
    (folder / "people.txt").write_text("".join(f"{public(number)}\n" for number in range(1, 5)))
    new = ["study", "new", "new.toml", "--name", "incomes", "--trust", "pairs", "--coordinator", public(0)]
    assert main([*new, "--people", "people.txt", "--deadline", "2100-12-31T18:00:00Z"]) == 0
    over = (folder / "new.toml").read_text().replace("budget = { epsilon = 1 }", "budget = { epsilon = 0.5 }")
    (folder / "over.toml").write_text(over)
    capsys.readouterr()
    costs = r"release income \(epsilon = 1\) costs more .*budget of epsilon = 0\.5"
    for name, warnings in (("new.toml", 0), ("over.toml", 1)):
        certificates = ["--service", f"{name}-service", "--study", name, "--host", "localhost"]
        for command in (["check", name, "--key", "site.key"], ["keys", *certificates]):
            assert main(["study", *command]) == 0
            said = capsys.readouterr().err
            assert (said.count("warning"), len(re.findall(costs, said))) == (warnings, warnings)
        assert (folder / f"{name}-service" / "service.pem").is_file()


def test_a_state_of_an_agent_or_of_another_study_is_refused_before_anything_is_asked(folder, capsys):
    approve = ["study", "check", "study.toml", "--records", "people.csv", "--key", "site.key", "--state", "a.db"]
    assert main([*approve, "--approve"]) == 0
    capsys.readouterr()
    other = Study.parse(text_of(budget="{ epsilon = 5 }"))
    for place, of in (("other.db", other), ("c.db", Study.parse(text_of()))):
        store = Store(place)
        Coordinator(of, key=key_of(0), store=store)
        store.close()
    for command in (["release", "study.toml", "age", "--no-wait"], ["status", "study.toml"]):
        assert "the state a.db is not a coordinator's" in refused(capsys, ["study", *command, "--state", "a.db"])
        assert "is of another study" in refused(capsys, ["study", *command, "--state", "other.db"])
    assert main(["study", "status", "study.toml", "--state", "c.db"]) == 0  # the control: its own state
    assert capsys.readouterr().out == "age: not requested (epsilon = 1)\n"


def test_the_commands_say_whose_records_a_release_has_and_why_attempts_ended(folder, capsys):
    study = Study.parse(text_of())
    store = Store("c.db")
    coordinator = Coordinator(study, key=key_of(0), store=store)
    sites = [Site(study, number, folder) for number in (1, 2, 4)]
    coordinator.request("age")
    with store.write() as kept:
        kept.put("release/0/progress", Progress("running", attempt=2, failed=("too few answered",) * 2).to_bytes())
    ask = ["study", "release", "study.toml", "age", "--state", "c.db"]
    assert main([*ask, "--no-wait"]) == 0
    assert "release age: query 1, attempt 2 ended: too few answered" in capsys.readouterr().err
    clock = Clock()
    coordinator = Coordinator(study, key=key_of(0), store=store, step_seconds=1, clock=clock)
    for _ in range(20):
        asked = [(site, coordinator.question(site.number)) for site in sites]
        for site, question in asked:
            if question is not None:
                coordinator.receive(site.number, site.agent.answer(question))
        if not any(question for _, question in asked):
            clock.now += 2  # the step waits for the party that is away
    assert coordinator.result("age") is not None
    assert main(ask) == 0
    assert "parties in the sum: 3 of 4, without site-3" in capsys.readouterr().err
    assert main(["study", "status", "study.toml", "--state", "c.db"]) == 0
    said = capsys.readouterr().out
    assert "age: released (epsilon = 1), parties in the sum: 3 of 4, without site-3" in said
    assert said.count("too few answered") == 1
    assert "  too few answered (2 attempts)\n" in said
    store.close()
