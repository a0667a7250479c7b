"""A statistic and a trust model of the manual, added to a copy of the package, are served everywhere."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.waiting import PATIENCE

import ogive

ROOT = Path(__file__).parents[2]
PACKAGE = Path(ogive.__file__).parent
PAGE = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```py\n# (.*?)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
LINE = re.compile(r"one line of (\w+) in (\S+)")


def add(package, blocks):
    """Write the files of the page, and put its lines into the lists; returns the existing files that changed."""
    changed = []
    for place, text in blocks:
        listed = LINE.fullmatch(place)
        if listed is None:
            path = package / place
            assert not path.exists(), f"{place} is there already"
            path.parent.mkdir(exist_ok=True)
            if path.parent.name not in ("trust", "statistics"):
                (path.parent / "__init__.py").touch()
            path.write_text(text, encoding="utf-8")
        else:
            assert len(text.splitlines()) == 1, "a list gets one line"
            path = package / listed[2]
            before = path.read_text(encoding="utf-8")
            head, opening, rest = re.split(rf"^({listed[1]} = [({{]\n)", before, maxsplit=1, flags=re.MULTILINE)
            path.write_text(f"{head}{opening}    {text}{rest}", encoding="utf-8")
            changed.append(listed[2])
    return changed


SHELL = """
import contextlib, io, json, sys, traceback
for line in sys.stdin:
    out, err, status = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            exec(compile(json.loads(line), "<asked>", "exec"), {"__name__": "__main__"})
        except SystemExit as ended:
            status = ended.code
        except BaseException:
            traceback.print_exc()
            status = 1
    print(json.dumps([status or 0, out.getvalue(), err.getvalue()]), flush=True)
"""
"""A process that runs programs one after the other, since each new one would load the package again."""


@pytest.fixture(scope="module")
def shells():
    """Processes by the folder of their package, which end with the last test."""
    found = {}
    yield found
    for shell in found.values():
        shell.communicate(timeout=PATIENCE)


def machine_code(folder, names):
    """Names of files of machine code, which the package of this folder would not share with its copy."""
    return [name for name in names if Path(folder).name == "__pycache__" and not name.endswith(".pyc")]


def copied(root):
    """Copy the package without its machine code into a folder, beside a table of scores; returns the copy."""
    shutil.copytree(PACKAGE, root / "ogive", ignore=machine_code)
    rows = "".join(f"{number / 200}\n" for number in range(200))
    (root / "scores.csv").write_text(f"score\n{rows}", encoding="utf-8")
    return root / "ogive"


@pytest.fixture(scope="module")
def house(tmp_path_factory, shells):
    """A copy of the package with the page's files and lines, an option more, and the stubs completed."""
    root = tmp_path_factory.mktemp("house")
    package = copied(root)
    assert add(package, BLOCKS) == ["statistics/kinds.py", "trust/models.py"]
    path = package / "statistics" / "bounds" / "statistic.py"
    text = path.read_text(encoding="utf-8")
    for after, more in MARGIN.items():
        assert text.count(after) == 1, after
        text = text.replace(after, after + more)
    path.write_text(text, encoding="utf-8")
    subprocess.run([sys.executable, ROOT / "tools" / "front_door.py", package], check=True, timeout=PATIENCE)
    return House(root, shells)


@pytest.fixture(scope="module")
def bare(tmp_path_factory, shells):
    """The control: a copy of the package with the page's files, and without its lines and the option."""
    root = tmp_path_factory.mktemp("bare")
    assert add(copied(root), [block for block in BLOCKS if LINE.fullmatch(block[0]) is None]) == []
    return House(root, shells)


