"""Commands that are refused."""

from ogive.cli import main


def refused(capsys, arguments):
    """The one line of a refusal."""
    assert main(arguments) in (1, 2)
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    return captured.err
