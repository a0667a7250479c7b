"""A device uploads with an installation of numpy and cryptography alone, the bytes that any other one does."""

import json
import subprocess
import sys

import numpy as np
import pytest
from helpers.scope import is_everything
from helpers.server_processes import Processes
from helpers.servers_study import AGE, Trial, text_of, token_of
from helpers.waiting import PATIENCE

from ogive.cli import needed
from ogive.study.document import ServersStudy
from ogive.study.servers.uploads import report_bytes

FRONT = """
import sys
ALLOWED = {"ogive", "numpy", "cryptography", "_cffi_backend", *sys.argv[1].split(",")}
class Device:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in ALLOWED and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"a device has no {top}", name=top)
sys.meta_path.insert(0, Device())
"""

UPLOADS = """
import numpy as np
import ogive
def upload(records, tokens):
    try:
        return ogive.upload("study.toml", records, tokens=tokens, connect=sys.argv[2], authority="tls-0/ca.pem")
    except ogive.OgiveError as problem:
        return str(problem)
tokens = sys.argv[3:]
print(upload(65, tokens[0]))
print(upload([30, None, "40"], tokens[1:4]))
print(upload("people.parquet", tokens[4]))
print(upload(np.array([41]), tokens[5]))
print(upload(np.float64(41), tokens[6]))
"""

COMMAND = """
from ogive.cli import main
sys.exit(main(["upload", "study.toml", "--connect", sys.argv[2], "--authority", "tls-0/ca.pem", *sys.argv[3:]]))
"""

REPORTS = """
import json
from ogive.cli import needed
from ogive.study.document import ServersStudy
from ogive.study.servers.uploads import make_reports
given = json.load(sys.stdin)
lengths = []
for text in given["studies"]:
    study = ServersStudy.parse_unchecked(text.encode())
    lengths.append([len(report) for report in make_reports(study, given["record"], [given["token"]])])
print(json.dumps(lengths))
"""


def device(script, *words, folder=None, said="", allowed="-"):
    """A process of a device: what it printed, what it complained of, and its exit status."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FRONT + script, allowed, *words],
        cwd=folder, input=said, capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    return done.stdout, done.stderr, done.returncode


@pytest.mark.parametrize("module", ["numba", "scipy", "pyarrow", "pandas", "duckdb", "sqlalchemy"])
def test_a_device_of_these_tests_has_nothing_else(module):
    _, complaint, status = device(f"import {module}")
    assert status == 1
    assert f"a device has no {module}" in complaint


def test_a_device_uploads_with_numpy_and_cryptography_alone(tmp_path):
    trial = Trial(tmp_path, people=8, records=8, releases=(AGE | {"missing": "'low'"},))
    trial.close()
    (tmp_path / "token").write_text(token_of(5))
    (tmp_path / "people.parquet").write_bytes(b"")
    with Processes(trial) as processes:
        processes.start(0)
        processes.until(0, lambda found: True)
        address = f"https://127.0.0.1:{processes.ports[0]}"
        printed, complaint, status = device(UPLOADS, address, *map(token_of, (0, 1, 2, 3, 4, 6, 7)), folder=tmp_path)
        assert (complaint, status) == ("", 0)
        one, three, refused, array, scalar = printed.splitlines()
        assert (one, three, array, scalar) == ("1", "3", "1", "1")
        assert "needs the whole installation" in refused
        assert "no pyarrow" in refused
        words = ["--token", "token", "--value", "65"]
        _, complaint, status = device(COMMAND, address, *words, folder=tmp_path, allowed="cyclopts,rich,attr,attrs")
        assert (complaint, status) == ("the record is uploaded\n", 0)
        assert processes.until(0, lambda found: True)["uploads"] == 7


def test_a_device_that_lacks_what_a_command_needs_says_so_in_one_line(tmp_path):
    votes = {"name": "scans", "statistic": "labels", "privacy": "{ epsilon = 8, delta = 1e-5 }"}
    votes |= {"queries": '["scan0", "scan1"]', "classes": "3", "keep": "1"}
    (tmp_path / "study.toml").write_bytes(text_of(releases=(votes,), budget="{ epsilon = 8, delta = 1e-5 }"))
    (tmp_path / "token").write_text(token_of(0))
    vote = ["--token", "token", "--value", "scan0=1", "scan1=2"]
    for allowed, said in (
        ("cyclopts,rich,attr,attrs", "this upload needs the whole installation, pip install ogive: a device has no "),
        ("-", "this needs cyclopts, which is not installed; run pip install 'ogive'"),
    ):
        printed, complaint, status = device(COMMAND, "https://localhost:1", *vote, folder=tmp_path, allowed=allowed)
        assert (printed, status, complaint.count("\n")) == ("", 2, 1)
        assert complaint.startswith(f"ogive: error: {said}")


@pytest.mark.parametrize(
    ("module", "installation"),
    [("starlette.routing", "ogive[serve]"), ("matplotlib", "ogive[plots]"), ("scipy", "ogive"), ("rich_rst", "ogive")],
)
def test_what_is_lacking_names_what_to_install(module, installation):
    said = needed(ModuleNotFoundError(f"No module named {module!r}", name=module))
    assert said.endswith(f", which is not installed; run pip install '{installation}'")
    assert needed(ModuleNotFoundError("No module named 'ogive.gone'", name="ogive.gone")) is None


ASKED = {
    "ecdf": {"column": "'age'", "bounds": "[0, 120]", "bins": "120"},
    "quantiles": {"column": "'age'", "bounds": "[0, 120]", "grid": "'integers'"},
    "roc": {"score": "'age'", "label": "'ill'", "negative": "[0]", "bounds": "[0, 120]", "bins": "60"},
    "boxplot": {"column": "'age'", "by": "'sex'", "groups": "['f', 'm']", "bounds": "[0, 120]", "bins": "60"},
    "mean": {"column": "'age'", "bounds": "[0, 120]"},
    "histogram": {"column": "'sex'", "values": "['f', 'm']"},
    "proportion": {"column": "'ill'", "positive": "[1]"},
}
GUARANTEES = ("{ epsilon = 1 }", "{ rho = 0.1 }", "{ epsilon = 1, delta = 1e-6 }")


def test_a_device_makes_the_reports_that_servers_expect():
    """Of every statistic under every guarantee (in `make test` under one of them).

    The servers follow methods and prices to the end, the device none.
    """
    texts = [
        text_of(
            releases=[{"name": "one", "statistic": name, "privacy": guarantee} | fields],
            budget=guarantee,
            unit='adjacency = "add_or_remove"',
        )
        for number, (name, fields) in enumerate(ASKED.items())
        for guarantee in (GUARANTEES if is_everything() else [GUARANTEES[number % len(GUARANTEES)]])
    ]
    record = {"age": [65], "ill": [1], "sex": ["f"]}
    given = {"studies": [text.decode() for text in texts], "record": record, "token": token_of(1)}
    printed, complaint, status = device(REPORTS, said=json.dumps(given))
    assert (complaint, status) == ("", 0)
    wanted = [ServersStudy.parse(text) for text in texts]
    assert json.loads(printed) == [[report_bytes(study)] for study in wanted]
    found = [ServersStudy.parse_unchecked(text).collected for text in texts]
    assert found == [study.collected for study in wanted]
    assert len({np.sum([len(each) for each in found]), len(texts)}) == 1
