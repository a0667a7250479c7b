"""A PostgreSQL server of the tests' own: unprivileged, on a free port of the loopback, gone at the end."""

from __future__ import annotations

import atexit
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from functools import cache, cached_property
from pathlib import Path

import pytest
from helpers.memory import MEMORY

_USER = "ogive_tests"
_PATIENCE_SECONDS = 300


def _binaries() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    elsewhere = shutil.which("initdb")
    return Path(elsewhere).parent if elsewhere else None


def _unprivileged() -> pwd.struct_passwd | None:
    """Whom the server runs as: PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    pytest.skip("PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it as")


class Server:
    """A running server; `database` makes an empty database and returns its URL."""

    def __init__(self, binaries: Path) -> None:
        self._owner = _unprivileged()
        self._binaries = binaries
        self.folder = Path(tempfile.mkdtemp(prefix="ogive-postgres-", dir=MEMORY))
        self._password = secrets.token_hex(16)
        password = self.folder / "password"
        password.write_text(self._password)
        if self._owner is not None:
            for path in (self.folder, password):
                os.chown(path, self._owner.pw_uid, self._owner.pw_gid)
        self._run(
            "initdb", "--pgdata", str(self.folder / "data"), "--username", _USER, "--auth", "md5",
            "--pwfile", str(password), "--encoding", "UTF8", "--locale", "C", "--no-sync",
        )  # fmt: skip
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._made = 0
        self.start()

    def _identity(self) -> dict[str, object]:
        if self._owner is None:
            return {}
        return {"user": self._owner.pw_uid, "group": self._owner.pw_gid, "extra_groups": []}

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self._binaries / program), *arguments],
            cwd=self.folder,
            env={"LC_ALL": "C", "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
            **self._identity(),
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        """Start the server and wait until it answers."""
        # clients are killed in the tests, the machine is not: nothing is lost without fsync
        options = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "off",
            "max_connections": 60,
            "autovacuum": "off",  # of hundreds of databases, each of which lives for a second
            "full_page_writes": "off",
            "wal_level": "minimal",
            "max_wal_senders": 0,
        }
        self._begin(options)
        until = time.monotonic() + _PATIENCE_SECONDS
        while True:
            if self.process.poll() is not None:  # connections of a killed server end a moment after it
                text = (self.folder / "log").read_text()
                assert "still in use" in text[-500:], text
                assert time.monotonic() < until, text
                time.sleep(0.2)
                self._begin(options)
            try:
                self.execute("SELECT 1")
                return
            except Exception:
                assert time.monotonic() < until, (self.folder / "log").read_text()
                time.sleep(0.05)

    def _begin(self, options: dict[str, object]) -> None:
        """Start the server's process."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    str(self._binaries / "postgres"), "-D", str(self.folder / "data"), "-p", str(self.port),
                    *(word for name, value in options.items() for word in ("-c", f"{name}={value}")),
                ],
                cwd=self.folder,
                env={"LC_ALL": "C", "PATH": os.environ["PATH"]},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self._identity(),
            )  # fmt: skip

    def execute(self, statement: str, database: str = "postgres") -> list[tuple]:
        """Run one statement as the server's owner."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True, connect_timeout=_PATIENCE_SECONDS) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def url(self, database: str) -> str:
        """The URL of a database, password included."""
        return f"postgresql://{_USER}:{self._password}@127.0.0.1:{self.port}/{database}"

    def database(self) -> str:
        """Make an empty database and return its URL."""
        self._made += 1
        name = f"ledger_{self._made}"
        self.execute(f"CREATE DATABASE {name}{self._strategy}")
        return self.url(name)

    def drop(self, url: str) -> None:
        """Remove a database that nobody needs any more."""
        self.execute(f"DROP DATABASE {url.rpartition('/')[2]} WITH (FORCE)")

    @cached_property
    def _strategy(self) -> str:
        """How a database is copied from the empty one: without a log, where the server knows it."""
        ((version,),) = self.execute("SHOW server_version_num")
        return " STRATEGY FILE_COPY" if int(version) >= 150_000 else ""

    def kill(self) -> None:
        """End the server without warning, as a power cut would end it for its clients."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(_PATIENCE_SECONDS)

    def stop(self) -> None:
        """Stop the server and remove its files."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(_PATIENCE_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)


@cache
def server() -> Server:
    """The server of this test process, started on first use; a skip where the binaries are missing."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("PostgreSQL's binaries are not installed (make services installs them)")
    pytest.importorskip("psycopg", reason="the PostgreSQL driver is not installed (pip install 'ogive[postgres]')")
    running = Server(binaries)
    atexit.register(running.stop)
    return running
