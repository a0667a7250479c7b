"""A headless Chromium, spoken to over a pipe in the DevTools protocol; nothing beyond the standard library.

The browser opens files and addresses of this machine only. What a page asks for is listed in `Page.requests`.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
PATIENCE = 300.0

# the protocol wants descriptors 3 and 4: a small process moves ours there, and then is the browser
MOVE = """
import fcntl, os, sys
pipes = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
for pipe, wanted in zip(pipes, (3, 4)):
    os.dup2(pipe, wanted)
    os.close(pipe)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find():
    """The browser's program, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One process with a profile of its own. A context manager."""

    def __init__(self, program, profile):
        to_read, self._out = os.pipe()
        self._in, to_write = os.pipe()
        command = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-c", MOVE, str(to_read), str(to_write), *command],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._buffer, self._number = b"", 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        try:
            self.call("Browser.close")
            self._process.wait(PATIENCE)
        except (TimeoutError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        finally:
            os.close(self._out)
            os.close(self._in)

    def call(self, method, session=None, **parameters):
        """Send one command and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        wanted = self._number
        while True:
            answer = self._message()
            if answer.get("id") == wanted:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method, session):
        """Read until an event arrives."""
        while not any(e.get("method") == method and e.get("sessionId") == session for e in self.events):
            self.events.append(self._message())

    def _message(self):
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self._in, 1 << 20)
            if not piece:
                raise OSError("the browser went away")
            self._buffer += piece
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)


class Page:
    """One file or address, laid out for a screen of some width; light or dark, for the screen or for paper."""

    def __init__(self, browser, path, *, width, height=900, dark=False, media="", density=1):
        self._browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self._target = target
        self._session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._call("Page.enable")
        self._call("Network.enable")
        self._call("Log.enable")
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=density,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        if isinstance(path, str):  # a service on loopback, whose authority the browser does not know
            self._call("Security.setIgnoreCertificateErrors", ignore=True)
        self._call("Page.navigate", url=path if isinstance(path, str) else path.resolve().as_uri())
        browser.wait_for("Page.loadEventFired", self._session)

    def _call(self, method, **parameters):
        return self._browser.call(method, self._session, **parameters)

    def ask(self, expression):
        """The value of a script's expression, run by us and not by the page."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def picture(self, part="body", height=None):
        """The page as PNG, from the top of an element on, down to the end of the page or as high as is wanted."""
        size = self._call("Page.getLayoutMetrics")["cssContentSize"]
        rect = f"document.querySelector({json.dumps(part)}).getBoundingClientRect()"
        top = 0 if part == "body" else self.ask(f"{rect}.top + scrollY")
        height = size["height"] - top if height is None else height
        clip = {"x": 0, "y": top, "width": size["width"], "height": height, "scale": 1}
        return base64.b64decode(
            self._call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"]
        )

    def paper(self):
        """The page as PDF on A4."""
        sheet = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True}
        return base64.b64decode(self._call("Page.printToPDF", printBackground=True, **sheet)["data"])

    def accessible(self):
        """What a screen reader is told, as nodes with role and name."""
        return self._call("Accessibility.getFullAXTree")["nodes"]

    def _events(self, method):
        return [
            event["params"]
            for event in self._browser.events
            if event.get("method") == method and event.get("sessionId") == self._session
        ]

    @property
    def requests(self):
        """Addresses that the page asked for."""
        return [event["request"]["url"] for event in self._events("Network.requestWillBeSent")]

    @property
    def complaints(self):
        """What the browser wrote to its console."""
        return [event["entry"]["text"] for event in self._events("Log.entryAdded")]

    def close(self):
        """Close the tab."""
        self._browser.call("Target.closeTarget", targetId=self._target)
