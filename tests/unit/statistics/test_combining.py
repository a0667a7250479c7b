"""Releases of the same records as one estimate: inverse variances, intervals that hold, and what is refused."""

import dataclasses
import json

import numpy as np
import pytest
from helpers.coverage import fewest
from helpers.scope import size

import ogive
from ogive.cli import main
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP

N = 1000
RANDOM = np.random.default_rng(3)
TABLE = {
    "age": RANDOM.integers(18, 90, N),
    "sex": RANDOM.choice(["F", "M"], N),
    "smoker": RANDOM.choice(["yes", "no", "ex"], N, p=[0.2, 0.5, 0.3]),
}
SMOKER = ogive.Histogram("smoker", values=("yes", "no", "ex"))
AGE = ogive.Mean("age", bounds=(0, 100))


def released(question, epsilon="1", adjacency=Adjacency.REPLACE, table=TABLE):
    privacy = epsilon if isinstance(epsilon, ZeroConcentratedDP) else PureDP(epsilon)
    return ogive.release(question, trust=ogive.Central(table), privacy=privacy, adjacency=adjacency)


def by_sex(question):
    return ogive.Grouped(question, "sex", ("F", "M"))


def variance(estimate):
    """Of the noise of a count, in records."""
    return float(estimate.measured.law.variance) / 4**estimate.measured.bits


def test_the_same_question_is_averaged_by_inverse_variances():
    one, two = released(SMOKER, "1/2"), released(SMOKER, "1")
    (part,) = ogive.combine(one, two).parts
    weights = 1 / np.array(list(map(variance, (one, two))))
    wanted = weights @ np.array([one.raw, two.raw]) / weights.sum()
    # their sum is public, so what is shown adds up to it
    assert part.together.counts == pytest.approx(wanted + (N - wanted.sum()) / 3, abs=1e-6)
    assert part.sources == (0, 1)
    assert part.together.alone() == one
    private = [released(SMOKER, epsilon, Adjacency.ADD_OR_REMOVE) for epsilon in ("1/2", "1", "2")]
    (part,) = ogive.combine(*private).parts
    variances = np.array(list(map(variance, private)))
    wanted = (1 / variances) @ np.array([each.raw for each in private]) / (1 / variances).sum()
    assert part.together.counts == pytest.approx(wanted, abs=1e-6)
    assert 1 <= part.together.noise_errors[0] / (1 / variances).sum() ** -0.5 <= 1.1  # that of a continuous law


@pytest.mark.parametrize("adjacency", Adjacency, ids=str)
def test_means_of_other_scales_are_averaged(adjacency):
    """Their integers have other weights, and one has Gaussian noise."""
    one, two = (released(AGE, each, adjacency) for each in ("1/2", ZeroConcentratedDP("1/2")))
    for pair in ((one, two), (two, one)):
        together = ogive.combine(*pair).parts[0].together
        weights = np.array([each.noise_error**-2 for each in pair])
        wanted = weights @ [each.value for each in pair] / weights.sum()
        assert together.value == pytest.approx(wanted, abs=0.05 * weights.sum() ** -0.5 + 1e-3)
        assert together.noise_error == pytest.approx(weights.sum() ** -0.5, rel=0.02)


def test_other_questions_of_the_same_groups_agree_on_their_records():
    mean, counts = released(by_sex(AGE), "1/10"), released(by_sex(SMOKER), "1")
    result = ogive.combine(mean, counts)
    sizes = {
        (type(part.together).__name__, part.group): part.together.measured.at(part.together.measured.records)
        for part in result.parts
    }
    assert len(sizes) == 4
    assert {round(sizes["MeanEstimate", group] - sizes["HistogramEstimate", group], 6) for group in "FM"} == {0}
    assert sum(sizes["MeanEstimate", group] for group in "FM") == pytest.approx(N)


def test_a_mean_is_nearer_where_the_records_of_its_group_are_known_better():
    """Bounds whose middle is far from the mean, so that the error of the number of records counts."""
    question, inside = ogive.Mean("age", bounds=(0, 1000)), TABLE["sex"] == "F"
    errors = []
    for _ in range(60):
        part = ogive.combine(released(by_sex(question), "1/2"), released(by_sex(SMOKER), "1")).parts[0]
        errors.append([each.value - TABLE["age"][inside].mean() for each in (part.together, part.alone[0])])
    together, alone = np.sqrt(np.mean(np.square(errors), axis=0))
    assert together < 0.8 * alone


