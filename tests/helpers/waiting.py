"""Waiting for a state, however busy the machine is, and threads that end with the block that began them."""

import contextlib
import socket
import threading
import time

PATIENCE = 300.0
"""Seconds after which what a test waits for counts as never happening. No test waits so long where all is well."""


def until(true, seconds=PATIENCE, *, told=str, every=0.02):
    """Wait until something is true, and return it.

    Args:
        true: Looks whether it is.
        seconds: After how long the test fails.
        told: Says after a failure what is known, as a text.
        every: Seconds between two looks.
    """
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, f"not true within {seconds} s: {told()}"
        time.sleep(every)
    return found


class Beside:
    """A function at work in a thread of its own.

    Leaving the block waits for its end, and raises what it raised: no thread and no failure goes on into another test.

    Args:
        work: The function.
        arguments: Of the function.
        stop: Called where the block ends by an exception, so that the function ends soon.
    """

    def __init__(self, work, *arguments, stop=lambda: None):
        self._work, self._arguments, self._stop = work, arguments, stop
        self._problem = None
        self.result = None
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        try:
            self.result = self._work(*self._arguments)
        except BaseException as problem:
            self._problem = problem

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            self._stop()
            self.thread.join(PATIENCE)
            return
        self.join()

    def join(self):
        """Wait for the end of the function; what it raised is raised."""
        ended(self.thread)
        if self._problem is not None:
            raise self._problem

    @property
    def alive(self):
        """Whether the function is still at work."""
        return self.thread.is_alive()


def ended(*threads):
    """Wait until threads have ended."""
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads), "a thread did not end"


def listens(port):
    """Whether something on this machine takes connections at a port."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), PATIENCE):
        return True
    return False


@contextlib.contextmanager
def in_thread(server):
    """A server of uvicorn in a thread, once it listens, until the block ends."""
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until(lambda: server.started or not thread.is_alive())
        assert server.started, "the server did not start"
        yield server
    finally:
        server.should_exit = True
        ended(thread)
