"""The tutorial of a cohort, whose real data come with another package: what it prints is what its releases say."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest

from ogive.releasing.release import release
from ogive.statistics import Survival
from ogive.trust import Clear

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial_survival.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```py\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
PRINTED = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def numbers(text):
    return np.array([float(each) for each in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text)])


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What each block prints, and what all of them have defined, after the first tries of data that may lack."""
    pytest.importorskip("sksurv.datasets", reason="the cohort comes with scikit-survival")
    folder, scope, printed = tmp_path_factory.mktemp("page"), {}, []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for block in BLOCKS:
            with redirect_stdout(io.StringIO()) as out:
                exec(compile(block, "tutorial_survival.md", "exec"), scope)
            printed.append(out.getvalue())
    return [text for text in printed if text], scope, folder


def exact(scope, rows=slice(None), **options):
    cohort = {name: np.asarray(values)[rows] for name, values in scope["cohort"].items()}
    event = "cause" if options else "died"
    return release(Survival("years", event, (0, 14), bins=168, **options), trust=Clear(cohort))


def test_the_page_is_whole():
    assert len(BLOCKS) == 5
    assert [text.count("\n") for text in PRINTED] == [2, 3, 3]


def test_what_is_printed_is_near_what_the_page_shows(told):
    printed, _, folder = told
    assert len(printed) == len(PRINTED)
    for text, shown in zip(printed, PRINTED, strict=True):
        assert re.sub(r"[-\d.e]+", "", text) == re.sub(r"[-\d.e]+", "", shown)
    for place, room in ((0, 8), (2, 3)):
        assert np.abs(numbers(printed[place]) - numbers(PRINTED[place])).max() <= room
    assert (folder / "survival.png").stat().st_size > 10_000


def test_the_exact_values_of_the_page_are_those_of_the_records(told):
    _, scope, _ = told
    shown = [float(each) for each in re.search(r"the exact ones: ([\d.]+) % and ([\d.]+) %", PAGE).groups()]
    for group, name, said in zip(("high", "others"), ("highest tenth", "others"), shown, strict=True):
        true = exact(scope, scope["cohort"]["chains"] == name)(10)
        assert round(100 * true, 1) == said
        assert abs(scope[group](10) - true) < 5 * scope[group].number(10).standard_error
    options = {"causes": ("heart", "cancer", "other"), "censored": "alive"}
    true = exact(scope, **options)
    for cause in options["causes"]:
        assert abs(scope["causes"].cumulative_incidence(10, cause) - true.cumulative_incidence(10, cause)) < 0.02
