"""Files that hold exact values are their owner's alone, whatever the umask and whatever was there before."""

import os
import stat
from pathlib import Path

import numpy as np
import pytest
from helpers.examples import NEW, columns_and_options
from helpers.scope import is_everything

import ogive
import ogive.pate
from ogive import plots
from ogive.cli import main
from ogive.cli.settings import COMMANDS
from ogive.core.files import OWNER_ONLY, PUBLIC
from ogive.report import write_report
from ogive.trust import Central, Clear

RNG = np.random.default_rng(5)
ROWS = 400
RISK = RNG.random(ROWS)
ILL = (RNG.random(ROWS) < RISK).astype(int)
AGE = 100 * RISK
AGE_OPTIONS = ("--column", "age", "--bounds", "0", "100", "--bins", "16")
CLASSES = ("--label", "ill", "--negative", "0")
CLEAR, CENTRAL = ("--trust", "clear"), ("--epsilon", "1")


def words_of(kind):
    """Options of a statistic that has no line below."""
    columns, options = columns_and_options(kind)
    words = [("--" + name.replace("_", "-"), of) for name, of in zip(columns, ("risk", "ill", "vote"), strict=False)]
    for name, value in options.items():
        values = value if isinstance(value, tuple) else (value,)
        words.append(("--" + name.replace("_", "-"), *map(str, values)))
    return tuple(word for option in words for word in option)


