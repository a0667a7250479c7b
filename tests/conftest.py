"""What holds for every test."""

import os

# read when NumPy is loaded, which is later: workers share the processors, and threads would wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

pytest_plugins = ["helpers.data", "helpers.garbage", "helpers.memory", "helpers.scope"]
