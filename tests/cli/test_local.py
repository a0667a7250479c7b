"""A real collection by hand: describe, show, randomize and aggregate, through files, whatever is in them."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from helpers.forked import python
from helpers.scope import is_everything

from ogive import Curve
from ogive.cli import local, main
from ogive.local import Collection, Description
from ogive.local import collection as collecting

N = 3_000
RNG = np.random.default_rng(5)
AGES = RNG.normal(50, 15, N).clip(0, 120).round(1)
ASK = ("--column", "age", "--bounds", "0", "120", "--bins", "32", "--epsilon", "2", "--participants", str(N))
ROOT = pytest.mark.skipif(not os.access("/dev", os.W_OK), reason="only root may write beside a device")


@pytest.fixture
def run(capsys):
    """Run a command: (status, standard output, standard error)."""

    def run_it(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A description, a table, and reports of it in three files."""
    folder = tmp_path_factory.mktemp("collection")
    assert main(["local", "describe", "ecdf", *ASK, "--title", "Ages", "-o", str(folder / "study.json")]) == 0
    for place, part in enumerate(np.array_split(AGES, 3)):
        table = folder / f"{place}.csv"
        table.write_text("age\n" + "\n".join(map(str, part)) + "\n")
        first = str(place * N // 3)
        arguments = [
            "local",
            "randomize",
            folder / "study.json",
            table,
            "--first",
            first,
            "-o",
            folder / f"{place}.bin",
        ]
        assert main([str(argument) for argument in arguments]) == 0
    packed = folder / "1.bin"
    packed.write_bytes(gzip.compress(packed.read_bytes()))
    return folder


def parts(files):
    return [files / f"{place}.bin" for place in range(3)]


def test_describe_writes_what_participants_are_told(run, tmp_path):
    status, out, err = run("local", "describe", "ecdf", *ASK, "-o", tmp_path / "study.json")
    assert status == 0
    assert "wrote" in err
    assert "What the report reveals" in out
    description = Description.from_json(tmp_path / "study.json")
    assert description.participants == N
    assert description.statistic["name"] == "ecdf"
    status, out, err = run("local", "show", tmp_path / "study.json")
    assert (status, err) == (0, "")
    assert out.strip() == description.words


def test_describe_without_a_file_is_a_preview(run):
    status, out, err = run("local", "describe", "ecdf", *ASK)
    assert status == 0
    assert "What the report reveals" in out
    assert err == "this was a preview: name a file with -o, which participants need\n"
    status, out, err = run("local", "describe", "ecdf", *ASK, "--json")
    assert Description.from_json(out).title == ""
    assert "What the report reveals" in err


def test_describe_asks_for_quantiles_and_statistics_of_pairs(run):
    quantiles = run("local", "describe", "quantiles", "--probabilities", "0.5", *ASK, "--json")
    assert Description.from_json(quantiles[1]).statistic["name"] == "quantiles"
    pairs = ("--columns", "age", "--kernel", "gini", "--bounds", "0", "120", "--epsilon", "1", "--participants", "9000")
    status, out, err = run("local", "describe", "ustat", *pairs, "--json")
    assert status == 0, err
    assert Description.from_json(out).statistic["name"] == "ustatistic"


def test_describe_tells_what_shuffling_leaves(run):
    status, out, err = run("local", "describe", "ecdf", *ASK, "--shuffled", "1e-6", "--json")
    assert status == 0, err
    description = Description.from_json(out)
    from ogive.accounting.shuffling import shuffled_epsilon
    from ogive.local.collection import smallest_group

    group = smallest_group(description.oracle, N)
    assert f"(the smallest group of reports on one question has {group})" in err
    kept = float(err.split("no more than epsilon = ")[1].split(",")[0])
    bound = float(shuffled_epsilon(group, 2, "1e-6"))
    assert bound <= kept < bound * 1.001 < 2


def test_describe_tells_who_asks_what_one_report_can_do(run):
    status, out, _ = run("local", "describe", "ecdf", *ASK)
    assert status == 0
    reach = Description.from_json(run("local", "describe", "ecdf", *ASK, "--json")[1]).oracle.reach
    assert re.search(rf"at most {reach:.3g} people\n.*: {100 * reach / N:.2g} % of all participants", out)


def test_describe_predicts_errors(run):
    status, out, err = run("local", "describe", "ecdf", *ASK, "--predict")
    assert status == 0, err
    assert "What the report reveals" in out
    assert "3,000 records, trust local" in out
    assert re.search(r"\* +reports +\+/- [\d.]+ records", out)


LABELS = (
    "--columns",
    "age",
    "sick",
    "--kernel",
    "auc",
    "--bounds",
    "0",
    "120",
    "--epsilon",
    "1",
    "--participants",
    "900",
    "--public-labels",
)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("ecdf", *ASK[:-1], "0"), "participants must be a whole number of at least 1, got 0"),
        (("ecdf", *ASK[:-1], "many"), "must be a whole number, got 'many'"),
        (("ecdf", *ASK, "--delta", "2"), "--delta must be strictly between 0 and 1"),
        (("ecdf", *ASK, "--shuffled", "0"), "--shuffled: delta must be from 1e-100 to below 1"),
        (("ustat", *LABELS, "--shuffled", "1e-6"), "--shuffled: reports of public classes mix with"),
        (("ecdf", *ASK, "--title", "a\nb"), "title must be one line"),
        (("ecdf", *ASK, "-o", "/nowhere/study.json"), "the folder /nowhere does not exist"),
    ],
)
def test_describe_refuses_what_cannot_be(run, command, message):
    status, out, err = run("local", "describe", *command)
    assert status in (1, 2)
    assert message in err
    assert len(err.splitlines()) == 1
    assert out == ""


