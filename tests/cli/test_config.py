"""Options from a file and from the environment, and completion in a shell."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.scope import is_everything
from helpers.waiting import PATIENCE

from ogive.cli import main
from ogive.cli.settings import COMMANDS, on_the_command_line

PROGRAM = Path(sys.executable).with_name("ogive")
BASH = shutil.which("bash")
ASK = ("ecdf", "people.csv", "--column", "age", "--epsilon", "1")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with records, and an environment without settings."""
    for name in [name for name in os.environ if name.startswith("OGIVE_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("age\n" + "".join(f"{20 + i % 60}\n" for i in range(500)))
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run a command: (status, standard output, standard error)."""

    def run_it(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


def grid(out):
    found = json.loads(out)["grid"]
    return found["low"], found["high"], found["bins"]


def test_a_file_in_the_working_folder_fills_in_what_is_left_open(folder, run):
    (folder / "ogive.toml").write_text('adjacency = "add_or_remove"\n[ecdf]\nbounds = [0, 120]\nbins = 12\njson = true')
    status, out, err = run(*ASK)
    assert (status, err) == (0, "")
    assert grid(out) == (0, 120, 12)
    assert json.loads(out)["provenance"]["adjacency"] == "add_or_remove"


def test_the_command_line_goes_before_the_environment_and_this_before_the_file(folder, run, monkeypatch):
    (folder / "ogive.toml").write_text("[ecdf]\nbounds = [0, 120]\nbins = 12\njson = true")
    assert grid(run(*ASK)[1]) == (0, 120, 12)
    monkeypatch.setenv("OGIVE_ECDF_BINS", "7")
    assert grid(run(*ASK)[1]) == (0, 120, 7)
    assert grid(run(*ASK, "--bins", "3")[1]) == (0, 120, 3)
    monkeypatch.setenv("OGIVE_ECDF_BOUNDS", "-5 100")
    assert grid(run(*ASK)[1]) == (-5, 100, 7)
    monkeypatch.setenv("OGIVE_ECDF_JSON", "false")
    assert run(*ASK)[1].startswith("Distribution function of age")


def test_another_file_can_be_named(folder, run, monkeypatch):
    (folder / "ogive.toml").write_text("[ecdf]\nbins = 12")
    (folder / "other.toml").write_text('[ecdf]\nbounds = ["0", "9.5"]\njson = true')
    monkeypatch.setenv("OGIVE_CONFIG", "other.toml")
    assert grid(run(*ASK)[1]) == (0, 9.5, 1024)
    monkeypatch.setenv("OGIVE_CONFIG", "none.toml")
    assert run(*ASK) == (2, "", "ogive: error: OGIVE_CONFIG names none.toml, which is not a file\n")


def test_settings_of_other_commands_and_other_variables_are_left_alone(folder, run, monkeypatch):
    (folder / "ogive.toml").write_text("[quantiles]\nbins = 12\n")
    monkeypatch.setenv("OGIVE_QUANTILES_PROBABILITIES", "0.5")
    monkeypatch.setenv("OGIVE_LEDGER_KEY", "key")
    monkeypatch.setenv("OGIVE_DATA", "data")
    monkeypatch.setenv("OGIVE_LEDGER", "")
    status, out, err = run(*ASK, "--bounds", "0", "120", "--json")
    assert (status, err) == (0, "")
    assert grid(out) == (0, 120, 1024)
    status, out, err = run("quantiles", *ASK[1:], "--bounds", "0", "120", "--json")
    assert [row["probability"] for row in json.loads(out)["quantiles"]] == [0.5]
    assert grid(out) == (0, 120, 12)


BAD_FILES = {
    "no_toml": ("[ecdf", "the settings in ogive.toml are not valid TOML"),
    "unknown_key": ("legder = 'x'", "legder in ogive.toml sets nothing; did you mean ledger?"),
    "unknown_command": ("[ecfd]\nbins = 1", "ecfd in ogive.toml sets nothing; did you mean ecdf?"),
    "unknown_option": ("[ecdf]\nbinz = 1", "binz of [ecdf] in ogive.toml is not an option of ogive ecdf; did you mean"),
    "wrong_value": ("[ecdf]\nbins = 'x'", "must be a whole number, got 'x'"),
    "half_a_value": ("[ecdf]\nbounds = [1]", "bounds of [ecdf] in ogive.toml must have 2 values, got 1"),
    "two_values": ("[ecdf]\nbins = [1, 2]", "bins of [ecdf] in ogive.toml must have 1 value, got 2"),
    "table_for_value": ("[ecdf.bounds]\nlow = 1", "bounds of [ecdf] in ogive.toml must be a value or a list"),
    "shared_option_in_a_table": ("[ledger]\nurl = 'x'", "ledger in ogive.toml must be a value"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_an_unusable_file_is_one_line(folder, run, case):
    content, words = BAD_FILES[case]
    (folder / "ogive.toml").write_text(content)
    status, out, err = run(*ASK)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert words in err


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("OGIVE_LEGDER", "x", "the environment variable OGIVE_LEGDER sets nothing; did you mean OGIVE_LEDGER?"),
        ("OGIVE_ECDF_BINZ", "1", "OGIVE_ECDF_BINZ is not an option of ogive ecdf; did you mean bins?"),
        ("OGIVE_ECDF_BINS", "x", "OGIVE_ECDF_BINS must be a whole number"),
        ("OGIVE_ECDF_BOUNDS", "'0 1", "must be values with spaces between them"),
    ],
)
def test_an_unusable_variable_is_one_line(folder, run, monkeypatch, variable, value, words):
    monkeypatch.setenv(variable, value)
    status, out, err = run(*ASK)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert words in err


@pytest.mark.parametrize("name", on_the_command_line())
def test_neither_grants_privacy_nor_takes_it_away(folder, run, monkeypatch, name):
    ask = ("ecdf", "people.csv", "--column", "age", "--bounds", "0", "120")
    words = f"give --{name} on the command line"
    variable = name.upper().replace("-", "_")
    files = [(f'{name} = "1"', ()), (f'[ecdf]\n{name} = "clear"', ("--epsilon", "1"))]
    settings = [f"OGIVE_{variable}", f"OGIVE_ECDF_{variable}"]
    if not is_everything():  # a file and a variable, for all commands and for one in turn
        turn = list(on_the_command_line()).index(name) % 2
        files, settings = [files[turn]], [settings[1 - turn]]
    for content, options in files:
        (folder / "ogive.toml").write_text(content)
        status, out, err = run(*ask, *options)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert words in err
    (folder / "ogive.toml").unlink()
    for setting in settings:
        with monkeypatch.context() as patch:
            patch.setenv(setting, "1")
            status, out, err = run(*ask)
            assert (status, out) == (2, "")
            assert words in err


def test_help_does_not_need_sound_settings(folder, run):
    (folder / "ogive.toml").write_text("[ecdf")
    assert run("ecdf", "--help")[0] == 0


def completed(script, *lines_of_words):
    """What one bash offers for the last word of each line."""
    lines = [f"source {script}", 'function="$(complete -p ogive | sed "s/.*-F \\([^ ]*\\).*/\\1/")"']
    for words in lines_of_words:
        lines += [
            "COMPREPLY=()",
            f"COMP_WORDS=({' '.join(repr(word) for word in words)})",
            f"COMP_CWORD={len(words) - 1}",
            f'"$function" ogive {words[-1]!r} {words[-2]!r}',
            'printf "%s\\n" "${COMPREPLY[@]}"',
            "echo =",
        ]
    done = subprocess.run(
        [BASH, "--norc", "-c", "\n".join(lines)], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert done.stderr == ""
    return [set(offered.split()) for offered in done.stdout.split("=\n")[:-1]]


@pytest.mark.skipif(BASH is None, reason="bash is not installed (Debian: bash)")
def test_bash_completes_commands_and_options(folder, run, monkeypatch):
    used = ("completion", "ecdf", "quantiles", "ledger")
    commands = {
        name: place
        for number, (name, place) in enumerate(COMMANDS.items())
        if is_everything() or name in used or number % 4 == 0
    }
    monkeypatch.setattr("ogive.cli.COMMANDS", commands)
    status, out, err = run("completion", "bash")
    assert (status, err) == (0, "")
    script = folder / "ogive.bash"
    script.write_text(out)
    subprocess.run([BASH, "-n", script], check=True, timeout=PATIENCE)
    named, *offered = completed(
        script,
        ("ogive", ""),
        ("ogive", "ec"),
        ("ogive", "ecdf", "people.csv", "--eps"),
        ("ogive", "quantiles", "people.csv", "--missing", "d"),
        ("ogive", "ecdf", "people.csv", "--trust", "s"),
        ("ogive", "ledger", "sh"),
        ("ogive", "ecdf", "peo"),
        ("ogive", "nonsense", "--nonsense"),
    )
    assert named >= set(commands)
    assert offered == [
        {"ecdf"}, {"--epsilon"}, {"drop"}, {"secagg", "servers"}, {"show"}, {"people.csv"}, set(),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("shell", "words"),
    [
        ("zsh", "#compdef ogive"),
        pytest.param("fish", "complete -c ogive", marks=pytest.mark.everything),
    ],
)
def test_other_shells_get_scripts_of_their_own(run, monkeypatch, shell, words):
    if not is_everything():  # that other commands are completed is asked of bash
        few = {name: COMMANDS[name] for name in ("mean", "ledger", "completion")}
        monkeypatch.setattr("ogive.cli.COMMANDS", few)
    status, out, err = run("completion", shell)
    assert (status, err) == (0, "")
    assert words in out
    assert "epsilon" in out


def test_an_unknown_shell_is_bad_use(run):
    status, out, err = run("completion", "tcsh")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "bash" in err
