"""Bands, intervals and tests from few simulations, where a test is of something else than how exact these are."""

from helpers.scope import is_everything

FEWEST = {
    "statistics.calibration.sums.TESTED": 199,
    "statistics.crosstab.estimate.SIMULATIONS": 199,
    "statistics.curve.approximating.SIMULATIONS": 299,
    "statistics.curve.bands.NARROWING_SIMULATIONS": 199,
    "statistics.curve.bands._EXCEED": 4,
    "statistics.curve.bands.SIMULATED_VALUES": 1,  # then there are as many as are the fewest
    "statistics.group_auc.estimate.SIMULATED_VALUES": 1,
    "statistics.roc.area._CANDIDATES": 21,
    "statistics.roc.area._HALVINGS": 8,
    "statistics.roc.area.SIMULATED_VALUES": 1,
    "statistics.sums.measured._HALVINGS": 8,
}
"""What limits simulations and searches for ends of intervals, and what it is in `make test`."""


def simulate_little(monkeypatch, *, but=()):
    """Simulate as little as the levels of bands and intervals allow in `make test`; `make test-all` is left alone.

    Args:
        monkeypatch: Sets the limits.
        but: Names of limits that stay what they are.
    """
    if is_everything():
        return
    for name, least in FEWEST.items():
        if name not in but:
            monkeypatch.setattr(f"ogive.{name}", least)
