"""Optional libraries, and the command that installs a missing one.

The extras of pyproject.toml list the same libraries. Code that needs one calls `require` or
`why_missing` before it imports the library.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pbmserv.errors import OperatorError


@dataclass(frozen=True, slots=True)
class Library:
    """An optional library.

    Attributes:
        module: name to import.
        package: name for pip.
        extra: extra of pbmserv that installs it.
        purpose: the part that needs it.
    """

    module: str
    package: str
    extra: str
    purpose: str


LIBRARIES = (
    Library("psycopg", "psycopg[binary]", "postgresql", "PostgreSQL"),
    Library("fpdf", "fpdf2", "tools", "a PDF of puzzles"),
    Library("textual", "textual", "tools", "the game in the terminal"),
    Library("PIL", "pillow", "pictures", "a PNG picture"),
    Library("numba", "numba", "house", "the compiled search"),
    Library("caissify_pairings", "caissify-pairings", "events", "a Swiss tournament"),
)


def require(module: str) -> None:
    """Check that an optional library is installed.

    Raises:
        OperatorError: it is not; the message has the command that installs it.
    """
    if reason := why_missing(module):
        raise OperatorError(reason)


def why_missing(module: str) -> str:
    """Return a sentence about an optional library that is not installed; ``""`` if it is.

    The sentence has the command that installs the library. The command names the libraries of the
    extra and not ``pbmserv[EXTRA]``, which a package index could answer with another project.
    """
    if find_spec(module) is not None:
        return ""
    (library,) = (library for library in LIBRARIES if library.module == module)
    name = library.package.partition("[")[0]
    return (
        f'{library.purpose} needs {name}, which is not installed (extra "{library.extra}"); '
        f"run: {install_command(library.extra)}"
    )


def install_command(extra: str) -> str:
    """Return the shell command that installs an extra's libraries beside this program."""
    return shlex.join([sys.executable, "-m", "pip", "install", *_arguments(extra)])


def _arguments(extra: str) -> Iterator[str]:
    package = Path(__file__).parent
    places = (package / "_constraints.txt", package.parent / "constraints.txt")
    constraints = next(filter(Path.is_file, places), None)  # in a wheel, or in a checkout
    if constraints is not None:
        yield from ("-c", str(constraints))
    yield from (library.package for library in LIBRARIES if library.extra == extra)
