"""What holds for every test of the manual."""

import pytest

from ogive.core import compiling

PLAIN_STEPS = compiling.PLAIN_STEPS


@pytest.fixture(autouse=True)
def loops_are_plain_at_first_in_later_tests():
    """Benchmarks that a test imports have every loop compiled at its first call."""
    yield
    compiling.PLAIN_STEPS = PLAIN_STEPS
