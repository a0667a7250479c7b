"""What the command line shows while it works."""

import io
import sys

from ogive.cli.output import busy


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_steps_are_counted_on_a_terminal(monkeypatch):
    seen = []
    monkeypatch.setattr("rich.status.Status.update", lambda self, message: seen.append(message))
    monkeypatch.setattr(sys, "stderr", Terminal())
    with busy("planning") as progress:
        progress(1, 3)
        progress(2, 3)
    assert seen == ["planning: 1 of 3", "planning: 2 of 3"]


def test_nothing_is_shown_elsewhere(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with busy("planning") as progress:
        progress(1, 3)
    assert sys.stderr.getvalue() == ""