@pytest.mark.parametrize(
    ("epsilon", "message"),
    [
        ("0", "--epsilon must be above 0, got 0"),
        ("inf", "--epsilon must be a number, got 'inf'"),
        ("nan", "--epsilon must be a number, got 'nan'"),
        ("1e-300", "epsilon must be at least 1e-9, got 1e-300"),
        ("1e999999999", "--epsilon must be of a size from 1e-300 to 1e300"),
    ],
)
def test_describe_refuses_an_epsilon_that_cannot_be(run, epsilon, message):
    status, out, err = run("local", "describe", "ecdf", *ASK[:7], f"--epsilon={epsilon}", *ASK[-2:])
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda data: data["privacy"].update(epsilon="1/2"),
            "the oracle costs epsilon = 2, more than the stated guarantee",
        ),
        (
            lambda data: data["oracle"].update(size=2**40),
            "the oracle has 1099511627776 symbols, but the columns",
        ),
        (lambda data: data["domain"]["columns"][0]["grid"].update(bins=2**63), "bins must be a whole number from 1 to"),
        (lambda data: data.update(participants=2**40), "participants must be a whole number from 1 to 2^32"),
        (lambda data: data.update(title="\x1b[2J"), "title must be one line of at most 400 printable characters"),
        (lambda data: data.update(more=1), "has a field 'more' that this version does not know"),
        (lambda data: data.pop("rounding"), "lacks the field 'rounding'"),
    ],
    ids=["epsilon", "size", "bins", "participants", "title", "unknown", "missing"],
)
def test_descriptions_that_were_tampered_with_are_refused_by_every_command(run, files, tmp_path, change, message):
    data = json.loads((files / "study.json").read_text())
    change(data)
    study = tmp_path / "tampered.json"
    study.write_text(json.dumps(data))
    for command in (
        ("show", study),
        ("randomize", study, files / "0.csv", "-o", tmp_path / "reports"),
        ("aggregate", study, parts(files)[0], "-o", tmp_path / "estimate.json"),
    ):
        status, out, err = run("local", *command)
        assert (status, out) == (1, "")
        assert f"{study}: the description" in err
        assert message in err
        assert len(err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["tampered.json"]


def test_reports_say_which_description_they_answer(run, files, tmp_path):
    """One whose epsilon was raised where it can be is another description, and takes no report of the first."""
    data = json.loads((files / "study.json").read_text())
    for place in (data["privacy"], data["oracle"]):
        place["epsilon"] = "100"
    data["oracle"]["level_epsilon"] = "100"
    (tmp_path / "raised.json").write_text(json.dumps(data))
    assert "epsilon = 100: no report is more than" in run("local", "show", tmp_path / "raised.json")[1]
    status, out, err = run("local", "aggregate", tmp_path / "raised.json", *parts(files))
    assert (status, out) == (1, "")
    assert f"0 reports accepted; {N} refused: not to this description" in err


def test_randomize_numbers_by_a_column(run, files, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("age,who\n30,7\n40,5\n")
    status, out, err = run(
        "local", "randomize", files / "study.json", table, "--number-column", "who", "-o", tmp_path / "r"
    )
    assert (status, out) == (0, "")
    assert "2 reports, each of which costs its owner epsilon = 2" in err
    found = Collection(files / "study.json")
    found.add(tmp_path / "r")
    assert (found.accepted, found.heard(7), found.heard(5)) == (2, True, True)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ("age\nhunter2\n", (), "hold"),
        ("age\n\n5\n", (), "missing"),
        ("years\n5\n", (), "has no column 'age'; it has 'years'"),
        ("age\n5\n6\n", ("--first", "2999"), "the numbers 0 to 2999, got 2 rows from number 2999 on"),
        ("age\n5\n", ("--first", "-1"), "got 1 rows from number -1 on"),
        ("age,who\n5,1\n6,1\n", ("--number-column", "who"), "two rows have the same number"),
        (
            "age,who\n5,1.5\n6,1\n",
            ("--number-column", "who"),
            "must hold the number of a participant in each row, whole and",
        ),
        ("age,who\n5,3000\n", ("--number-column", "who"), "'who'"),
        ("age\n5\n", ("--number-column", "who"), "has no column 'who'"),
    ],
)
def test_randomize_refuses_what_does_not_fit(run, files, tmp_path, table, options, message):
    (tmp_path / "t.csv").write_text(table)
    status, out, err = run(
        "local", "randomize", files / "study.json", tmp_path / "t.csv", "-o", tmp_path / "r", *options
    )
    assert (status, out) == (2, "")
    assert message in err
    assert "hunter2" not in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--limit-epsilon", "1"), "a report would cost epsilon = 2, and this device allows epsilon = 1"),
        (("--limit-epsilon", "0"), "--limit-epsilon must be above 0, got 0"),
        (("--limit-delta", "0.1"), "--limit-delta requires --limit-epsilon"),
    ],
)
def test_randomize_refuses_a_description_that_asks_too_much(run, files, tmp_path, options, message):
    out = tmp_path / "out.bin"
    status, shown, said = run("local", "randomize", files / "study.json", files / "0.csv", "-o", out, *options)
    assert (status != 0, shown, out.exists()) == (True, "", False)
    assert message in said
    assert run("local", "randomize", files / "study.json", files / "0.csv", "-o", out, "--limit-epsilon", "2")[0] == 0


