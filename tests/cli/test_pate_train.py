"""`ogive pate train`: votes of a file's rows, taken up where it stopped, and rows that cannot be learned from."""

import json
import re
import shutil
import stat
from pathlib import Path

import numpy as np
import pytest
from helpers.schemas import fits

pytest.importorskip("sklearn")

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ogive.cli import main
from ogive.cli.pate.train import Coding, table
from ogive.pate import check_votes, partition, train_teachers, votes_of

RNG = np.random.default_rng(4)
ROWS, ASKED, TEACHERS = 240, 30, 8
CENTERS = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
KIND = RNG.integers(0, 3, ROWS)
POINTS = np.round(CENTERS[KIND] + RNG.normal(size=(ROWS, 2)), 4)
INPUTS = np.round(CENTERS[np.arange(ASKED) % 3] + RNG.normal(size=(ASKED, 2)), 4)
WORDS = ("low", "mid", "high")


def write(path, header, *columns):
    lines = [header, *(",".join(map(str, row)) for row in zip(*columns, strict=True))]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("data.csv", "x,y,kind,who", *POINTS.T, KIND, np.arange(ROWS) // 3)
    write("words.csv", "x,y,kind", *POINTS.T, np.array(WORDS)[KIND])
    write("public.csv", "y,other,x", INPUTS[:, 1], range(ASKED), INPUTS[:, 0])

    def run_it(*arguments):
        words = {
            "--label": "kind",
            "--classes": 3,
            "--queries": "public.csv",
            "--teachers": TEACHERS,
            "--folder": "kept",
            "-o": "votes.npy",
            "--jobs": 1,
            "--estimator": "logistic",
        }
        given = list(map(str, arguments))
        rest = [str(part) for name, value in words.items() if name not in given for part in (name, value)]
        status = main(["pate", "train", *given, *rest])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


def test_votes_are_the_librarys_and_private(run):
    status, out, err = run("words.csv", "--classes", *WORDS, "--json")
    assert status == 0
    said = fits(json.loads(out))
    assert said.pop("schema") == "ogive.training/1"
    assert said == {"teachers": TEACHERS, "queries": ASKED, "classes": 3, "votes": "votes.npy"}
    assert "votes are private" in err
    assert fits(json.loads(Path("kept/teachers.json").read_text(encoding="utf-8")))["teachers"] == TEACHERS
    votes = check_votes(np.load("votes.npy"), teachers=TEACHERS)
    learner = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    dealt = partition(ROWS, TEACHERS, seed=0)
    teachers = train_teachers(learner, POINTS, KIND, partition=dealt, classes=3, jobs=1)
    assert np.array_equal(votes, votes_of(teachers, INPUTS, jobs=1))
    assert (votes.argmax(axis=1) == np.arange(ASKED) % 3).mean() > 0.8
    assert stat.S_IMODE(Path("votes.npy").stat().st_mode) == 0o600


def test_a_run_that_was_stopped_goes_on_with_the_teachers_that_are_kept(run, monkeypatch):
    from ogive.pate import teachers as module

    trained = []
    real = module.fitted

    def stopping(*arguments, who, **options):
        if who == "teacher 5" and len(trained) == 5:
            raise KeyboardInterrupt
        trained.append(who)
        return real(*arguments, who=who, **options)

    monkeypatch.setattr(module, "fitted", stopping)
    status, out, err = run("data.csv", "--person", "who")
    assert (status, out) == (130, "")
    assert "goes on with the teachers that kept keeps" in err
    assert not Path("votes.npy").exists()
    trained.append("the stop")
    assert run("data.csv", "--person", "who")[0] == 0
    assert trained == [*(f"teacher {n}" for n in range(5)), "the stop", "teacher 5", "teacher 6", "teacher 7"]
    first = np.load("votes.npy")
    assert run("data.csv", "--person", "who")[0] == 0
    assert len(trained) == 9
    assert np.array_equal(np.load("votes.npy"), first)
    status, _, err = run("data.csv", "--person", "who", "--seed", 5)
    assert status == 2
    assert err.count("\n") == 1


def test_a_learner_of_ones_own_is_imported(run):
    Path("mine.py").write_text(
        "from sklearn.dummy import DummyClassifier\n\n\ndef made():\n    return DummyClassifier()\n", encoding="utf-8"
    )
    assert run("data.csv", "--person", "who", "--estimator", "mine:made")[0] == 0
    votes = np.load("votes.npy")
    assert (votes == votes[0]).all()  # a dummy sees no features


def test_votes_can_be_labelled_and_priced(run, capsys):
    assert run("data.csv", "--person", "who")[0] == 0
    assert main(["pate", "label", "votes.npy", "--sigma", "2", "--delta", "1e-3", "--first", "4"]) == 0
    assert "4 of 4 asked queries answered by teachers" in capsys.readouterr().out


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("words.csv",), "is not one of the classes of --classes"),
        (("data.csv", "--classes", 2), "is not one of the classes of --classes"),
        (("data.csv", "--classes", 1), "--classes must be a whole number from 2"),
        (("data.csv", "--classes", "a", "a"), "two or more different classes"),
        (("data.csv", "--label", "none"), "has no column 'none'"),
        (("data.csv", "--label", "x"), "is not one of the classes of --classes"),
        (("data.csv", "--person", "none"), "has no column 'none'"),
        (("data.csv", "--person", "who", "--teachers", 1), "from 2 to"),
        (("data.csv", "--teachers", 100, "--person", "who"), "too few for 100 teachers"),
        (("data.csv",), "no column 'who', .*; leave it out of data.csv, or say --person who if"),
        (("text.csv",), "column 'x' of text.csv must hold numbers, .*public.csv"),
        (("data.csv", "--person", "who", "--estimator", "magic"), "--estimator must be random_forest"),
        (("data.csv", "--person", "who", "--estimator", "no.such:thing"), "there is no 'thing'"),
        (("data.csv", "--person", "who", "--estimator", "os:system"), "system is called without arguments and failed"),
        (("data.csv", "--person", "who", "--jobs", 0), "--jobs must be -1 or at least 1"),
        (("data.csv", "--person", "who", "-o", "votes.csv"), ".npy"),
        (("data.csv", "--person", "who", "-o", "no/votes.npy"), "does not exist"),
        (("gone.csv",), "no such file"),
        (("holes.csv",), "column 'x' of holes.csv .*without a finite number; fill in"),
        (("few.csv", "--queries", "gaps.csv"), "column 'y' of gaps.csv has no finite number in row 3; fill in"),
        (("few.csv", "--queries", "mixed.csv"), "column 'x' of mixed.csv mixes numbers with text"),
        (("few.csv", "--queries", "days.csv"), "column 'x' of days.csv holds dates; .*from numbers and"),
        (("few.csv", "--queries", "empty.csv"), "column 'x' of empty.csv holds no values at all"),
        (("few.csv", "--queries", "names.csv"), "column 'x' of names.csv has more than 1000 different texts"),
        (("kinds.csv",), "no columns of features"),
    ],
    ids=lambda value: " ".join(map(str, value))[:50] if isinstance(value, tuple) else None,
)
def test_what_cannot_be_learned_from_is_refused_in_one_line(run, arguments, said):
    Path("text.csv").write_text("x,y,kind\na,1,2\nb,2,0\nc,2,1\n", encoding="utf-8")
    Path("holes.csv").write_text("x,y,kind\n1,2,0\n,3,1\n4,5,2\n", encoding="utf-8")
    Path("few.csv").write_text("x,y,kind\n1,2,0\n6,3,1\n4,5,2\n", encoding="utf-8")
    Path("kinds.csv").write_text("kind\n0\n1\n2\n", encoding="utf-8")
    Path("gaps.csv").write_text("x,y\n1,2\n2,3\n4,\n", encoding="utf-8")
    Path("mixed.csv").write_text("x,y\n1,2\n2,3\nmany,4\n", encoding="utf-8")
    Path("days.csv").write_text("x,y\n2026-01-01,2\n2026-01-02,3\n", encoding="utf-8")
    Path("empty.csv").write_text("x,y\n,2\n,3\n", encoding="utf-8")
    Path("names.csv").write_text("x,y\n" + "".join(f"name{n},2\n" for n in range(1001)), encoding="utf-8")
    status, out, err = run(*arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert re.search(said, err)


def coded(public, private, names=("size", "color")):
    """Features of public and private rows, by the library's own reader."""
    asked, rows = table(Path(public)), table(Path(private))
    coding = Coding.of(asked, names, Path(public))
    return coding.features(asked, Path(public)), coding.features(rows, Path(private))


def test_text_is_a_feature_for_every_public_value_and_no_private_one_adds_any(run):
    Path("asked.csv").write_text("color,size\nred,1\nblue,2\n,3\nred,4\n", encoding="utf-8")
    Path("rows.csv").write_text("size,color\n5,blue\n6,green\n7,\n8,red\n9,Red\n", encoding="utf-8")
    public, private = coded("asked.csv", "rows.csv")
    assert public.tolist() == [[1, 0, 1], [2, 1, 0], [3, 0, 0], [4, 0, 1]]
    assert private.tolist() == [[5, 1, 0], [6, 0, 0], [7, 0, 0], [8, 0, 1], [9, 0, 0]]


def test_replacing_a_private_row_changes_its_own_features_alone(run):
    Path("asked.csv").write_text("color,size\nred,1\nblue,2\n", encoding="utf-8")
    rows = [f"{n},{color}" for n, color in enumerate(("red", "green", "blue", "red"))]
    Path("rows.csv").write_text("\n".join(["size,color", *rows]) + "\n", encoding="utf-8")
    _, before = coded("asked.csv", "rows.csv")
    for place, other in ((0, "9,violet"), (3, "9,12"), (1, "9,")):
        Path("other.csv").write_text(
            "\n".join(["size,color", *rows[:place], other, *rows[place + 1 :]]) + "\n", encoding="utf-8"
        )
        _, after = coded("asked.csv", "other.csv")
        assert after.shape == before.shape
        assert np.flatnonzero((after != before).any(axis=1)).tolist() == [place]


def test_codes_that_the_private_file_takes_for_numbers_meet_the_public_texts(run):
    Path("asked.csv").write_text("size,color\n1,a\n2,b\n3,007\n", encoding="utf-8")
    Path("rows.csv").write_text("size,color\n5,007\n6,7\n", encoding="utf-8")
    assert coded("asked.csv", "rows.csv")[1].tolist() == [[5, 1, 0, 0], [6, 0, 0, 0]]


def test_categories_of_parquet_files_are_texts_too(run):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    colors = pyarrow.array(["b", None, "a", "b"]).dictionary_encode()
    parquet.write_table(pyarrow.table({"size": [1, 2, 3, 4], "color": colors}), "asked.parquet")
    parquet.write_table(pyarrow.table({"size": [True, False], "color": ["a", "c"]}), "rows.parquet")
    public, private = coded("asked.parquet", "rows.parquet")
    assert public.tolist() == [[1, 0, 1], [2, 0, 0], [3, 1, 0], [4, 0, 1]]
    assert private.tolist() == [[1, 1, 0], [0, 0, 0]]


def test_teachers_learn_from_text(run):
    colors = np.array(["red", "green", "blue"])
    write("data.csv", "color,noise,kind", colors[KIND], np.round(RNG.normal(size=ROWS), 3), KIND)
    write("public.csv", "noise,color", np.zeros(ASKED, dtype=int), colors[np.arange(ASKED) % 3])
    assert run("data.csv")[0] == 0
    assert (np.load("votes.npy").argmax(axis=1) == np.arange(ASKED) % 3).all()
    shutil.rmtree("kept")
    write("public.csv", "noise,color", np.zeros(ASKED, dtype=int), np.repeat("mauve", ASKED))
    assert run("data.csv")[0] == 0
    votes = np.load("votes.npy")
    assert (votes == votes[0]).all()  # no row is mauve, so that the color says nothing


def test_a_missing_private_number_is_refused_without_its_row_or_values(run):
    Path("secret.csv").write_text("x,y,kind\n" + "1,2,0\n" * 40 + "77.25,,1\n" + "4,5,2\n" * 10, encoding="utf-8")
    status, out, err = run("secret.csv")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "column 'y' of secret.csv" in err
    assert "41" not in err
    assert "77.25" not in err