def test_variables_of_a_description_are_combined():
    described = released(
        ogive.Describe(("age", "smoker"), bounds={"age": (0, 100)}, values={"smoker": ("yes", "no", "ex")}), "2"
    )
    result = ogive.combine(described, released(AGE, "1"), released(SMOKER, "1"))
    assert [part.sources for part in result.parts] == [(0, 1), (0, 2)]
    assert any("quantiles of age" in each for each in result.left_out)
    assert all(f"release {place}:" in str(result) for place in (1, 2, 3))


def test_intervals_hold_as_often_as_they_say():
    """The control, intervals of the worse release around the better estimate less a half, is wrong."""
    runs, level = size(400, part=100), 0.9
    truth = {value: float(np.sum(TABLE["smoker"] == value)) for value in SMOKER.values}
    age = float(np.mean(TABLE["age"]))
    held, widths, narrow = np.zeros(2), [], 0
    for _ in range(runs):
        counts = ogive.combine(
            released(SMOKER, "1/2", Adjacency.ADD_OR_REMOVE), released(SMOKER, "1/2", Adjacency.ADD_OR_REMOVE)
        ).parts[0]
        low, high = counts.together.count_intervals(level)[1]
        held[0] += low <= truth["no"] <= high
        alone = counts.alone[0].count_intervals(level)[1]
        widths.append((high - low) / (alone[1] - alone[0]))
        middle, half = (low + high) / 2, (high - low) / 4
        narrow += middle - half <= truth["no"] <= middle + half
        mean = ogive.combine(released(AGE, "1/5"), released(AGE, "1/10")).parts[0].together
        low, high = mean.noise_interval(level)
        held[1] += low <= age <= high
    assert np.all(held >= fewest(runs, level))
    assert held.mean() <= 0.97 * runs
    assert narrow < fewest(runs, level)
    assert 0.68 < np.mean(widths) < 0.85  # of two equal releases the root of one half, and discrete


def test_what_is_not_of_the_same_records_is_refused():
    one = released(AGE)
    with pytest.raises(ParameterError, match="name two releases or more"):
        ogive.combine(one)
    with pytest.raises(ParameterError, match="given twice"):
        ogive.combine(one, one)
    exact = ogive.release(AGE, trust=ogive.Clear(TABLE))
    with pytest.raises(DataError, match="only private releases"):
        ogive.combine(one, exact)
    fewer = released(AGE, table={name: column[1:] for name, column in TABLE.items()})
    with pytest.raises(DataError, match="different numbers of records"):
        ogive.combine(one, fewer)
    with pytest.raises(DataError, match="different adjacencies"):
        ogive.combine(one, released(AGE, adjacency=Adjacency.ADD_OR_REMOVE))
    other = one.with_provenance(dataclasses.replace(one.provenance, release_id="ab", batch="may"))
    third = one.with_provenance(dataclasses.replace(one.provenance, release_id="cd", batch="june"))
    with pytest.raises(DataError, match="different batches"):
        ogive.combine(other, third)
    curves = [released(ogive.Ecdf("age", bounds=(0, 100), bins=16)) for _ in range(2)]
    with pytest.raises(UnsupportedError, match=r"fewer than two .*release 1: .* is not combined"):
        ogive.combine(*curves)
    with pytest.raises(UnsupportedError, match="fewer than two"):
        ogive.combine(curves[0], one)


def test_records_of_another_condition_are_another_population():
    women = ogive.Subset(AGE, "sex == 'F'")
    result = ogive.combine(released(AGE, "1"), released(women, "1"), released(women, "1/2"))
    assert [(part.where, part.sources) for part in result.parts] == [(None, (0,)), ("sex == 'F'", (1, 2))]
    assert "mean of age (records where sex == 'F')" in str(result)


def test_the_command_writes_a_table_and_json(tmp_path, capsys):
    paths = [tmp_path / name for name in ("a.json", "b.json")]
    for path, question in zip(paths, (AGE, by_sex(SMOKER)), strict=True):
        released(question).to_json(path)
    again = tmp_path / "c.json"
    released(AGE, "1/3").to_json(again)
    assert main(["combine", *map(str, paths), str(again), "-o", str(tmp_path / "out.json")]) == 0
    out = capsys.readouterr().out
    assert "each alone" in out
    assert f"release 3: {again}" in out
    data = json.loads((tmp_path / "out.json").read_text())
    assert data["schema"] == "ogive.combined/1"
    assert [part["releases"] for part in data["parts"]] == [[0, 2], [1], [1]]
    assert data["parts"][0]["interval"][0] < data["parts"][0]["value"] < data["parts"][0]["interval"][1]
    assert main(["combine", str(paths[0]), str(paths[0])]) == 2
    assert "given twice" in capsys.readouterr().err
    paths[0].write_text("{}")
    assert main(["combine", *map(str, paths)]) == 2
    err = capsys.readouterr().err
    assert "a.json" in err
    assert err.count("\n") == 1
