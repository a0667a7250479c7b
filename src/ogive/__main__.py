"""`python -m ogive` is the command `ogive`."""

import sys

from ogive.cli import main

if __name__ == "__main__":
    sys.exit(main())
