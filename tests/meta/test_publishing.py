"""What a published package says of itself is true and complete."""

import hashlib
import re
import tomllib
from pathlib import Path

import pytest

import ogive
from ogive.datasets import SHIPPED, shipped

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
APACHE_2 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
"""SHA-256 of the text that the Apache Software Foundation distributes as LICENSE-2.0.txt."""


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_license_is_the_official_text():
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == APACHE_2


def test_all_places_name_the_same_version_and_license():
    project = PROJECT["project"]
    assert project["version"] == ogive.__version__
    papers = tomllib.loads(text("papers/pyproject.toml"))["project"]
    assert papers["version"] == ogive.__version__
    assert papers["dependencies"] == [f"ogive[plots,learn]=={ogive.__version__}"]
    citation = dict(re.findall(r"^(version|license): (\S+)$", text("CITATION.cff"), re.MULTILINE))
    assert citation == {"version": ogive.__version__, "license": project["license"].split(" AND ")[0]}
    newest = re.search(r"^## (?:Unreleased \()?([\d.]+)", text("CHANGELOG.md"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == ogive.__version__


def test_every_table_of_the_package_is_in_the_notice_and_among_the_license_files():
    for name in SHIPPED:
        place = shipped(name).relative_to(ROOT)
        assert str(place) in text("NOTICE")
        assert str(place.with_suffix(".md")) in PROJECT["project"]["license-files"]
    assert all((ROOT / name).is_file() for name in PROJECT["project"]["license-files"])


def test_no_address_is_a_placeholder():
    for name in (
        "pyproject.toml",
        "CITATION.cff",
        "SECURITY.md",
        "CONTRIBUTING.md",
        "CODE_OF_CONDUCT.md",
        "CHANGELOG.md",
    ):
        for host in re.findall(r"https?://([\w.-]+)", text(name)):
            assert host in {"semver.org", "doi.org"}, f"{name} names {host}"
        assert not re.search(r"\b(TODO|FIXME|example\.(com|org))\b", text(name)), name


def test_workflows_call_targets_of_the_makefile_that_there_are():
    targets = set(re.findall(r"^([\w-]+):", text("Makefile"), re.MULTILINE))
    workflows = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "workflows").iterdir()}
    called = {name: re.findall(r"run: make ([\w-]+)", words) for name, words in workflows.items()}
    assert called["docs"] == ["docs"]
    assert called["publish"] == ["test-wheel"]
    assert {"lint", "test", "test-floors"} <= set(called["tests"])
    assert "test-all" in called["nightly"]
    assert set().union(*called.values()) <= targets


def test_versions_of_python_in_the_metadata_are_tested_in_public():
    told = {name.rpartition(" ")[2] for name in PROJECT["project"]["classifiers"] if re.search(r":: 3\.\d+$", name)}
    matrix = re.search(r"python-version: \[(.*)\]", text(".github/workflows/tests.yml"))[1]
    assert told <= set(re.findall(r"[\d.]+", matrix))
    assert min(told, key=lambda version: int(version[2:])) == PROJECT["project"]["requires-python"].removeprefix(">=")


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "NOTICE"]
)
def test_files_that_these_texts_name_exist(name):
    quoted = r"`((?:docs|tests|\.github)/[\w./-]+|[A-Z_]+\.md)`"
    shown = r"(?<=\]\()[^):#]+(?=\))|(?<=src=\")[^\":]+"
    for named in re.findall(quoted, text(name)) + re.findall(shown, text(name)):
        assert (ROOT / named).exists(), f"{name} names {named}"
