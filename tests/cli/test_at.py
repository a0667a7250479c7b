"""`--at`: what is read at times of a survival function and at thresholds of a validation, also of groups."""

import re

import numpy as np
import pytest

import ogive
from ogive.cli import main
from ogive.privacy import PureDP

RANDOM = np.random.default_rng(2)
N = 1500
TIMES = RANDOM.integers(1, 31, N)
TABLE = {
    "months": TIMES,
    "cause": np.where(TIMES < 24, RANDOM.choice([1, 2], N), 0),
    "risk": RANDOM.random(N),
    "arm": RANDOM.choice(["new", "old"], N),
}
TABLE["ill"] = (RANDOM.random(N) < TABLE["risk"]).astype(int)


@pytest.fixture
def files(tmp_path):
    """A table, and releases of it."""
    lines = [",".join(TABLE), *(",".join(map(str, row)) for row in zip(*TABLE.values(), strict=True))]
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    survival = ogive.Survival("months", "cause", bounds=(0, 30), grid="integers", causes=(1, 2))
    for name, question in (("survival", survival), ("validation", ogive.Validation("risk", "ill", bins=20))):
        for by in (False, True):
            asked = ogive.Grouped(question, "arm", ("new", "old")) if by else question
            found = ogive.release(asked, trust=ogive.Central(TABLE), privacy=PureDP(4))
            found.to_json(tmp_path / f"{name}{'-by' * by}.json")
    return tmp_path


def shown(capsys, *words):
    status = main(["show", *map(str, words)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_times_of_a_survival_function(files, capsys):
    path = files / "survival.json"
    estimate = ogive.SurvivalEstimate.from_json(path)
    status, out, _ = shown(capsys, path, "--at", "12", "18.5")
    assert status == 0
    first, second = (line for line in out.splitlines() if re.match("  months [0-9.]+: ", line))
    numbers = [float(each) for each in re.findall(r"([\d.]+) %", first)]
    ends = estimate.interval(12)
    wanted = [estimate(12), *ends]
    for cause in (1, 2):
        wanted += [estimate.cumulative_incidence(12, cause), *estimate.cumulative_incidence_interval(12, cause)]
    assert numbers[:9] == pytest.approx([100 * each for each in wanted], abs=0.051)
    assert "mean up to then" in first
    assert "mean up to then" not in second  # it is no threshold
    assert second.startswith("  months 18.5: survival ")
    assert first.endswith(f"at risk {estimate.at_risk(12):,.0f}")
    assert "months 99: unknown" in shown(capsys, path, "--at", "99")[1]


def test_thresholds_of_a_validation(files, capsys):
    path = files / "validation.json"
    estimate = ogive.ValidationEstimate.from_json(path)
    status, out, _ = shown(capsys, path, "--at", "0.3", "0.333")
    assert status == 0
    good, bad = (line for line in out.splitlines() if "called positive above" in line)
    for name, title in (("sensitivity", "sensitivity"), ("ppv", "PPV")):
        value = estimate.measure(name, threshold=0.3)
        found = re.search(rf"{title} ([\d.]+) % \(([\d.]+) % to ([\d.]+) %\)", good)
        assert [float(each) for each in found.groups()] == pytest.approx([100 * each for each in value[:3]], abs=0.051)
    assert "net benefit" in good
    assert "threshold must be a multiple of 1/20" in bad


def test_groups_and_their_differences(files, capsys):
    for name, place in (("survival", 12), ("validation", 0.3)):
        path = files / f"{name}-by.json"
        lines = shown(capsys, path, "--at", place)[1].splitlines()[-3:]
        assert lines[0].startswith("new: ")
        assert lines[1].startswith("old: ")
        assert "new minus old: " in lines[2]
        one, two = ogive.GroupEstimates.from_json(path).estimates
        if name == "survival":
            gap = one.difference(two, 12)
            found = [float(each) for each in re.findall(r"(-?[\d.]+) %", lines[2])]
            assert found == pytest.approx([100 * each for each in gap[1:4]], abs=0.051)


def test_a_release_tells_them_too_and_what_has_no_places_refuses(files, capsys):
    table = str(files / "table.csv")
    asked = ["survival", table, "--time", "months", "--event", "cause", "--causes", "1", "2", "--bounds", "0", "30"]
    assert main([*asked, "--grid", "integers", "--epsilon", "4", "--no-ledger", "--at", "12"]) == 0
    assert "  months 12: survival" in capsys.readouterr().out
    assert main([*asked, "--epsilon", "4", "--no-ledger", "--at", "12", "--json"]) == 2
    assert "--at adds lines to the table" in capsys.readouterr().err
    assert main(["mean", table, "--column", "risk", "--bounds", "0", "1", "--epsilon", "1", "--at", "1"]) == 2
    assert "has no option --at" in capsys.readouterr().err
    mean = ogive.release(ogive.Mean("risk", bounds=(0, 1)), trust=ogive.Central(TABLE), privacy=PureDP(4))
    mean.to_json(files / "mean.json")
    status, _, err = shown(capsys, files / "mean.json", "--at", "1")
    assert status != 0
    assert "nothing is read at a place" in err
