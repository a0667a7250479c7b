"""One browser for all tests of a process."""

import pytest
from helpers.chromium import Browser, find


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    program = find()
    if program is None:
        pytest.skip("no Chromium on this machine to open pages in (Debian: make services)")
    with Browser(program, tmp_path_factory.mktemp("profile")) as running:
        yield running
