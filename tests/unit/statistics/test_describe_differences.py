"""Differences of the groups of a description: standardized, and p-values that are even where there are none."""

import math

import numpy as np
import pytest
from helpers.scope import size
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind

import ogive
from ogive.cli import main
from ogive.errors import ParameterError
from ogive.statistics.describe.differences import Difference, holm

VALUES = {"y": ("a", "b", "c"), "z": True}


def table(rows, seed, shift=0.0):
    random = np.random.default_rng(seed)
    group = random.choice(["p", "q"], rows)
    return {
        "x": np.clip(random.normal(50, 10, rows) + shift * (group == "q"), 0, 100),
        "y": random.choice(["a", "b", "c"], rows, p=[0.5, 0.3, 0.2]),
        "z": random.random(rows) < 0.3,
        "g": group,
    }


def described(data, privacy=None, groups=("p", "q"), **options):
    question = ogive.Describe(("x", "y", "z"), bounds={"x": (0, 100)}, values=VALUES, by="g", groups=groups, **options)
    if privacy is None:
        return ogive.release(question, trust=ogive.Clear(data))
    return ogive.release(question, trust=ogive.Central(data), privacy=privacy)


def test_without_noise_they_are_those_of_the_records():
    data = table(3000, 1, shift=2.0)
    x, y, z = described(data).differences()
    one, two = (data["x"][data["g"] == group] for group in "pq")
    spread = math.sqrt((one.var() + two.var()) / 2)
    assert x.standardized[0] == pytest.approx((one.mean() - two.mean()) / spread, abs=2e-3)
    assert x.standardized[1] < x.standardized[0] < x.standardized[2]
    # that of Welch, but for the t distribution
    assert x.p_value == pytest.approx(ttest_ind(one, two, equal_var=False).pvalue, rel=0.1)
    assert y.standardized is None
    shares = [data["z"][data["g"] == group].mean() for group in "pq"]
    spread = math.sqrt(sum(share * (1 - share) for share in shares) / 2)
    assert z.standardized[0] == pytest.approx((shares[0] - shares[1]) / spread, abs=1e-6)
    assert [each.variable for each in (x, y, z)] == ["x", "y", "z"]


def test_p_values_are_even_where_the_groups_are_alike():
    """Also where the noise is as large as sampling. The control leaves the noise out of the errors of means."""
    runs = size(300, part=60)
    chances, control = [], []
    for run in range(runs):
        found = described(table(300, run), ogive.PureDP(2))
        chances.append([each.p_value for each in found.differences()])
        means = [found.of("x", group)["mean"] for group in found.groups]
        error = math.hypot(*(each.sampling_error for each in means))
        control.append(math.erfc(abs(means[0].value - means[1].value) / error / math.sqrt(2)))
    for each in np.array(chances).T:
        known = each[~np.isnan(each)]
        assert len(known) > 0.9 * runs
        assert np.mean(known < 0.05) <= 0.05 + 3.5 * math.sqrt(0.05 / len(known))
        assert np.mean(known < 0.5) >= 0.25
    assert np.mean(np.array(control) < 0.05) > 0.25


def test_strong_differences_are_seen_and_corrected():
    x, y, z = described(table(4000, 3, shift=4.0), ogive.PureDP(20)).differences()
    assert x.p_value < 1e-6
    assert x.corrected == pytest.approx(3 * x.p_value)
    assert x.standardized[1] < -0.4 < x.standardized[2]
    assert min(y.corrected, z.corrected) > 0.01
    assert str(x).startswith("x: standardized difference -0.")


@given(st.lists(st.one_of(st.floats(0, 1), st.just(math.nan)), max_size=8))
def test_holm_steps_down(chances):
    found = holm(np.array(chances))
    known = sorted((chance, place) for place, chance in enumerate(chances) if not math.isnan(chance))
    largest = 0.0
    for rank, (chance, place) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * chance))
        assert found[place] == pytest.approx(largest)
    assert all(math.isnan(found[place]) for place, chance in enumerate(chances) if math.isnan(chance))


def test_three_groups_and_none():
    data = table(900, 5)
    data["g"] = np.random.default_rng(1).choice(["p", "q", "r"], 900)
    found = described(data, ogive.PureDP(4), groups=("p", "q", "r")).differences()
    assert all(each.standardized is None for each in found)
    assert all(0 <= each.p_value <= 1 for each in found)
    question = ogive.Describe(("x",), bounds={"x": (0, 100)})
    alone = ogive.release(question, trust=ogive.Central(data), privacy=ogive.PureDP(1))
    with pytest.raises(ParameterError, match="two or more; describe by a column of groups"):
        alone.differences()


def test_where_noise_leaves_nothing_there_is_a_dash():
    assert str(Difference("x", None, math.nan, math.nan)) == "x: p -"
    weak = described(table(40, 2), ogive.PureDP("1/50"))
    assert all(each.standardized is None for each in weak.differences())


def test_the_command_tells_them(tmp_path, capsys):
    data = table(500, 4)
    lines = [",".join(data), *(",".join(map(str, row)) for row in zip(*data.values(), strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    out = tmp_path / "d.json"
    asked = ["describe", str(tmp_path / "t.csv"), "--bounds", "x=0:100", "--values", "z=True", "--epsilon", "2"]
    assert main([*asked, "--by", "g", "--by-groups", "p", "q", "--no-ledger", "--tests", "-o", str(out)]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[-3] == "Differences of the groups:"
    assert main(["show", str(out), "--tests"]) == 0
    assert printed.splitlines()[-2:] == capsys.readouterr().out.splitlines()[-2:]
    assert main([*asked, "--no-ledger", "--tests"]) == 2
    assert "--tests compares groups; name their column with --by" in capsys.readouterr().err


def test_undeclared_columns_take_no_part_and_what_was_paid_for_before_is_free():
    data = table(400, 6) | {"id": np.arange(400), "extra": np.arange(400.0)}
    question = ogive.Describe(bounds={"x": (0, 100)}, values={"z": True})
    found = ogive.release(question, trust=ogive.Central(data), privacy=ogive.PureDP(1))
    assert [each.column for each in found.variables] == ["x", "z"]
    assert {"id", "extra", "y", "g"} == set(found.left_out)
    assert "no bounds are declared" in found.left_out["extra"]
    open_ = ogive.release(ogive.Describe(), trust=ogive.Central(data), privacy=ogive.PureDP(4))
    assert "id" in open_.left_out
    assert "extra" in [each.column for each in open_.variables]
    named = ogive.release(ogive.Describe(("id",), numbers=("id",)), trust=ogive.Central(data), privacy=ogive.PureDP(4))
    assert [each.column for each in named.variables] == ["id"]
    with ogive.Session(data, limit=ogive.PureDP(9)) as session:
        with pytest.MonkeyPatch.context() as earlier:
            earlier.setattr(ogive.Describe, "completed_by", ogive.Describe._completed_by)
            first = session.release(question, privacy=ogive.PureDP(2))
        assert {"id", "extra"} <= {each.column for each in first.variables}
        assert session.release(question, privacy=ogive.PureDP(2)) == first
        assert session.account.spent == ogive.PureDP(2)
