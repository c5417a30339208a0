"""Optional libraries: a server on SQLite does without them, and a part that needs one says so."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from migrated import migrated
from rows import rows

from pbmserv.extras import LIBRARIES, install_command, why_missing

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
OPTIONAL = ("postgresql", "tools", "pictures", "house", "events")
"""Extras for people who run a server; the others are for tests and measurements."""

BLOCKED = [library.module for library in LIBRARIES]
BLOCK = f"import sys; sys.modules.update(dict.fromkeys({BLOCKED}))\n"
"""Makes a Python process unable to import any optional library."""

NEEDS_ONE = {
    "pbmserv.games.blackbox.bots.sampler",
    "pbmserv.cli.blackbox.pdf",
    "pbmserv.cli.blackbox.pdf_box",
    "pbmserv.cli.blackbox.terminal",
    "pbmserv.store.core.postgresql",
    "pbmserv.store.operators.backup_postgresql",
}
"""Modules, and a package, that import optional libraries; all others import them where they use
them."""


class Answer(NamedTuple):
    """The exit code of a command, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


class Commands:
    """Runs commands of pbmserv in one process, which has no optional libraries.

    Attributes:
        not_imported: modules of ours that cannot be imported there.
    """

    PROGRAM = """
import contextlib, functools, importlib, io, json, os, pkgutil, pbmserv, typer
from pbmserv.cli.main import run
typer.main.get_command = functools.cache(typer.main.get_command)
names = []
for module in pkgutil.walk_packages(pbmserv.__path__, "pbmserv."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ImportError:
            names.append(module.name)
print(json.dumps(names), flush=True)
for line in sys.stdin:
    command, folder, environ = json.loads(line)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    with (
        contextlib.redirect_stdout(io.StringIO()) as stdout,
        contextlib.redirect_stderr(io.StringIO()) as stderr,
    ):
        code = run(command.split())
    print(json.dumps([code, stdout.getvalue(), stderr.getvalue()]), flush=True)
"""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", BLOCK + self.PROGRAM],
            env={"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.not_imported: list[str] = json.loads(self.process.stdout.readline())

    def run(self, folder: Path, *commands: str, **environ: str) -> list[Answer]:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        answers = []
        for command in commands:
            request = [command, str(folder), {"PATH": "/usr/bin:/bin", **environ}]
            print(json.dumps(request), file=stdin, flush=True)
            answers.append(Answer(*json.loads(stdout.readline())))
        return answers


@pytest.fixture(scope="module")
def blocked() -> Iterator[Commands]:
    commands = Commands()
    with commands.process:
        yield commands


def sentence(purpose: str, name: str, extra: str) -> str:
    return (
        f'{purpose} needs {name}, which is not installed (extra "{extra}"); '
        f"run: {install_command(extra)}"
    )


def test_the_extras_list_the_same_libraries_as_the_code() -> None:
    listed = {
        extra: {re.split(r"[<>=]", requirement)[0] for requirement in EXTRAS[extra]}
        for extra in OPTIONAL
    }
    by_extra = {
        extra: {library.package for library in LIBRARIES if library.extra == extra}
        for extra in OPTIONAL
    }
    assert listed == by_extra
    assert {library.extra for library in LIBRARIES} == set(OPTIONAL)


def test_the_makefile_installs_every_part() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert f"EXTRAS := {','.join(OPTIONAL)}\n" in makefile
    installed = re.findall(r"\$\(INSTALL\) -e '\.\[(.*?)\]'", makefile)
    assert installed
    assert all(re.match(r"\$\(EXTRAS\)(,|$)", extras) for extras in installed)


@rows("extra", OPTIONAL)
def test_the_command_installs_the_tested_versions_of_the_libraries_by_name(extra: str) -> None:
    program, *pip, constraints = shlex.split(install_command(extra))[:6]
    packages = shlex.split(install_command(extra))[6:]
    assert (program, pip) == (sys.executable, ["-m", "pip", "install", "-c"])
    assert Path(constraints).read_bytes() == (ROOT / "constraints.txt").read_bytes()
    assert packages == [library.package for library in LIBRARIES if library.extra == extra]


def test_all_optional_libraries_are_here() -> None:
    assert [why_missing(module) for module in BLOCKED] == [""] * len(BLOCKED)


def test_only_the_parts_themselves_import_optional_libraries(blocked: Commands) -> None:
    terminal = "pbmserv.cli.blackbox.terminal"
    names = {terminal if name.startswith(f"{terminal}.") else name for name in blocked.not_imported}
    assert names == NEEDS_ONE


def test_a_postgresql_url_without_psycopg_is_refused(blocked: Commands, tmp_path: Path) -> None:
    url = "postgresql+psycopg://pbm:hush@db.example.org/pbmserv"
    commands = ("serve", "db check")
    for answer in blocked.run(tmp_path, *commands, PBMSERV_DATABASE=url):
        assert (answer.returncode, answer.stdout) == (2, "")
        assert answer.stderr == (
            "pbmserv: a setting is wrong: "
            'PBMSERV_DATABASE = "postgresql+psycopg://pbm:***@db.example.org/pbmserv" '
            "(environment PBMSERV_DATABASE): "
            + sentence("PostgreSQL", "psycopg", "postgresql")
            + "\n"
        )


def test_copies_are_put_back_without_psycopg(blocked: Commands, tmp_path: Path) -> None:
    (tmp_path / "var").mkdir()
    migrated(tmp_path / "var" / "pbmserv.sqlite3")
    (tmp_path / "dump").write_bytes(b"PGDMP and more")
    commands = ("db backup copy", "db restore --overwrite copy", "db restore dump")
    *answers, refused = blocked.run(tmp_path, *commands)
    ends = ("is a whole copy", "is now the copy copy")
    for answer, end in zip(answers, ends, strict=True):
        assert answer.returncode == 0, answer
        assert end in answer.stdout
    assert refused.returncode == 1
    assert "dump is a copy of a PostgreSQL database, and cannot go into SQLite" in refused.stderr


def test_tools_without_their_libraries_say_what_to_install(
    blocked: Commands, tmp_path: Path
) -> None:
    needed = {
        "print 1x1 w8h8m5M5:471727f82dd32d22f217ffc5": ("a PDF of puzzles", "fpdf2", "tools"),
        "play": ("the game in the terminal", "textual", "tools"),
    }
    answers = blocked.run(tmp_path, *(f"blackbox {command}" for command in needed))
    for answer, library in zip(answers, needed.values(), strict=True):
        assert answer == (1, "", f"pbmserv: {sentence(*library)}\n")
