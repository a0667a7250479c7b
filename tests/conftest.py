"""What holds for every test."""

import os
import signal

# of a shell's command in the background interrupts are ignored, and so they would be by what a test starts
signal.signal(signal.SIGINT, signal.default_int_handler)

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
