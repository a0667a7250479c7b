"""A disk that is full: no file of this process may grow beyond some bytes."""

import contextlib
import resource
import signal
import sys


@contextlib.contextmanager
def full_disk(most=0):
    """Let no file become larger than so many bytes; the system then writes a part, or refuses with an OSError."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    # Python would keep half of a module that it imports and compiles now, and fail to load it ever after
    compiling, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
        sys.dont_write_bytecode = compiling
