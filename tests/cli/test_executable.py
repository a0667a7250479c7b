"""The installed program, as a shell sees it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers.forked import program
from helpers.scope import is_everything
from helpers.waiting import PATIENCE, until

import ogive

PROGRAM = Path(sys.executable).with_name("ogive")
AGE = ["--column", "age", "--bounds", "0", "120", "--bins", "120", "--epsilon", "1"]


def run(*arguments, program=PROGRAM, **options):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, **options)


@pytest.fixture
def quick(tmp_path_factory):
    """The program, in `make test` one that has imported everything."""
    return PROGRAM if is_everything() else program(tmp_path_factory.mktemp("program"))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age;job\n" + "".join(f"{20 + i % 60};x\n" for i in range(500)))
    return path


def test_the_version_is_printed():
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"ogive {ogive.__version__}\n", "")


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from ogive.cli import main; status = main(['--help']); "
        "heavy = {'numpy', 'scipy', 'numba', 'ibis', 'duckdb', 'pyarrow', 'matplotlib'} & set(sys.modules); "
        "sys.exit(f'loaded {heavy}' if heavy else status)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_curve_goes_through_a_pipe(table):
    done = run("ecdf", table, *AGE, "--no-ledger", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["provenance"]["privacy"]["epsilon"] == "1"


def test_bad_use_is_one_line_and_status_two(table, tmp_path, quick):
    done = run("ecdf", table, *AGE[:-1], "0", "-o", tmp_path / "out.json", program=quick)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "ogive: error: --epsilon must be above 0, got 0\n"
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_a_reader_that_leaves_is_no_fault(table, quick):
    program = subprocess.Popen(
        [quick, "ecdf", table, *AGE, "--no-ledger", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    program.stdout.close()
    assert program.stderr.read() == b""
    program.stderr.close()
    assert program.wait(PATIENCE) == 141


def catches(program, number):
    """Whether the process handles a signal itself."""
    status = Path(f"/proc/{program.pid}/status").read_text(encoding="utf-8")
    caught = int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16)
    return bool(caught >> (number - 1) & 1)


@pytest.mark.parametrize(
    ("number", "status", "seconds"),
    [
        (signal.SIGINT, 130, 0.1),
        pytest.param(signal.SIGINT, 130, 2, marks=pytest.mark.everything),
        (signal.SIGTERM, 143, 2),
    ],
    ids=["early_interrupt", "interrupt", "end"],
)
def test_a_signal_ends_in_one_line(tmp_path, number, status, seconds):
    fifo = tmp_path / "slow.csv"  # a table that is never written: the program waits for it
    os.mkfifo(fifo)
    program = subprocess.Popen(
        [PROGRAM, "ecdf", fifo, *AGE, "-o", tmp_path / "out.json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        until(lambda: catches(program, signal.SIGTERM))
        time.sleep(seconds)
        program.send_signal(number)
        out, err = program.communicate(timeout=PATIENCE)
    finally:
        if program.poll() is None:
            program.kill()
            program.communicate()
    assert (program.returncode, out, err) == (status, b"", b"ogive: stopped\n")
    assert [path.name for path in tmp_path.iterdir()] == ["slow.csv"]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_that_a_finalizer_swallows_still_ends_the_program(number, status):
    """Python ignores what is raised in `__del__` and in callbacks of weak references, as importing has them."""
    code = f"""
import signal, sys, time
from ogive import cli
class Last:
    def __del__(self):
        signal.raise_signal({int(number)})
def run(words):
    Last()
    time.sleep(3000)
cli._run = run
sys.exit(cli.main([]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "ogive: stopped\n")


def test_the_bank_table_gives_its_deciles(shared_data):
    done = run("quantiles", shared_data("bank-full.csv.gz"), *AGE, "--no-ledger", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = [row["value"] for row in json.loads(done.stdout)["quantiles"]]
    for value, exact in zip(found, [29, 32, 34, 36, 39, 42, 46, 51, 56], strict=True):
        assert abs(value - exact) <= 1
