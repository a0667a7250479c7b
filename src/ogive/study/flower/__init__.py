"""Writing the relay app of a study: a folder that `flwr run` takes."""

from __future__ import annotations

import re
import shutil
import tempfile
from importlib import resources
from pathlib import Path

from ogive.errors import ParameterError, plain
from ogive.study.document import Study
from ogive.study.https import read_address
from ogive.study.local_client import QUIET

FLOWER = "1.41.0"
"""The version of Flower that the app was written and tested for."""

_PACKAGE = "ogive_relay"
_COPIED = ("flower/relay/apps.py", "https/mailbox.py", "local_client.py")
"""Files of `ogive.study`; in the app they lie side by side. The folder `relay` is no package of ogive: its files need
Flower, so that whoever imports all of ogive passes them by."""
_IMPORT = re.compile(r"^from ogive\.study\.(?:\w+\.)*(\w+) import", re.MULTILINE)

_PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "ogive-relay"
version = "0.1.0"
description = "Carries the questions and replies of the study {name}; it has no access to records or keys"
license = "Apache-2.0"
dependencies = []

[tool.hatch.build.targets.wheel]
packages = ["."]

[tool.flwr.app]
publisher = "ogive"
flwr-version-target = "{flower}"

[tool.flwr.app.components]
serverapp = "{package}.apps:server"
clientapp = "{package}.apps:client"

[tool.flwr.app.config]
# the study's service, and the folder of the SuperLink's machine with its ca.pem and the parties' tokens
coordinator = "{url}"
service = "{service}"
# SHA-256 of the study, and its parties
study = "{digest}"
parties = "{parties}"
# how long an answer is waited for; above the 60 s in which Flower notices that a node is gone
answer-seconds = 120
"""

_ENVIRONMENT = """\
# Where Flower runs: no telemetry, no look for updates. The app refuses to run without these.
{settings}
"""


def write_app(folder: Path, study: Study, *, url: str, service: str) -> None:
    """Write the relay app of a study into a new folder, whole or not at all."""
    read_address(url, "the coordinator")
    for text in (url, service):
        if not text.isprintable() or '"' in text or "\\" in text:
            raise ParameterError(f"the app cannot hold {plain(text)}: it has quotes or characters that do not print")
    if folder.exists() or folder.is_symlink():
        raise ParameterError(f"the folder {plain(folder)} is there already and is kept; name a new one")
    try:
        unfinished = Path(tempfile.mkdtemp(dir=folder.absolute().parent, prefix=f".{folder.name}."))
    except OSError as problem:
        raise ParameterError(f"the folder {plain(folder)} cannot be made: {problem.strerror}") from None
    try:
        _fill(unfinished, study, url=url, service=service)
        unfinished.chmod(0o755)
        unfinished.rename(folder)
    except OSError as problem:
        raise ParameterError(f"the folder {plain(folder)} cannot be written: {problem.strerror}") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)  # there only if it could not be completed


def _fill(folder: Path, study: Study, *, url: str, service: str) -> None:
    package = folder / _PACKAGE
    package.mkdir()
    (package / "__init__.py").touch()
    for name in _COPIED:
        text = resources.files("ogive.study").joinpath(name).read_text(encoding="utf-8")
        (package / Path(name).name).write_text(_IMPORT.sub(rf"from {_PACKAGE}.\1 import", text), encoding="utf-8")
    project = _PROJECT.format(
        name=study.name,
        flower=FLOWER,
        package=_PACKAGE,
        url=url,
        service=service,
        digest=study.digest.hex(),
        parties=",".join(party.name for party in study.parties),
    )
    (folder / "pyproject.toml").write_text(project, encoding="utf-8")
    settings = "\n".join(f"{name}={value}" for name, value in QUIET.items())
    (folder / "environment").write_text(_ENVIRONMENT.format(settings=settings), encoding="utf-8")
