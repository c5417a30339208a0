"""The entry point of ``pbmserv …`` and ``python -m pbmserv …``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    # Answered without imports, because package managers and probes ask for it often.
    if sys.argv[1:] == ["--version"]:
        from pbmserv import __version__

        sys.stdout.write(f"pbmserv {__version__}\n")
        return
    from pbmserv.cli.main import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
