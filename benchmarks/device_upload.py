"""What one upload takes on a device: a process that calls `ogive.upload` with one value, and ends.

    python benchmarks/device_upload.py [--cells 1024] [--quick]

The device is a process that finds nothing installed but ogive, numpy and cryptography.
It reads the study, makes its report, and sends it over TLS to a service in this process that acknowledges
everything. Figures are of the whole process, the start of Python included.
"""

from __future__ import annotations

import argparse
import json
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from harness import measure_in_folder, row
from uploads_network import study_text

from ogive.study.document import ServersStudy
from ogive.study.enrolment import issue, make_authority, make_key, make_token
from ogive.study.servers.uploads import report_bytes

DEVICE = """
import sys
class Device:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        known = {"ogive", "numpy", "cryptography", "_cffi_backend", *sys.stdlib_module_names}
        if top not in known:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Device())
import ogive
study, token, connect, authority = sys.argv[1:]
assert ogive.upload(study, 0.5, tokens=token, connect=connect, authority=authority) == 1
import json, resource, time
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
print(json.dumps({"seconds": time.process_time(), "modules": len(sys.modules), "memory": memory}))
"""


class _Taking(BaseHTTPRequestHandler):
    """A service that acknowledges every report."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


def measure(folder: Path, *, cells: int, runs: int) -> list[dict[str, Any]]:
    """The rows of a device's upload."""
    keys = [make_key(folder / f"{number}.key") for number in range(2)]
    text = study_text(keys, people=1_000_000, cells=cells)
    (folder / "study.toml").write_bytes(text)
    make_authority(folder, "device")
    issue(folder, "service", hosts=("127.0.0.1",))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "service.pem", folder / "service.key")
    service = ThreadingHTTPServer(("127.0.0.1", 0), _Taking)
    service.socket = context.wrap_socket(service.socket, server_side=True)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    address = f"https://127.0.0.1:{service.server_address[1]}"
    words = [sys.executable, "-c", DEVICE, str(folder / "study.toml")]
    found = []
    for token in [make_token() for _ in range(runs)]:
        done = subprocess.run(
            [*words, token, address, str(folder / "ca.pem")], capture_output=True, text=True, check=True, timeout=60
        )
        found.append(json.loads(done.stdout))
    service.shutdown()
    work = f"one upload of a device, {cells} cells"
    figures = {name: min(each[name] for each in found) for name in ("seconds", "modules", "memory")}
    return [
        row(work, "processor", "s", figures["seconds"], runs=runs, larger_is_better=False),
        row(work, "modules of Python", "", figures["modules"], runs=runs, larger_is_better=False),
        row(work, "memory", "MB", figures["memory"], runs=runs, larger_is_better=False),
        row(work, "report", "B", report_bytes(ServersStudy.parse(text)), runs=1, larger_is_better=False),
    ]


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=1024)
    parser.add_argument("--quick", action="store_true", help="few runs, and nothing is recorded")
    options = parser.parse_args()
    runs = 2 if options.quick else 9
    measure_in_folder(lambda folder: measure(folder, cells=options.cells, runs=runs), quick=options.quick)


if __name__ == "__main__":
    main()
