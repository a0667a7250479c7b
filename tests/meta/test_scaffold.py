"""A statistic and a trust model of the manual, added to a copy of the package, are served everywhere."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy of the package with the page's files and lines, and the stubs completed."""
    root = tmp_path_factory.mktemp("house")
    package = root / "ogive"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    assert add(package, BLOCKS) == ["statistics/kinds.py", "trust/models.py"]
    subprocess.run([sys.executable, ROOT / "tools" / "front_door.py", package], check=True, timeout=120)
    assert run(root, "import ogive; print(ogive.__file__)").startswith(str(package))
    table = root / "scores.csv"
    table.write_text("score\n" + "".join(f"{number / 200}\n" for number in range(200)), encoding="utf-8")
    return root


def run(house, code, *, fails=False):
    """Run code in a process whose package is the copy; returns what it printed, or its error."""
    environment = {**os.environ, "PYTHONPATH": str(house), "COLUMNS": "200", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=house, env=environment, capture_output=True, text=True, timeout=600
    )
    assert bool(done.returncode) is fails, done.stderr
    return done.stderr if fails else done.stdout


def command(house, *words):
    code = f"import sys; from ogive.cli import main; sys.exit(main({list(words)!r}))"
    return run(house, code)


def test_a_statistic_is_a_function_and_a_verb(house):
    code = """
import inspect, ogive
values = [number / 200 for number in range(200)]
exact = ogive.share(values, threshold=0.75, trust="clear")
assert exact.value == 49 / 200, exact
found = ogive.share(values, threshold=0.75, privacy=ogive.PureDP(1))
assert isinstance(found, ogive.ShareEstimate) and found.errors(exact)["share"] < 0.5
assert str(inspect.signature(ogive.share)).count("threshold: 'float' = 0.5") == 1
assert "threshold: Values above it are counted." in inspect.getdoc(ogive.share)
session = ogive.Session({"score": values}, limit=ogive.PureDP(1), ledger="books.db", name="scores")
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
    shown = command(house, "share", "--help")
    for words in (
        "--column",
        "--threshold",
        "Values above it are counted.",
        "[default: 0.5]",
        "[choices: refuse, low,",
    ):
        assert words in " ".join(shown.split()), shown
    assert "share" in command(house, "--help")
    assert "24.5 % of score above 0.75" in command(
        house, "share", "scores.csv", "--column", "score", "--threshold", "0.75", "--trust", "clear"
    )
    command(house, "share", "scores.csv", "--column", "score", "--epsilon", "1", "--json", "-o", "share.json")
    command(house, "report", "share.json", "-o", "page.html")
    assert "Share of score above 0.5" in (house / "page.html").read_text(encoding="utf-8")
    assert "--threshold" in command(house, "completion", "bash")
    wrong = run(
        house,
        "import sys; from ogive.cli import main; "
        "sys.exit(main(['share', 'scores.csv', '--column', 'score', '--missing', 'drop', '--epsilon', '1']))",
        fails=True,
    )
    assert 'Invalid value "drop" for --missing' in wrong


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
        made = ogive.plan(ogive.Share("x"), privacy=ogive.PureDP(1), records=1000, trust=trust, runs=2)
        serving[name] = made.chosen.method
    except (ogive.UnsupportedError, ogive.ParameterError):
        serving[name] = None
print(serving)
"""
    serving = eval(run(house, code))
    assert serving["central"] == serving["agreed"] == serving["secagg"] == serving["servers"] == "tree_ls"
    assert serving["local"] is serving["pairs"] is serving["clear"] is None


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
    assert "trust model agreed" in command(house, "plan", "ecdf", "--records", "1000", *asked, "agreed")


def test_without_its_line_a_statistic_is_not_found(house, tmp_path):
    """The control."""
    package = tmp_path / "ogive"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    assert add(package, [block for block in BLOCKS if LINE.fullmatch(block[0]) is None]) == []
    assert "Share" in run(tmp_path, "from ogive.statistics.share.statistic import Share; print(Share('x'))")
    assert "No ogive attribute share" in run(tmp_path, "import ogive; ogive.share", fails=True)
    wrong = run(tmp_path, "import sys; from ogive.cli import main; sys.exit(main(['share', '--help']))", fails=True)
    assert 'Unknown command "share"' in wrong
