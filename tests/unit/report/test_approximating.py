"""A curve that approximates is reported with its noise and with what was never measured, apart from each other."""

import numpy as np
import pytest

import ogive
from ogive.report import write_report
from ogive.report.page import chapter_of
from ogive.strategies import design_histogram

VALUES = np.random.default_rng(8).normal(50, 12, 3000)
GRANT = ogive.ApproxDP(1.0, 1e-6)


@pytest.fixture(scope="module")
def curve():
    return ogive.ecdf(VALUES, bounds=(0, 100), bins=64, privacy=GRANT, method="histogram")


def test_noise_and_bias_are_two_statements(curve):
    assert curve.approximates
    assert curve.view().reach("approximation") < curve.view().reach("sample")
    said = " ".join(str(part) for part in chapter_of(curve).error)
    assert "from noise" in said
    assert "approximates the rest" in said


def test_a_wide_band_is_not_blamed_on_noise():
    """Four groups leave half of the records open; the noise is small all the same."""
    strategy = design_histogram(64, privacy=GRANT, adjacency=ogive.Adjacency.REPLACE, groups=2)
    rough = ogive.ecdf(VALUES, bounds=(0, 100), bins=64, privacy=GRANT, method=strategy)
    assert rough.band(target="sample").half_width > 0.2
    assert chapter_of(rough).warning is None


def test_the_page_and_the_text_say_so(curve, tmp_path):
    write_report([curve], tmp_path / "page.html", title="One curve")
    assert "approximates the rest" in (tmp_path / "page.html").read_text()
    assert "this method approximates" in str(curve)
    unbiased = ogive.ecdf(VALUES, bounds=(0, 100), bins=64, privacy=GRANT, method="hat_ls")
    assert "approximates" not in str(unbiased)
    assert not unbiased.approximates


def test_roc_curves_take_no_strategy_with_a_bias():
    strategy = design_histogram(64, privacy=GRANT, adjacency=ogive.Adjacency.REPLACE)
    with pytest.raises(ogive.ParameterError, match="without bias"):
        ogive.Roc("score", "label", (0, 1), bins=64, method=strategy)