def test_randomize_sends_no_column_as_it_is_unless_the_device_says_so(run, tmp_path):
    study, table, out = tmp_path / "study.json", tmp_path / "t.csv", tmp_path / "out.bin"
    asked = ("--kernel", "auc", "--columns", "s", "l", "--bounds", "0", "1", "--bins", "8", "--epsilon", "1")
    public = ("--public-labels", "--participants", "99")
    assert run("local", "describe", "ustat", *asked, *public, "-o", study)[0] == 0
    table.write_text("s,l\n0.5,1\n")
    command = ("local", "randomize", study, table, "-o", out)
    for options, allowed in (
        (("--limit-epsilon", "1"), "no column"),
        (("--limit-epsilon", "1", "--public-columns", "s"), "'s'"),
        (("--public-columns", "s"), "'s'"),
    ):
        status, shown, said = run(*command, *options)
        assert (status, shown, out.exists()) == (1, "", False)
        assert re.search(f"the column 'l' as it is, unprotected, .*allows that of {allowed}", said)
        assert len(said.splitlines()) == 1
    status, _, said = run(*command, "--limit-epsilon", "1", "--public-columns", "s", "l")
    assert status == 0, said
    assert re.search(": 1 report, .*epsilon = 1, .*the column 'l' as it is, unprotected\n$", said)
    assert out.read_bytes()[9] == 1


def test_randomize_does_not_write_over_what_it_reads(run, files):
    for taken in ("study.json", "0.csv"):
        status, _, err = run("local", "randomize", files / "study.json", files / "0.csv", "-o", files / taken)
        assert status == 2
        assert "would overwrite another file of this run" in err


