"""An object store that speaks S3, on a free port of the loopback, and a DuckDB that can read it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.study_service import free_port
from helpers.waiting import PATIENCE, listens, until

STORE = Path(sys.prefix) / "store"
KEYS = {"AWS_ACCESS_KEY_ID": "reader", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}

_INSTALL = """
import pathlib, sys
import duckdb, duckdb_extension_httpfs

(extension,) = pathlib.Path(duckdb_extension_httpfs.__file__).parent.rglob("*.duckdb_extension")
with duckdb.connect(config={"allow_unsigned_extensions": "true"}) as connection:
    connection.execute(f"INSTALL '{extension}'")
    connection.execute("LOAD httpfs")
    connection.execute(
        "CREATE PERSISTENT SECRET store (TYPE s3, KEY_ID 'reader', SECRET 'secret', REGION 'us-east-1', "
        f"ENDPOINT '127.0.0.1:{sys.argv[1]}', URL_STYLE 'path', USE_SSL false)"
    )
"""

_UPLOAD = """
import sys
import boto3

store = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{sys.argv[1]}")
store.create_bucket(Bucket="clinic")
for path in sys.argv[2:]:
    store.upload_file(path, "clinic", "visits/" + path.rpartition("/")[2])
"""


class ObjectStore:
    """A store with the bucket `clinic`.

    Args:
        folder: Home of those who read it: DuckDB's extensions and secrets.
    """

    def __init__(self, folder):
        self.home, self.port, self._process = folder, free_port(), None

    def start(self):
        server = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        self._process = subprocess.Popen(
            server, env=self._with("server"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until(lambda: listens(self.port) or self._process.poll() is not None, every=0.1)
        assert self._process.poll() is None, "the object store does not listen"

    def stop(self):
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait(PATIENCE)

    def upload(self, *paths):
        self._python(_UPLOAD, "server", *paths)

    def install_reader(self):
        self._python(_INSTALL, "duckdb")

    def ogive(self, *words, code=0):
        """Run a command with a DuckDB that can read the store."""
        done = subprocess.run(
            [sys.executable, "-m", "ogive", *map(str, words)],
            env=self._with("duckdb"), cwd=self.home, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done

    def _python(self, program, packages, *words):
        subprocess.run(
            [sys.executable, "-c", program, str(self.port), *map(str, words)],
            env=self._with(packages), check=True, timeout=PATIENCE,
        )  # fmt: skip

    def _with(self, packages):
        return os.environ | KEYS | {"HOME": str(self.home), "PYTHONPATH": str(STORE / packages)}


@pytest.fixture(scope="module")
def object_store(tmp_path_factory):
    if not STORE.is_dir():
        pytest.skip("there is no object store; `make store` installs one")
    store = ObjectStore(tmp_path_factory.mktemp("store"))
    store.start()
    try:
        store.install_reader()
        yield store
    finally:
        store.stop()
