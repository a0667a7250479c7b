"""Commands in processes of their own that are forked from one which has imported everything.

`ogive` is started dozens of times by a tutorial, and most of its time goes into imports. Whatever runs
`program(folder)` gets a process with its own arguments, folder, environment, standard streams and exit status, as of
the program itself. `python()` is a program that runs Python code in the same way, for tests that need a process but not
one that has imported nothing. `Forked` is such a process of a test, which may kill it. Run as a program, this module is
the server: it takes a request for each command over a socket, and forks.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import types
from collections.abc import Sequence
from functools import cache
from pathlib import Path

LARGE = (
    "numba", "pandas", "scipy.stats", "matplotlib.pyplot", "duckdb", "pyarrow.compute", "ogive.releasing.session",
    "ogive.report", "ogive.study.document", "ogive.study.https.service", "ogive.study.agent",
    "ogive.study.servers.service", "ogive.study.pairs.service", "ogive.study.local.service",
)  # fmt: skip
"""Modules that commands load, if they are installed."""

CLIENT = """#!{python} -IS
import json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
asked = json.dumps([{name!r}, sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(server, [len(asked).to_bytes(8, "big")], [0, 1, 2])
server.sendall(asked)
child = int.from_bytes(server.recv(8), "big")
for name in (signal.SIGINT, signal.SIGTERM):
    signal.signal(name, lambda number, _: os.kill(child, number))
status = os.waitstatus_to_exitcode(int.from_bytes(server.recv(8), "big"))
if status < 0:
    if -status != signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
sys.exit(status)
"""


@cache
def _server() -> str:
    """The address of the server of this process's tests, which ends with it."""
    address = str(Path(tempfile.mkdtemp(prefix="forked")) / "socket")
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    server = subprocess.Popen(
        [sys.executable, "-m", "helpers.forked", address],
        env=os.environ | {"PYTHONPATH": paths},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    atexit.register(server.communicate)
    assert server.stdout.readline() == b"ready\n"
    return address


def program(folder: Path, name: str = "ogive") -> Path:
    """A program in a folder, `ogive` or `python`, which has its process forked."""
    path = folder / name
    path.write_text(CLIENT.format(python=sys.executable, address=_server(), name=name), encoding="utf-8")
    path.chmod(0o755)
    return path


@cache
def python() -> str:
    """The path of a program that runs `-c CODE` and the words after it, in a process that has imported everything."""
    return str(program(Path(_server()).parent, "python"))


class Forked:
    """A command beside the test that starts it, which waits for it or kills it.

    Args:
        words: What follows the program's name.
        folder: Where it runs.
        log: A file to which all it prints is added; None for two of its own, which `communicate` reads.
        program: "ogive" or "python".
    """

    def __init__(
        self, words: Sequence[object], folder: Path, log: Path | None = None, *, program: str = "ogive"
    ) -> None:
        self.returncode: int | None = None
        self._printed = [] if log else [tempfile.TemporaryFile("w+", encoding="utf-8") for _ in range(2)]  # noqa: SIM115
        asked = json.dumps([program, [str(word) for word in words], str(folder), dict(os.environ)]).encode()
        with contextlib.ExitStack() as opened:
            nothing = opened.enter_context(Path(os.devnull).open("rb"))
            streams = [opened.enter_context(log.open("a"))] * 2 if log else self._printed
            self._server = socket.socket(socket.AF_UNIX)
            self._server.connect(_server())
            descriptors = [each.fileno() for each in (nothing, *streams)]
            socket.send_fds(self._server, [len(asked).to_bytes(8, "big")], descriptors)
            self._server.sendall(asked)
        self.pid = self._number()

    def _number(self) -> int:
        told = self._server.recv(8)
        assert len(told) == 8, "the server that forks has ended"
        return int.from_bytes(told, "big")

    def wait(self, seconds: float) -> int:
        """Its exit status, negative for a signal, once it has ended."""
        if self.returncode is None:
            self._server.settimeout(seconds)
            self.returncode = os.waitstatus_to_exitcode(self._number())
            self._server.close()
        return self.returncode

    def communicate(self, seconds: float) -> tuple[str, str]:
        """What it printed and what it complained of, once it has ended."""
        self.wait(seconds)
        said = []
        for file in self._printed:
            file.seek(0)
            said.append(file.read())
            file.close()
        self._printed = []
        return said[0], said[1]

    def kill(self, seconds: float = 60) -> None:
        """End it as a crash does."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):  # it has ended by itself
                os.kill(self.pid, signal.SIGKILL)
            self.wait(seconds)
        if self._printed:
            print(*self.communicate(seconds))


def _python(words: list[str]) -> int:
    """Run `-c CODE`; the exit status."""
    option, code, *rest = words
    assert option == "-c", "this stands for `python -c CODE`, and for nothing else"
    sys.argv = [option, *rest]
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    try:
        exec(compile(code, "<string>", "exec"), main.__dict__)
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        print(ended.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _child(streams: list[int], name: str, words: list[str], folder: str, environment: dict[str, str]) -> None:
    """Become the command, and end with it."""
    from ogive.cli import main

    status = 70
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["ogive", *words]
        status = main() if name == "ogive" else _python(words)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def _serve(address: str) -> None:
    """Fork a process for each request; one whose client was killed is killed too."""
    for name in LARGE:
        with contextlib.suppress(ImportError):
            __import__(name)
    gc.freeze()
    events = selectors.DefaultSelector()
    clients: dict[int, socket.socket] = {}

    def reap() -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                client = clients.pop(ended[0])
                with contextlib.suppress(KeyError):
                    events.unregister(client)
                with contextlib.suppress(OSError):
                    client.sendall(ended[1].to_bytes(8, "big"))
                client.close()

    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen(64)
    events.register(listening, selectors.EVENT_READ)
    # a child that ends wakes the loop, which alone looks for it: a handler could run before the child is written down
    ended, woken = socket.socketpair()
    for end in (ended, woken):
        end.setblocking(False)
    events.register(ended, selectors.EVENT_READ)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    print("ready", flush=True)
    while True:
        ready = [key.fileobj for key, _ in events.select()]
        for child, client in clients.items():
            if client in ready:  # it sends nothing, so it has ended
                os.kill(child, signal.SIGKILL)
                events.unregister(client)
        if listening in ready:
            client, _ = listening.accept()
            child = _forked(client)
            if child is None:
                client.close()
            else:
                clients[child] = client
                events.register(client, selectors.EVENT_READ)
        if ended in ready:
            ended.recv(1 << 16)
            reap()


def _forked(client: socket.socket) -> int | None:
    """The process that runs what a client asks for; None where the client has ended before it asked."""
    head, streams, _, _ = socket.recv_fds(client, 8, 3)
    asked, whole = b"", int.from_bytes(head, "big")
    while len(asked) < whole and (part := client.recv(1 << 16)):
        asked += part
    if len(streams) < 3 or len(asked) < whole:
        return None
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _child(streams, *json.loads(asked))
    for stream in streams:
        os.close(stream)
    with contextlib.suppress(OSError):
        client.sendall(child.to_bytes(8, "big"))
    return child


def _until_input_ends(address: str) -> None:
    """The server and its folder end with the process that started it, even if that is killed."""
    child = os.fork()
    if child:
        sys.stdin.buffer.read()
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
        shutil.rmtree(Path(address).parent)
        os._exit(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


if __name__ == "__main__":
    _until_input_ends(sys.argv[1])
    _serve(sys.argv[1])
