"""The entry point of ``pbmserv …`` and ``python -m pbmserv …``."""

from __future__ import annotations

import sys

from pbmserv.cli.main import run


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
