"""A study's service on loopback, in a thread, and a proxy in front of it that loses, delays, cuts and garbles."""

import asyncio
import contextlib
import random
import socket
import threading

from helpers.waiting import PATIENCE, ended, until

from ogive.study.agent import Connection
from ogive.study.enrolment import Tokens, equip, read_token
from ogive.study.https.service import Service, StoppingServer, configuration


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Serving:
    """The service of a trial's coordinator, until the block ends."""

    def __init__(self, trial, *, folder=None, port=None, clients=False, **options):
        self.trial, self.port, self.clients = trial, port or free_port(), clients
        self._connections = []
        self.folder = trial.folder / "service" if folder is None else folder
        if not self.folder.exists():
            equip(self.folder, trial.study, hosts=("127.0.0.1", "localhost"), clients=clients)
        tokens = Tokens.read(self.folder / "tokens", trial.study)
        self.service = Service(trial.coordinator, tokens, **options)
        config = configuration(self.service.application(), self.folder, clients=clients)
        config.host, config.port, config.timeout_graceful_shutdown = "127.0.0.1", self.port, 1
        self._server = StoppingServer(config, self.service.end)

    async def _serve(self):
        await self._server.serve()
        for each in list(self._server.server_state.connections):  # of clients that did not go
            each.transport.abort()
        await asyncio.sleep(0.05)

    def __enter__(self):
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(),), daemon=True)
        self._thread.start()
        until(lambda: self._server.started or not self._thread.is_alive())
        assert self._server.started, "the service did not start"
        return self

    def __exit__(self, *_):
        for connection in self._connections:  # those that a test did not close
            connection.close()
        self._server.should_exit = True
        ended(self._thread)

    def connection(self, number, *, port=None, token=None):
        name = self.trial.study.parties[number - 1].name
        token = read_token(self.folder / f"{name}.token") if token is None else token
        url = f"https://127.0.0.1:{port or self.port}"
        pair = (self.folder / f"{name}.pem", self.folder / f"{name}.key") if self.clients else None
        made = Connection(url, name, token, authority=self.folder / "ca.pem", certificate=pair)
        self._connections.append(made)
        return made


@contextlib.contextmanager
def running(serving, numbers=None, *, port=None, agents=None):
    """The agents of a trial at work, each in a thread, or what answers in their place."""
    stop, threads = threading.Event(), []
    for number, agent in (agents or serving.trial.agents).items():
        if numbers is None or number in numbers:
            connection = serving.connection(number, port=port)
            threads.append(threading.Thread(target=work, args=(connection, agent, stop), daemon=True))
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        ended(*threads)


def work(connection, agent, stop):
    with connection:
        connection.run(agent, stop)


class Proxy:
    """A TCP proxy that does to each piece of bytes what a seeded generator says.

    Args:
        port: Of the service.
        seed: Of the generator.
        faults: Chances per piece of "cut", "delay", "garble", "drop", "twice" and "hang", after which nothing comes any
            more.
    """

    def __init__(self, port, seed, faults):
        self.port, self.to, self.faults = free_port(), port, faults
        self.random = random.Random(seed)
        self.done = dict.fromkeys(faults, 0)
        self._over = asyncio.Event()

    def __enter__(self):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._serve, "127.0.0.1", self.port), self._loop
        ).result(PATIENCE)
        return self

    def __exit__(self, *_):
        async def end():
            self._server.close()
            self._over.set()
            await asyncio.sleep(0.05)  # connections that hang are closed
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        ended(self._thread)
        self._loop.close()

    async def _serve(self, reader, writer):
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self.to)
        except OSError:
            writer.close()
            return
        pumps = [asyncio.ensure_future(self._pump(reader, back)), asyncio.ensure_future(self._pump(there, writer))]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            for each in (writer, back):
                each.close()

    async def _pump(self, reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 14):
                fault = self._fault()
                if fault == "cut":
                    writer.write(data[: len(data) // 2])
                    return
                if fault == "drop":
                    continue
                if fault == "hang":
                    await self._over.wait()
                    return
                if fault == "garble":
                    at = self.random.randrange(len(data))
                    data = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
                if fault == "delay":
                    await asyncio.sleep(self.random.random() * 0.3)
                writer.write(2 * data if fault == "twice" else data)
                await writer.drain()

    def _fault(self):
        chance = self.random.random()
        for name, share in self.faults.items():
            if chance < share:
                self.done[name] += 1
                return name
            chance -= share
        return None