def test_three_partial_states_give_identical_estimates_in_any_order(run, files, tmp_path):
    status, out, err = run("local", "aggregate", files / "study.json", *parts(files), "--json")
    assert status == 0, err
    assert f"{N} reports accepted" in err
    whole = Curve.from_json(out)
    assert whole.provenance.trust == "local"
    assert abs(whole(50) - np.mean(AGES <= 50)) < 0.15
    for place, part in enumerate(parts(files)):
        state = tmp_path / f"{place}.state"
        assert run("local", "aggregate", files / "study.json", part, "--partial", state, "--count-only")[0] == 0
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        states = [tmp_path / f"{place}.state" for place in order]
        status, out, err = run("local", "aggregate", files / "study.json", *states, "--json")
        assert status == 0, err
        found = Curve.from_json(out)
        assert found.with_provenance(whole.provenance) == whole


def test_reports_and_states_are_mixed_and_read_once(run, files, tmp_path):
    state, kept = tmp_path / "one.state", tmp_path / "all.state"
    first, second, third = parts(files)
    assert run("local", "aggregate", files / "study.json", second, "--partial", state, "--count-only")[0] == 0
    every = (files / "study.json", first, state, third, "--partial", kept)
    status, out, err = run("local", "aggregate", *every, "-o", tmp_path / "c.json", "--plot", tmp_path / "c.svg")
    assert status == 0, err
    assert out.startswith("Distribution function of age")
    assert Curve.from_json(tmp_path / "c.json").total == N
    assert "<svg" in (tmp_path / "c.svg").read_text()
    before = kept.read_bytes()
    status, out, err = run("local", "aggregate", *every)
    assert status == 0
    assert "Distribution function of age" in out
    assert err.count("nothing new") == 3
    assert kept.read_bytes() == before


def test_duplicates_and_damage_are_counted_and_nothing_crashes(run, files, tmp_path):
    first = parts(files)[0].read_bytes()
    size = Description.from_json(files / "study.json").report_bytes
    bad = tmp_path / "bad"
    bad.write_bytes(first[: 4 * size] + first[:size] + b"\x07" * size + first[:5] + b"\xff" * (size - 5) + b"cut")
    status, out, err = run("local", "aggregate", files / "study.json", bad, parts(files)[0], parts(files)[2], "--json")
    assert status == 0
    assert re.search("^2000 .*accepted; 5 refused: .*reported before; 2 refused: malformed; 1 refused", err)
    assert Curve.from_json(out).total == 2000


def test_too_few_reports_are_refused_with_counts(run, files, tmp_path):
    one = tmp_path / "one"
    one.write_bytes(parts(files)[0].read_bytes()[: Description.from_json(files / "study.json").report_bytes] + b"cut")
    status, out, err = run("local", "aggregate", files / "study.json", one)
    assert (status, out) == (1, "")
    assert err.endswith("but 1 were accepted and 1 refused\n")
    assert run("local", "aggregate", files / "study.json")[0] == 1


def test_other_peoples_files_are_refused_by_name(run, files, tmp_path):
    other, state = tmp_path / "other.json", tmp_path / "other.state"
    run("local", "describe", "ecdf", *ASK, "-o", other)
    assert run("local", "aggregate", other, "--partial", state, "--count-only")[0] == 0
    cases = [
        (("aggregate", files / "study.json", state), f"{state}: the partial state is of another description"),
        (
            ("aggregate", files / "study.json", "--partial", state),
            f"{state}: this partial state is of another description",
        ),
        (("aggregate", files / "0.csv"), "this is not a description of a collection"),
        (("show", files / "0.bin"), "this is not a description of a collection"),
    ]
    damaged = tmp_path / "damaged.state"
    damaged.write_bytes(state.read_bytes()[:-1])
    cases.append((("aggregate", files / "study.json", damaged), f"{damaged}: the partial state is damaged"))
    cases.append(
        (("aggregate", files / "study.json", "--partial", damaged), f"{damaged}: the partial state is damaged")
    )
    for command, message in cases:
        status, out, err = run("local", *command)
        assert (status, out) == (1, ""), err
        assert message in err
        assert len(err.splitlines()) == 1
    # reports to another description are counted, and there are none left to estimate from
    status, _, err = run("local", "aggregate", other, parts(files)[0])
    assert status == 1
    assert f"{N // 3} refused: not to this description" in err


