"""The commands of the page on labels by votes run one after the other, and print what the manual shows."""

import re
import shlex
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from helpers.scope import size

pytest.importorskip("sklearn")

from ogive.cli import main
from ogive.pate import simulated_votes

DOCS = Path(__file__).parents[2] / "docs"
VOTES, _ = simulated_votes(640, 250, 10)
RNG = np.random.default_rng(1)


def commands(text):
    """What follows the prompt in a text, without `ogive`."""
    return [shlex.split(line)[1:] for line in re.findall(r"^\$ (ogive .*)$", text, re.MULTILINE)]


def section(page, heading):
    """A part of a page, up to the next one."""
    return re.search(rf"^## {heading}\n(.*?)^## ", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)[1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What the page's commands read."""
    monkeypatch.chdir(tmp_path)
    age, ill = RNG.integers(20, 90, 600), np.array(["no", "yes"])[RNG.integers(0, 2, 600)]
    ward = np.array(["north", "south", "east"])[RNG.integers(0, 3, 600)]
    rows = [f"{n},{a},{w},{i}" for n, (a, w, i) in enumerate(zip(age, ward, ill, strict=True))]
    Path("patients.csv").write_text("\n".join(["id,age,ward,ill", *rows]) + "\n", encoding="utf-8")
    Path("public.csv").write_text(
        "age,ward\n" + "".join(f"{n},north\n{n},south\n" for n in range(20, 40)), encoding="utf-8"
    )
    cast = np.stack([RNG.permutation(np.repeat(np.arange(10), row)) for row in VOTES[:60]], axis=1)
    header = ",".join(f"scan{n}" for n in range(60))
    Path("teachers.csv").write_text(
        "\n".join([header, *(",".join(map(str, row)) for row in cast)]) + "\n", encoding="utf-8"
    )
    np.savez("all_votes.npz", mnist_250=VOTES, adult_250=VOTES[:, :2])
    np.save("old_votes.npy", VOTES)
    np.save("student.npy", RNG.dirichlet(np.full(10, 0.3), 640))
    return tmp_path


def test_the_commands_of_the_page_run_in_their_order(folder, capsys):
    run = commands(section("pate.md", "On the command line"))
    assert [words[1] for words in run].count("plan") >= 3
    for words in run:
        quick = ["--estimator", "logistic", "--jobs", "1"] if words[1] == "train" else []
        if words[1] == "label" and "teachers.csv" in words:
            words[words.index("--keep") + 1] = "30"  # of the 60 queries of a table that is quick to add up
            words[words.index("--parties") + 1] = str(size(25, part=5))
        if words[1] == "train":  # the votes are replaced below
            words[words.index("--teachers") + 1] = str(size(250, part=50))
        status = main([*words, *quick])
        said = capsys.readouterr()
        assert status == 0, (words, said.err)
        if words[1] == "train":
            np.save("votes.npy", VOTES)
    for name in ("labels.json", "confident.json", "cost.json", "plan.png", "classes.png", "by_order.png"):
        assert (folder / name).stat().st_size > 100, name
    assert "must not be published" in (folder / "report.html").read_text()


def test_what_labels_print_is_what_the_manual_shows(folder, capsys):
    np.save("votes.npy", VOTES)
    text = (DOCS / "command_line.md").read_text()
    (asked,) = [words for words in commands(text) if words[:2] == ["pate", "label"] and "--ledger" in words]
    shown = re.search(r"```text\n(created account 'votes'.*?)```", text, re.DOTALL)[1].splitlines()
    assert main(asked) == 0
    printed = capsys.readouterr()
    lines = [
        line
        for line in [*printed.err.splitlines(), *printed.out.splitlines()]
        if not line.startswith("created ledger ")
    ]
    assert len(lines) == len(shown) == 7
    different = [number for number, pair in enumerate(zip(lines, shown, strict=True)) if pair[0] != pair[1]]
    assert different in ([], [3]), "all but how many were asked is the same whatever the votes are"


def test_the_small_run_of_the_page_goes_from_records_to_a_student(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = section("pate.md", "A small run, from records to a student")
    scope, ran = {}, []
    for kind, code in re.findall(r"^```(py|console)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if kind == "py":
            exec(compile(code, "pate.md", "exec"), scope)
        for words in commands(code):
            assert main([*words, *(["--jobs", "1"] if words[1] == "train" else [])]) == 0, capsys.readouterr().err
            ran.append(words[1])
    assert ran == ["train", "label", "label"]
    assert (scope["first"] >= 0).sum() == 60
    assert (scope["second"] >= 0).sum() > 20
    assert float(capsys.readouterr().out.split()[-1]) > 0.85


@pytest.mark.everything
def test_the_page_on_teachers_shows_how_far_a_network_is(capsys):
    pytest.importorskip("torch", reason="torch is not installed (pip install 'ogive[students]')")
    from ogive.pate import VirtualAdversarialStudent, train_semi_supervised
    from ogive.pate.networks import perceptron

    (code,) = [
        code
        for code in re.findall(r"^```py\n(.*?)^```$", (DOCS / "teachers.md").read_text(), re.M | re.S)
        if "told" in code
    ]
    scope = {
        "partial": partial,
        "perceptron": perceptron,
        "VirtualAdversarialStudent": partial(VirtualAdversarialStudent, batch=2, unlabelled_batch=2),
        "train_semi_supervised": train_semi_supervised,
        "inputs": RNG.normal(size=(30, 392)),
        "answers": np.arange(10),
    }
    assert "steps=1000" in code
    exec(code.replace("steps=1000", "steps=200"), scope)
    assert capsys.readouterr().out == "100 of 200 steps\n200 of 200 steps\n"