VERBS = {
    ("ecdf",): AGE_OPTIONS,
    ("quantiles",): (*AGE_OPTIONS, "--probabilities", "0.5"),
    ("boxplot",): AGE_OPTIONS,
    ("roc",): ("--score", "risk", "--bounds", "0", "1", "--bins", "16", *CLASSES),
    ("calibration",): ("--probability", "risk", "--bins", "16", "--groups", "4", *CLASSES),
    ("ustat",): ("--columns", "age", "--kernel", "gini", "--bounds", "0", "100", "--bins", "16"),
    ("bounds",): ("--column", "age"),
    ("mean",): AGE_OPTIONS[:5],
    ("sum",): AGE_OPTIONS[:5],
    ("describe",): ("--columns", "age", "ill", "--bounds", "age=0:100", "--values", "ill=1"),
    ("proportion",): ("--column", "ill"),
    ("crosstab",): ("--row", "ill", "--column", "vote", "--rows", "0,1", "--columns", "0,1,2"),
    ("group-auc",): (
        *("--score", "risk", "--group", "vote", "--group-values", "0,1,2"),
        *("--bounds", "0", "1", "--bins", "16", *CLASSES),
    ),
    ("histogram",): ("--column", "ill", "--values", "0,1"),
    ("count",): ("--column", "ill", "--among", "1"),
    **{(kind.command,): words_of(kind) for kind in NEW},
    ("pate", "label"): ("--classes", "2", "--sigma", "40"),
}


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A folder with records and single votes, where the umask takes nothing away."""
    monkeypatch.chdir(tmp_path)
    rows = zip(AGE, RISK, ILL, strict=True)
    Path("people.csv").write_text(
        "age,risk,ill,vote\n" + "".join(f"{a:.2f},{r:.4f},{i},{n % 3}\n" for n, (a, r, i) in enumerate(rows)),
        encoding="utf-8",
    )
    votes = RNG.integers(0, 2, (50, 3))
    Path("votes.csv").write_text(
        "a,b,c\n" + "".join(",".join(map(str, row)) + "\n" for row in votes.tolist()), encoding="utf-8"
    )
    before = os.umask(0)
    yield tmp_path
    os.umask(before)


def permissions(path):
    return stat.S_IMODE(Path(path).stat().st_mode)


def release(verb, granted, *more):
    data = "votes.csv" if verb[0] == "pate" else "people.csv"
    return main([*verb, data, *VERBS[verb], *granted, *more])


def with_records(command):
    """Names of the options of a command that say who holds the records."""
    import importlib

    module, name = COMMANDS[command][0].split(":")
    return "PrivacyOptions" in str(getattr(importlib.import_module(module), name).__annotations__)


def test_every_verb_that_takes_a_trust_model_is_tried():
    from ogive.cli.pate.label import label

    single = [command for command, (place, _) in COMMANDS.items() if not place.endswith(":app")]
    assert {(command,) for command in single if with_records(command)} == {verb for verb in VERBS if len(verb) == 1}
    assert "PrivacyOptions" in str(label.__annotations__)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_exact_values_are_for_their_owner_alone(table, verb, capsys):
    drawn = is_everything() or verb in list(VERBS)[::4]
    outputs = ["exact.json", "exact.svg"] if drawn else ["exact.json"]
    plot = ("--plot", "exact.svg") if drawn else ()
    for name in outputs:  # a file that everybody could write does not stay so
        Path(name).write_text("old", encoding="utf-8")
        Path(name).chmod(0o666)
    assert release(verb, CLEAR, "-o", outputs[0], *plot) == 0
    capsys.readouterr()
    assert [permissions(name) for name in outputs] == [OWNER_ONLY] * len(outputs)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("verb", [("ecdf",), ("boxplot",), ("roc",)], ids=" ".join)
def test_private_values_are_for_everybody(table, verb, capsys):
    # the control: what the others are held to would otherwise hold of any file
    assert release(verb, CENTRAL, "-o", "noisy.json", "--plot", "noisy.svg") == 0
    capsys.readouterr()
    assert [permissions(name) for name in ("noisy.json", "noisy.svg")] == [PUBLIC, PUBLIC]


def test_what_is_made_of_files_is_as_private_as_the_least_private_of_them(table, capsys):
    assert release(("ecdf",), CLEAR, "-o", "exact.json") == 0
    assert release(("ecdf",), CENTRAL, "-o", "noisy.json") == 0
    assert not is_everything() or release(("roc",), CENTRAL, "-o", "roc.json") == 0
    made = {
        "noisy.html": (["report", "noisy.json", "roc.json", "-o", "noisy.html"], PUBLIC),
        "mixed.html": (["report", "noisy.json", "exact.json", "-o", "mixed.html"], OWNER_ONLY),
        "apart.json": (["compare", "noisy.json", "exact.json", "-o", "apart.json"], OWNER_ONLY),
        "close.json": (["compare", "noisy.json", "people.csv", "-o", "close.json"], OWNER_ONLY),
        "near.json": (["compare", "noisy.json", "noisy.json", "-o", "near.json"], PUBLIC),
        "near.svg": (["compare", "noisy.json", "noisy.json", "--plot", "near.svg"], PUBLIC),
        "close.svg": (["compare", "noisy.json", "people.csv", "--plot", "close.svg"], OWNER_ONLY),
        "apart.svg": (["compare", "noisy.json", "exact.json", "--plot", "apart.svg"], OWNER_ONLY),
    }
    if not is_everything():  # what a picture and a page are made of is judged alike
        made["noisy.html"] = (["report", "noisy.json", "-o", "noisy.html"], PUBLIC)
        del made["apart.svg"]
    for name, (command, expected) in made.items():
        assert main(command) == 0
        capsys.readouterr()
        assert permissions(name) == expected, name


def test_merged_exact_curves_stay_their_owners(table, capsys):
    for name in ("first", "second"):
        Path(f"{name}.csv").write_text("age\n" + "".join(f"{a:.2f}\n" for a in RNG.random(30) * 100), encoding="utf-8")
        assert main(["ecdf", f"{name}.csv", *AGE_OPTIONS, *CLEAR, "-o", f"{name}.json"]) == 0
    assert main(["merge", "first.json", "second.json", "-o", "sum.json", "--plot", "sum.svg"]) == 0
    capsys.readouterr()
    assert [permissions(name) for name in ("sum.json", "sum.svg")] == [OWNER_ONLY] * 2


def test_files_that_python_writes_follow_the_same_rule(table):
    curves = {
        trust: ogive.ecdf(AGE, bounds=(0, 100), bins=16, trust=trust, **granted)
        for trust, granted in ((Clear, {}), (Central, {"privacy": ogive.PureDP(1)}))
    }
    noisy, exact = curves[Central], curves[Clear]
    exact.to_json("exact.json")
    noisy.to_json("noisy.json")
    plots.save(exact.plot(), "exact.svg")
    plots.save(noisy.plot(), "noisy.svg")
    plots.save(plots.plot_curve(noisy, truth=exact), "truth.svg")
    plots.save(noisy.plot_qq(AGE), "sample.svg")
    write_report([noisy], "noisy.html", title="noisy")
    write_report([noisy], "truth.html", title="truth", truths=[exact])
    for name in ("exact.json", "exact.svg", "truth.svg", "sample.svg", "truth.html"):
        assert permissions(name) == OWNER_ONLY, name
    for name in ("noisy.json", "noisy.svg", "noisy.html"):
        assert permissions(name) == PUBLIC, name


@pytest.mark.everything
def test_a_cost_that_depends_on_votes_is_its_owners(table):
    votes = np.tile([40, 5, 5], (6, 1))
    for mode, expected in (("independent", PUBLIC), ("exact", OWNER_ONLY)):
        found = ogive.pate.privacy_cost(votes, ogive.pate.GNMax(20), target_delta=1e-5, mode=mode)
        found.to_json("cost.json")
        plots.save(found.plot(), "cost.svg")
        assert [permissions(name) for name in ("cost.json", "cost.svg")] == [expected] * 2
