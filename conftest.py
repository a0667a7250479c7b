"""What holds for every test."""

import os
import signal

# of a shell's command in the background interrupts are ignored, and so they would be by what a test starts
signal.signal(signal.SIGINT, signal.default_int_handler)

# settings of whoever runs the tests are for their own work; tests make those that they mean, and talk to no proxy
for _name in [*os.environ]:
    _is_setting = _name.startswith(("OGIVE_", "PG")) and _name != "OGIVE_DATA"
    if _is_setting or _name.upper() in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FORCE_COLOR", "PY_COLORS"):
        del os.environ[_name]

# read when NumPy is loaded, which is later: workers share the processors, and threads would wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

pytest_plugins = [
    "helpers.data",
    "helpers.garbage",
    "helpers.memory",
    "helpers.scope",
    "helpers.randomness",
    "helpers.workers",
]