def test_states_that_share_participants_are_refused_and_the_rest_is_kept(run, files, tmp_path):
    states = [tmp_path / "a", tmp_path / "b"]
    for state in states:
        run("local", "aggregate", files / "study.json", parts(files)[0], "--partial", state, "--count-only")
    twice = tmp_path / "twice"
    twice.write_bytes(parts(files)[0].read_bytes()[::-1])
    run("local", "aggregate", files / "study.json", twice, "--partial", states[1], "--count-only")
    kept = tmp_path / "kept"
    status, _, err = run("local", "aggregate", files / "study.json", *states, "--partial", kept)
    assert status == 1
    assert f"{states[1]}: 1000 participants are in both partial states" in err
    assert Collection.load(kept).accepted == 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--count-only",), "--count-only needs --partial"),
        (("--plot", "x.gif"), "--plot must name a .png, .svg or .pdf file"),
        (("-o", "/nowhere/x.json"), "the folder /nowhere does not exist"),
    ],
)
def test_aggregate_refuses_before_it_reads(run, files, options, message):
    status, out, err = run("local", "aggregate", files / "study.json", files / "none", *options)
    assert (status, out) == (2, "")
    assert message in err


def test_a_missing_file_is_named(run, files):
    status, _, err = run("local", "aggregate", files / "study.json", files / "none")
    assert status == 2
    assert f"cannot read {files / 'none'}: No such file" in err


def test_what_was_read_before_a_missing_file_is_kept(run, files, tmp_path):
    every = (files / "study.json", parts(files)[0], files / "none", "--partial", tmp_path / "state")
    status, out, err = run("local", "aggregate", *every)
    assert (status, out) == (2, "")
    assert f"cannot read {files / 'none'}: No such file" in err
    assert Collection.load(tmp_path / "state").accepted == N // 3


@pytest.mark.parametrize(
    ("where", "message"),
    [
        pytest.param("zero", "zero: a partial state must be an ordinary file", marks=ROOT),
        (".", "cannot write .: it is a folder"),
        ("0.csv", "this is not a partial state of this version of ogive"),
    ],
)
def test_a_partial_state_goes_to_a_file_of_its_own(run, files, where, message, tmp_path):
    before = (files / "0.csv").read_bytes()
    (tmp_path / "zero").symlink_to("/dev/zero")
    state = {".": Path(), "zero": tmp_path / "zero"}.get(where, files / where)
    status, out, err = run("local", "aggregate", files / "study.json", parts(files)[0], "--partial", state)
    assert status in (1, 2)
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1
    assert (files / "0.csv").read_bytes() == before
    assert not list(files.glob("*.key"))
    assert [path.name for path in tmp_path.iterdir()] == ["zero"]


@ROOT
def test_a_full_disk_is_said_in_one_line_and_leaves_nothing(run, files):
    status, out, err = run("local", "randomize", files / "study.json", files / "0.csv", "-o", "/dev/full")
    assert (status, out) == (2, "")
    assert err == "ogive: error: cannot write /dev/full: No space left on device\n"
    # an estimate is not lost: the reports cannot be asked again
    status, out, err = run("local", "aggregate", files / "study.json", *parts(files), "-o", "/dev/full")
    assert status == 1
    assert "No space left on device; the result went to standard output" in err
    assert Curve.from_json(out).total == N


def test_too_little_memory_is_said_in_one_line(run, files, monkeypatch):
    def exhausted(self, *sources, **options):
        raise MemoryError

    monkeypatch.setattr(collecting.Collection, "add", exhausted)
    status, out, err = run("local", "aggregate", files / "study.json", *parts(files))
    assert (status, out, err) == (1, "", "ogive: error: the system declined: not enough memory\n")


def test_an_interrupted_run_goes_on_where_it_saved(run, files, tmp_path, monkeypatch):
    monkeypatch.setattr(local, "SAVE_SECONDS", 0.0)
    monkeypatch.setattr(collecting, "CHUNK", 100)
    state = tmp_path / "state"
    added = collecting.Collection._add_chunk
    calls = []

    def stop(self, reports):
        calls.append(len(reports))
        if len(calls) == 17:
            added(self, reports[:50])
            raise KeyboardInterrupt
        return added(self, reports)

    with monkeypatch.context() as patched:
        patched.setattr(collecting.Collection, "_add_chunk", stop)
        status, out, err = run("local", "aggregate", files / "study.json", *parts(files), "--partial", state, "--json")
    assert (status, out) == (128 + signal.SIGINT, "")
    assert re.fullmatch("ogive: stopped; the same command goes on .*\n", err)
    assert Collection.load(state).accepted == 1600
    check_resumed(run, files, state)


