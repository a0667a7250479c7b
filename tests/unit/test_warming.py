"""What is compiled beforehand is what releases use."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.waiting import PATIENCE

import ogive
from ogive.cli import main, warming
from ogive.core import compiling
from ogive.errors import RefusalError

LATER = """
import gc, sys
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
import ogive
from ogive.cli import warming
from ogive.core import compiling
from ogive.cli import main

def signatures():
    loops = [one for one in gc.get_objects() if type(one) is compiling.Loop and "compiled" in vars(one)]
    return {f"{one.__module__}.{one.__name__} {each}" for one in loops for each in one.compiled.signatures}

done = list(warming.warm())
before = signatures()
rng = np.random.default_rng(3)
values, labels = rng.gamma(4.0, 8.0, 3000), rng.integers(0, 2, 3000)
table = pa.table({"x": values, "n": values.astype("int32"), "f": values.astype("float32"), "y": labels})
pq.write_table(table, "a.parquet")
with open("a.csv", "w") as file:
    file.write("x,n,y\\n" + "".join(f"{x},{int(x)},{y}\\n" for x, y in zip(values, labels)))
bounds = {"bounds": (0, 100)}
with compiling.everything():
    for column in ("x", "n", "f"):
        for privacy in (ogive.PureDP(1), ogive.ZeroConcentratedDP(1), ogive.ApproxDP(1, "1e-6")):
            for adjacency in ogive.Adjacency:
                guess = {"expected_records": 3000}
                found = ogive.ecdf(table[column].to_numpy(), **bounds, **guess, privacy=privacy, adjacency=adjacency)
                found.quantile(0.5), found.band(0.9), str(found)
    ogive.quantiles(values, (0.5,), **bounds, privacy=ogive.PureDP(1))
    ogive.boxplot(values, **bounds, privacy=ogive.PureDP(1))
    ogive.roc(values, labels, **bounds, outside="clip", privacy=ogive.PureDP(1))
    ogive.hosmer_lemeshow(values % 1, labels, privacy=ogive.PureDP(4))
    ogive.find_bounds(values, privacy=ogive.PureDP(1))
    ogive.ustatistic(values, kernel="gini", bounds=(0, 1000), privacy=ogive.PureDP(1))
    for name in ("a.csv", "a.parquet"):
        for column in ("x", "n"):
            words = ["ecdf", name, "--column", column, "--bounds", "0", "100", "--epsilon", "1"]
            assert main(words) == 0
            assert main([*words, "--trust", "local"]) == 0
print()
print(len(done), len(before))
print("new:", *sorted(signatures() - before), sep="\\n")
"""


@pytest.mark.everything
def test_releases_after_it_need_no_other_code(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(Path(ogive.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", LATER], capture_output=True, text=True, check=False, timeout=PATIENCE, cwd=tmp_path,
        env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said, _, new = done.stdout.rpartition("new:")
    tasks, known = map(int, said.split()[-2:])
    assert (tasks, new.strip()) == (len(warming.tasks()), "")
    assert known > 60


@compiling.njit()
def _trebled(value):
    return 3 * value


@pytest.fixture
def one_task(monkeypatch):
    """A task of one loop, that runs as in a new process each time."""

    def run():
        _trebled.__dict__.pop("compiled", None)
        assert _trebled(2) == 6

    monkeypatch.setattr(warming, "tasks", lambda: (warming.Task("loops", run),))


@pytest.mark.usefixtures("one_task")
def test_a_check_refuses_what_is_not_compiled_and_compiles_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "code"))
    for _ in range(2):
        assert main(["warmup", "--check"]) == 1
        assert "_trebled is not compiled for this machine; run ogive warmup" in capsys.readouterr().err
    assert not [*(tmp_path / "code").rglob("*.nb?")]
    assert main(["warmup"]) == 0
    out = capsys.readouterr().out
    assert "1 compiled" in out
    assert out.splitlines()[-1].endswith(f"the code is kept in {tmp_path / 'code'}")
    assert main(["warmup", "--check"]) == 0
    assert capsys.readouterr().out == "all that releases use is compiled for this machine\n"
    assert main(["warmup"]) == 0
    assert "0 functions compiled" in capsys.readouterr().out


@pytest.mark.usefixtures("one_task")
def test_warming_up_is_refused_where_code_can_be_kept_nowhere(tmp_path, monkeypatch, capsys):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "open"))
    assert main(["warmup"]) == 1
    assert "compiled code can be kept nowhere" in capsys.readouterr().err
    with pytest.raises(RefusalError):
        list(warming.warm(kept=True))
