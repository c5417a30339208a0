"""The wheel and the source archive: complete, and a server that works far from the checkout."""

from __future__ import annotations

import os
import re
import signal
import smtplib
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

import pytest

from pbmserv import __version__
from pbmserv.cli.main import run as cli
from pbmserv.extras import LIBRARIES

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = {
    path.relative_to(ROOT)
    for folder in ("templates", "migrations", "deploy")
    for path in (ROOT / folder).rglob("*")
    if path.is_file() and not {"__pycache__", "docker", "tests"} & {*path.parts}
}
TREES = tuple((ROOT / "pbmserv" / "games" / "blackbox" / "bots" / "trees").iterdir())


@dataclass(frozen=True)
class Built:
    """The files that are handed out."""

    wheel: Path
    sdist: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The source archive, and the wheel made from it, as `python -m build` has them made."""
    out = tmp_path_factory.mktemp("dist")
    build(ROOT, "sdist", out)
    (sdist,) = out.glob("*.tar.gz")
    # Python 3.11.2 knows no filter, and later ones warn without one.
    subprocess.run(["tar", "-xzf", sdist, "-C", out], check=True)
    build(out / sdist.name.removesuffix(".tar.gz"), "wheel", out)
    return Built(next(out.glob("*.whl")), sdist)


def build(source: Path, target: str, out: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(out)],
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the programs of an environment with the wheel, none of its extras, and a new game."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False, symlinks=True)
    with chdir(home):
        assert cli(["game", "new", "nim"]) == 0
    build(home / "pbm-nim", "wheel", home)
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), "install"),
            *("--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"),
            *("--no-compile", "-c", str(constraints(built, home))),
            *(str(built.wheel), str(next(home.glob("*.whl")))),
        ],
        check=True,
    )
    # The libraries are borrowed from the environment that runs this test. What a .pth file adds
    # comes last, and .pth files there (such as an editable pbmserv's) are not read.
    packages = next((home / "lib").glob("python*")) / "site-packages"
    borrowed = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    optional = [library.module for library in LIBRARIES]
    block = f"import sys; sys.modules.update(dict.fromkeys({optional}))"
    (packages / "borrowed.pth").write_text("\n".join([*borrowed, block]) + "\n")
    return home / "bin"


def constraints(built: Built, folder: Path) -> Path:
    """The versions that this wheel was tested with, as it brings them along."""
    with zipfile.ZipFile(built.wheel) as wheel:
        octets = wheel.read("pbmserv/_constraints.txt")
    assert octets == (ROOT / "constraints.txt").read_bytes()
    (folder / "constraints.txt").write_bytes(octets)
    return folder / "constraints.txt"


def canonical(name: str) -> str:
    """Return a name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def run(program: Path, *arguments: str, folder: Path) -> str:
    """Return the output of a program, which must succeed and write no errors."""
    done = subprocess.run(
        [program, *arguments],
        cwd=folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


def clean_environment() -> dict[str, str]:
    """No setting and no import path of ours; any port that is free."""
    kept = {key: value for key, value in os.environ.items() if key in {"PATH", "HOME", "LANG"}}
    ports = {f"PBMSERV_{name}": "127.0.0.1:0" for name in ("SMTP", "WEB", "MAILBOX")}
    return {**kept, **ports, "PYTHONUNBUFFERED": "1"}


@contextmanager
def started(*command: str | Path, folder: Path, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """A program that runs until it is told to stop."""
    with subprocess.Popen(
        [*command],
        cwd=folder,
        env=clean_environment() | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def lines_until(process: subprocess.Popen[str], last: str) -> str:
    """Return its output up to a line that begins with *last*."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith(last):
            return "".join(lines)
    pytest.fail(f"no line {last!r} in {lines}")


def test_the_wheel_has_every_template_and_migration(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        names = set(wheel.namelist())
    assert {f"pbmserv/_{path.as_posix()}" for path in SHIPPED} <= names
    assert {"pbmserv/py.typed", "pbmserv/web/api/examples.json"} <= names
    assert {path.relative_to(ROOT).as_posix() for path in TREES} <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests")]
    assert {name.partition("/")[0] for name in names} == {
        "pbmserv",
        f"pbmserv-{__version__}.dist-info",
    }


def test_the_constraints_pin_all_that_the_wheel_wants(built: Built, tmp_path: Path) -> None:
    pinned = {
        canonical(re.split(r"[=;\[]", line)[0])
        for line in constraints(built, tmp_path).read_text().splitlines()
        if line and not line.startswith("#")
    }
    with zipfile.ZipFile(built.wheel) as wheel:
        metadata = wheel.read(f"pbmserv-{__version__}.dist-info/METADATA").decode()
    wanted = {
        canonical(re.split(r"[^A-Za-z0-9._-]", name)[0])
        for name in re.findall(r"^Requires-Dist: (.*)$", metadata, re.MULTILINE)
    }
    assert {canonical(library.package.partition("[")[0]) for library in LIBRARIES} < wanted
    assert wanted <= pinned


def test_the_source_archive_has_all_that_is_needed_to_build_and_test(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {path.as_posix() for path in SHIPPED} <= names
    assert {path.relative_to(ROOT).as_posix() for path in TREES} <= names
    assert {"pyproject.toml", "README.md", "Makefile", "alembic.ini", "constraints.txt"} <= names
    tests = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    assert tests <= names
    assert not [name for name in names if "__pycache__" in name or "/." in name]


def test_a_server_in_an_empty_folder_answers_mails_and_stops_when_told(
    installed: Path, tmp_path: Path
) -> None:
    """It has its own templates, uses those of the operator, and reports one that is broken."""
    own, name = tmp_path / "own", "help/index.txt.j2"
    (own / "help").mkdir(parents=True, mode=0o755)
    text = (ROOT / "templates" / name).read_text()
    (own / name).write_text(f"Welcome to the chess club of Upper Downing!\n{text}")
    (own / name).chmod(0o644)
    (own / "help" / "digest.txt.j2").write_text("{% if %}")
    (own / "help" / "digest.txt.j2").chmod(0o644)
    settings = {"PBMSERV_TEMPLATES": str(own)}
    with started(installed / "pbmserv", "serve", folder=tmp_path, **settings) as server:
        greeting = lines_until(server, "ready")
        port = re.search(r"SMTP \S+:(\d+)", greeting)
        address = re.search(r"address +(\S+)", greeting)
        assert port
        assert address
        with smtplib.SMTP("127.0.0.1", int(port[1]), timeout=60) as client:
            for subject in ("help blackbox", "help"):
                mail = EmailMessage()
                mail["From"] = "alice@localhost"
                mail["To"] = address[1]
                mail["Subject"] = subject
                client.send_message(mail)
        assert server.stderr is not None
        logged = ""
        for line in server.stderr:
            logged += line
            if logged.count(" info send ") == 2:
                break
        server.send_signal(signal.SIGTERM)
        logged += server.stderr.read()
        assert server.wait(60) == 0
        letters = (tmp_path / "var" / "mail" / "alice@localhost" / "new").iterdir()
        answers = "".join(letter.read_text() for letter in letters)
        assert "Subject: Help: blackbox" in answers
        assert "YOUR FIRST MOVE" in answers
        assert "chess club of Upper Downing" in answers
        broken, *lines = logged.splitlines()
        sentence = f"pbmserv: {own}/help/digest.txt.j2, line 1: Expected an expression"
        assert broken.startswith(sentence), broken
        parts = Counter(tuple(line.split()[1:3]) for line in lines)
        assert parts == {("info", "receive"): 2, ("info", "send"): 2}, logged