def interpreter():
    """What runs `-c CODE`: Python, in `make test` one that has imported everything."""
    return sys.executable if is_everything() else python()


KILLED = """
import os, signal, sys
from ogive.cli import main
from ogive.cli import local
from ogive.local import collection as collecting
local.SAVE_SECONDS, collecting.CHUNK = 0.0, 100
saved, save = [], collecting.Collection.save
def kill(self, path, **options):
    save(self, path, **options)
    saved.append(path)
    if len(saved) == 12:
        self._sums[:] = -1
        os.kill(os.getpid(), signal.SIGKILL)
collecting.Collection.save = kill
main(sys.argv[1:])
"""


@pytest.mark.parametrize("locks", [True, False])
def test_a_state_that_another_run_wrote_meanwhile_is_left_as_it_is(run, files, tmp_path, monkeypatch, locks):
    if not locks:
        monkeypatch.setattr(local, "fcntl", None)
    state = tmp_path / "state"
    add = Collection.add

    def add_while_another_run_adds(self, file, **options):
        counts = add(self, file, **options)
        other = Collection(self.description)
        add(other, files / "1.bin")
        other.save(state)
        return counts

    monkeypatch.setattr(Collection, "add", add_while_another_run_adds)
    command = ("local", "aggregate", files / "study.json", files / "0.bin", "--partial", state, "--count-only")
    status, _, said = run(*command)
    assert status == 1
    assert f"{state}: another run has written this file meanwhile" in said.replace("\n", "")
    assert Collection.load(state).accepted == N // 3
    monkeypatch.undo()
    assert run(*command)[0] == 0
    assert Collection.load(state).accepted == 2 * (N // 3)


def test_a_killed_run_goes_on_where_it_saved(run, files, tmp_path):
    state = tmp_path / "state"
    command = ["local", "aggregate", files / "study.json", *parts(files), "--partial", state]
    killed = subprocess.run([interpreter(), "-c", KILLED, *map(str, command)], capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert Collection.load(state).accepted == 1100  # a save at the end of the first file, too
    check_resumed(run, files, state)


KILLED_SAVING = """
import os, signal, sys
from pathlib import Path
from ogive.cli import main
from ogive.cli import local
from ogive.local import collection as collecting
local.SAVE_SECONDS, collecting.CHUNK = 0.0, 100
replaced, replace = [], Path.replace
def kill(self, target):
    replaced.append(target)
    if len(replaced) == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(self, target)
Path.replace = kill
main(sys.argv[1:])
"""


def test_what_a_killed_run_left_is_removed_by_the_next_one(run, files, tmp_path):
    state = tmp_path / "state"
    others = [tmp_path / name for name in (".state.settings", ".other.abcdefgh.half", "state.abcdefgh.half")]
    for other in others:
        other.write_text("kept")
    command = ["local", "aggregate", files / "study.json", *parts(files), "--partial", state]
    killed = subprocess.run([interpreter(), "-c", KILLED_SAVING, *map(str, command)], capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert Collection.load(state).accepted == 400
    assert len(list(tmp_path.iterdir())) == 6, "one file is half-written"
    check_resumed(run, files, state)
    assert sorted(tmp_path.iterdir()) == sorted([state, tmp_path / "state.key", *others])


RUN = "import sys; from ogive.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def reading(files, tmp_path):
    """A process that has a state and waits for reports, and the pipe that it waits at."""
    pipe, state = tmp_path / "pipe", tmp_path / "state"
    os.mkfifo(pipe)
    command = ["local", "aggregate", files / "study.json", pipe, "--partial", state, "--count-only"]
    process = subprocess.Popen([sys.executable, "-c", RUN, *map(str, command)], stderr=subprocess.PIPE, text=True)
    while True:
        try:
            writer = os.fdopen(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK), "wb")
            break
        except OSError:  # nobody is at the other end yet
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.05)
    yield process, writer
    writer.close()
    process.kill()
    process.wait()
    process.stderr.close()


@pytest.mark.everything
def test_of_two_runs_with_one_state_the_second_is_refused_at_once(run, files, tmp_path, reading):
    process, writer = reading
    state, link = tmp_path / "state", tmp_path / "link"
    link.symlink_to(state)
    for name in (state, link):
        command = ("local", "aggregate", files / "study.json", files / "1.bin", "--partial", name, "--count-only")
        status, out, err = run(*command)
        assert (status, out) == (1, "")
        assert f"{name}: another run is adding to this file; run this again" in err
        assert len(err.splitlines()) == 1
    assert not state.exists()
    writer.write((files / "0.bin").read_bytes())
    writer.close()
    assert process.communicate()[1] == f"{N // 3} reports accepted\n"
    assert process.returncode == 0
    assert run(*command)[0] == 0
    assert Collection.load(state).accepted == 2 * (N // 3)


def test_a_killed_run_keeps_nobody_out(run, files, tmp_path, reading):
    process, _ = reading
    command = ("local", "aggregate", files / "study.json", files / "1.bin", "--partial", tmp_path / "state")
    assert run(*command)[0] == 1
    process.kill()
    process.wait()
    assert run(*command)[0] == 0
    assert Collection.load(tmp_path / "state").accepted == N // 3


def test_processes_that_start_at_once_lose_nothing(files, tmp_path):
    state = tmp_path / "state"
    command = [interpreter(), "-c", RUN, "local", "aggregate", str(files / "study.json"), "--count-only"]
    racing = [
        subprocess.Popen([*command, str(part), "--partial", str(state)], stderr=subprocess.PIPE, text=True)
        for part in parts(files)[:2]
    ]
    told = [process.communicate()[1] for process in racing]
    ended = [process.returncode for process in racing]
    assert set(ended) <= {0, 1}, told
    assert 0 in ended
    kept = Collection.load(state)
    for place, (status, said) in enumerate(zip(ended, told, strict=True)):
        if status:
            assert "another run is adding to this file" in said
        else:
            assert all(kept.heard(number) for number in range(place * N // 3, (place + 1) * N // 3))


def test_the_key_stays_with_its_owner_and_states_that_are_handed_on_merge(run, files, tmp_path):
    handed = tmp_path / "handed"
    handed.mkdir()
    study = files / "study.json"
    for place, part in enumerate(parts(files)[:2]):
        state, key = tmp_path / f"{place}.state", tmp_path / f"{place}.state.key"
        assert run("local", "aggregate", study, part, "--partial", state, "--count-only")[0] == 0
        assert key.stat().st_mode & 0o777 == 0o600
        assert len(key.read_bytes()) == 32
        assert key.read_bytes() not in state.read_bytes()
        (handed / state.name).write_bytes(state.read_bytes())
    north, south = sorted(handed.iterdir())
    status, out, err = run("local", "aggregate", study, south, parts(files)[2], "--partial", north, "--json")
    assert (status, err) == (0, f"{N} reports accepted\n")
    _, whole, _ = run("local", "aggregate", study, *parts(files), "--json")
    found, whole = Curve.from_json(out), Curve.from_json(whole)
    assert found.with_provenance(whole.provenance) == whole
    # who was handed the state does not know which files were read for it, and loses nothing by that
    status, again, err = run("local", "aggregate", study, parts(files)[0], south, "--partial", north, "--json")
    assert status == 0
    assert re.search(f"{N} reports accepted; {N // 3} refused: .*reported before", err)
    assert f"{south}: nothing new" in err
    again = Curve.from_json(again)
    assert again.with_provenance(whole.provenance) == whole


def test_a_file_that_is_no_key_is_left_alone(run, files, tmp_path):
    key = tmp_path / "state.key"
    command = ("local", "aggregate", files / "study.json", files / "0.bin", "--partial", tmp_path / "state")
    key.write_text("a key of something else")
    status, _, err = run(*command)
    assert status == 2
    assert f"{key} is not a key of a partial state; move it away, or name another" in err
    assert key.read_text() == "a key of something else"
    key.unlink()
    os.mkfifo(key)
    assert "is not a key of a partial state" in run(*command)[2]
    key.unlink()
    assert "would overwrite another file of this run" in run(*command, "-o", key)[2]
    assert not (tmp_path / "state").exists()


def check_resumed(run, files, state):
    """The same command ends as if it had never been stopped."""
    status, out, err = run("local", "aggregate", files / "study.json", *parts(files), "--partial", state, "--json")
    assert status == 0, err
    assert f"{N} reports accepted\n" in err
    _, whole, _ = run("local", "aggregate", files / "study.json", *parts(files), "--json")
    curves = [Curve.from_json(text) for text in (out, whole)]
    assert curves[0].with_provenance(curves[1].provenance) == curves[1]