class House:
    """A folder with a copy of the package, and a process whose package it is."""

    def __init__(self, root, shells):
        self.root, self._shells = root, shells

    @property
    def shell(self):
        if self.root not in self._shells:
            # no settings of whoever runs the tests, and no other package: neither installed nor compiled elsewhere;
            # the copy would have to compile its loops, and this is about names
            kept = {name: value for name, value in os.environ.items() if not name.startswith(("OGIVE_", "PYTHON"))}
            words = {"PYTHONPATH": str(self.root), "COLUMNS": "200", "NO_COLOR": "1", "NUMBA_DISABLE_JIT": "1"}
            environment = {**kept, **words}
            self._shells[self.root] = subprocess.Popen(
                [sys.executable, "-c", SHELL], cwd=self.root, env=environment, text=True, encoding="utf-8",
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        return self._shells[self.root]


def run(house, code, *, fails=False):
    """Run code in the process whose package is the copy; returns what it printed, or its error."""
    place = str(house.root / "ogive" / "__init__.py")
    copy = f"import ogive; assert ogive.__file__ == {place!r}, ogive.__file__\n"
    house.shell.stdin.write(json.dumps(copy + code) + "\n")
    house.shell.stdin.flush()
    answer = house.shell.stdout.readline()
    assert answer, "the process has ended"
    status, out, err = json.loads(answer)
    assert bool(status) is fails, err
    return err if fails else out


def command(house, *words, fails=False):
    code = f"import sys; from ogive.cli import main; sys.exit(main({list(words)!r}))"
    return run(house, code, fails=fails)


def test_a_statistic_is_a_function_and_a_verb(house):
    code = """
import inspect, ogive
values = [number / 200 for number in range(200)]
exact = ogive.share(values, threshold=0.75, trust="clear")
assert exact.value == 49 / 200, exact
found = ogive.share(values, threshold=0.75, privacy=ogive.PureDP(1))
assert isinstance(found, ogive.ShareEstimate) and found.errors(exact)["share"] < 0.5
assert str(inspect.signature(ogive.share)).count("threshold: 'float' = 0.5") == 1
assert list(inspect.signature(ogive.share).parameters)[0] == "values" and found.column == "value"
assert "threshold: Values above it are counted." in inspect.getdoc(ogive.share)
session = ogive.Session({"score": values}, limit=ogive.PureDP(1), ledger="share.db", name="scores")
paid = session.share("score", privacy=ogive.PureDP(1))
again = session.share("score", privacy=ogive.PureDP(1))
assert paid == again
assert ogive.ShareEstimate.from_json(paid.to_json()) == paid
from ogive.statistics.kinds import read_estimate
assert read_estimate(paid.to_dict()) == paid
try:
    session.share("score", treshold=1)
except TypeError as problem:
    assert "unexpected keyword argument 'treshold'" in str(problem)
else:
    raise AssertionError("an option that there is not was taken")
print("done", ogive.Share("score"))
"""
    assert run(house, code).startswith("done Share(column='score'")


def test_a_statistic_is_a_command_and_a_chapter(house):
    shown = command(house, "share", "--help-all")
    for words in (
        "--column",
        "--threshold",
        "Values above it are counted.",
        "[default: 0.5]",
        "[choices: refuse, low,",
    ):
        assert words in " ".join(shown.split()), shown
    assert "share" in command(house, "--help")
    shown = command(house, "share", "scores.csv", "--column", "score", "--threshold", "0.75", "--trust", "clear")
    assert "share of score above 0.75 (not private: exact values)\n  value:      24.5 %" in shown
    command(house, "share", "scores.csv", "--column", "score", "--epsilon", "1", "--json", "-o", "share.json")
    command(house, "report", "share.json", "-o", "page.html")
    assert "share of score above 0.5" in (house.root / "page.html").read_text(encoding="utf-8")
    assert "--threshold" in command(house, "completion", "bash")
    wrong = command(
        house, "share", "scores.csv", "--column", "score", "--missing", "drop", "--epsilon", "1", fails=True
    )
    assert "--missing must be refuse, low or high, got 'drop'" in wrong
    wrong = command(house, "share", "scores.csv", "--column", "score", "--threshold", "x", "--epsilon", "1", fails=True)
    assert wrong.endswith("--threshold must be a number, got 'x'\n")


def test_owners_are_asked_for_a_statistic_and_their_reports_are_its_estimate(house):
    words = ("local", "describe", "share", "--column", "score", "--threshold", "0.75", "--participants", "200")
    words = (*words, "--epsilon", "8")
    told = " ".join(command(house, "local", "describe", "share", "--help-all").split())
    assert "[choices: reports] [default: reports]" in told
    assert "--method must be reports, got 'tree_ls'" in command(house, *words, "--method", "tree_ls", fails=True)
    command(house, *words, "-o", "study.json")
    command(house, "local", "randomize", "study.json", "scores.csv", "-o", "all.reports")
    found = command(house, "local", "aggregate", "study.json", "all.reports", "--partial", "state")
    assert re.search(r"value: +[123]\d\.\d % ", found), found


def test_a_statistic_is_planned_and_a_trust_model_says_whether_it_serves_it(house):
    planned = command(house, "plan", "share", "--records", "1000", "--epsilon", "1", "--threshold", "0.75")
    assert "tree_ls" in planned
    assert "share: distance from the exact share, on average" in planned
    code = """
import ogive
from ogive.trust.models import MODELS
serving = {}
for name in MODELS:
    try:
        trust = ogive.Simulation(name, parties=3) if name == "secagg" else name
        asked = ogive.Share("x", method="reports" if name == "local" else "tree_ls")
        made = ogive.plan(asked, privacy=ogive.PureDP(1), records=1000, trust=trust, runs=2)
        serving[name] = made.chosen.method
    except (ogive.UnsupportedError, ogive.ParameterError):
        serving[name] = None
print(serving)
"""
    serving = eval(run(house, code))
    assert serving["central"] == serving["agreed"] == serving["secagg"] == serving["servers"] == "tree_ls"
    assert serving["local"] == "reports"
    assert serving["pairs"] is serving["clear"] is None


def test_a_trust_model_holds_records_for_every_statistic(house):
    code = """
import ogive
values = [number / 200 for number in range(200)]
found = ogive.ecdf(values, bounds=(0, 1), bins=16, trust="agreed", privacy=ogive.PureDP(1))
assert "agreed on this release" in str(found), found
session = ogive.Session({"score": values}, limit=ogive.PureDP(1), trust=ogive.Agreed)
found = session.quantiles("score", bounds=(0, 1), bins=16, privacy=ogive.PureDP(1))
assert found.provenance.trust == "agreed", found.provenance
"""
    run(house, code)
    asked = ("--column", "score", "--bounds", "0", "1", "--bins", "16", "--epsilon", "1", "--trust")
    assert "agreed on this release" in command(house, "ecdf", "scores.csv", *asked, "agreed")
    assert "agreed (two curators, one of whom checks the other)" in " ".join(
        command(house, "ecdf", "--help-all").split()
    )
    planned = command(house, "plan", "ecdf", "--records", "1000", "--runs", "2", *asked, "agreed")
    assert "1,000 records, trust agreed\n" in planned


def test_without_its_line_a_statistic_is_not_found(bare):
    """The control."""
    assert "Share" in run(bare, "from ogive.statistics.share.statistic import Share; print(Share('x'))")
    assert "module 'ogive' has no attribute 'share'" in run(bare, "import ogive; ogive.share", fails=True)
    wrong = command(bare, "share", "--help", fails=True)
    assert "ogive has no command share" in wrong


# --- an option more ---

MARGIN = {
    '            public value within the bounds, as which it counts, or "drop" (not counted; ADD_OR_REMOVE only).\n': (
        "        margin: Factor of the bounds, at least 1.\n"
    ),
    '    missing: Missing = one_of("refuse", "low", "high", "drop")\n': "    margin: float = added(1.0)\n",
    'before any data is touched."""\n': (
        "        if self.margin < 1:\n"
        '            raise ParameterError(f"`margin` must be at least 1, got {self.margin}")\n'
    ),
    "from ogive.columns.grids import Grid\n": "from ogive.core.checks import added\n",
}
"""Lines of the file of `Bounds`, each with what is written after it: one text, one field and its check."""

BY_CALLS = """
import inspect, ogive
values = [number / 200 for number in range(200)]
session = ogive.Session({"score": values}, limit=ogive.PureDP(3), ledger="bounds.db", name="scores")
for call, data in ((ogive.find_bounds, values), (session.find_bounds, "score")):
    assert str(inspect.signature(call)).count("margin: 'float' = 1.0") == 1
    assert "margin: Factor of the bounds, at least 1." in inspect.getdoc(call)
    call(data, margin=2.0, privacy=ogive.PureDP(1))
    try:
        call(data, margin=0.5, privacy=ogive.PureDP(1))
    except ogive.ParameterError as problem:
        assert str(problem) == "margin must be at least 1, got 0.5"
    else:
        raise AssertionError("the option did not reach the statistic")
session.find_bounds("score", margin=2.0, privacy=ogive.PureDP(1))
session.find_bounds("score", margin=1.0, privacy=ogive.PureDP(1))
session.find_bounds("score", privacy=ogive.PureDP(1))
print(session.spent)
"""


def test_an_option_more_is_one_field_and_its_entries(house):
    assert run(house, BY_CALLS) == "epsilon = 2\n", "a question of its own, and the usual one by two names"
    commands = {
        "bounds": ("bounds", "scores.csv", "--column", "score", "--epsilon", "1"),
        "plan": ("plan", "bounds", "--records", "1000", "--epsilon", "1"),
    }
    for name, words in commands.items():
        shown = command(house, *(words[:1] if name == "bounds" else words[:2]), "--help")
        assert "Factor of the bounds, at least 1. [default: 1]" in " ".join(shown.split()), shown
        assert command(house, *words, "--margin", "2")
        wrong = command(house, *words, "--margin", "0.5", fails=True)
        assert wrong == "ogive: error: --margin must be at least 1, got 0.5\n"


def test_without_its_field_an_option_is_not_found(bare):
    """The control."""
    wrong = command(bare, "bounds", "scores.csv", "--column", "score", "--epsilon", "1", "--margin", "2", fails=True)
    assert "--margin" in wrong
    code = "import ogive; ogive.find_bounds([1.0], margin=2.0, privacy=ogive.PureDP(1))"
    assert "unexpected keyword argument 'margin'" in run(bare, code, fails=True)


def test_a_trust_model_that_has_only_the_options_of_another_is_refused(tmp_path, shells):
    """The control: it would answer as the other, here as a trusted curator."""
    package = copied(tmp_path)
    model = '"""None."""\nfrom ogive.trust.table import Central\nclass Derived(Central):\n    """None."""\n'
    (package / "trust" / "derived.py").write_text(model, encoding="utf-8")
    add(package, [("one line of MODELS in trust/models.py", '"derived": "derived:Derived",\n')])
    code = "import ogive; ogive.ecdf([1.0], bounds=(0, 1), trust='derived', privacy=ogive.PureDP(1))"
    assert "derived:Derived is listed as derived, and its options are those of central" in run(
        House(tmp_path, shells), code, fails=True
    )
