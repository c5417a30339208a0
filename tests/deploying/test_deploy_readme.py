"""deploy/README.md, followed to the letter: what it says to type is understood, and is there."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from indoors import indoors
from migrated import migrated
from sqlalchemy import text
from typer.main import get_command

from pbmserv.cli.main import app, run
from pbmserv.config.settings import load
from pbmserv.store.core.database import Database

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "deploy" / "README.md").read_text()
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
BLOCKS = [
    (kind, re.sub(rf"^{indent}", "", body, flags=re.MULTILINE))
    for indent, kind, body in _BLOCK.findall(README)
]
SHELL = [body for kind, body in BLOCKS if not kind]


_COPY = re.compile(r"/var/backups/pbmserv/\S+(?: \+%F\))?")
"""Where the text keeps copies of the database."""


def typed() -> Iterator[list[str]]:
    """Each command of ours that stands in a block, without the program's name."""
    for line in "\n".join(SHELL).splitlines():
        if line.startswith(("pbm ", "/opt/pbmserv/bin/pbmserv ")):
            yield shlex.split(_COPY.sub("COPY", line))[1:]


def spoken_of() -> set[str]:
    """What stands in the running text between backquotes, as ``pbm outbox list | show N``."""
    prose = _BLOCK.sub("", README)
    found = re.findall(r"`(?:pbm|/opt/pbmserv/bin/pbmserv) ([^`]+)`", prose)
    assert len(found) > 5
    return set(found)


def complete(path: list[str]) -> bool:
    """Whether these words are a command, or a group of them."""
    command = get_command(app)
    for word in path:
        known = getattr(command, "commands", {})
        if word not in known:
            return False
        command = known[word]
    return True


@pytest.mark.parametrize("arguments", list(typed()), ids=" ".join)
def test_each_command_of_a_block_is_one(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """It does not matter what comes of it, but 2 is the exit code of what is not understood."""
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PBMSERV_DATABASE", migrated(tmp_path / "pbmserv.sqlite3"))
    copy = str(tmp_path / "copy")
    if "restore" in arguments:
        assert run(["db", "backup", copy]) == 0
        if "--overwrite" not in arguments:  # it is put into a new database
            monkeypatch.setenv("PBMSERV_DATABASE", request.getfixturevalue("empty_postgres_url"))
    assert run([copy if word == "COPY" else word for word in arguments]) == 0


def test_the_move_from_sqlite_to_postgresql_is_what_its_steps_say(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    empty_postgres_url: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its commands in their order, with the settings changed where it says so."""
    own = migrated(tmp_path / "pbmserv.sqlite3")
    with indoors(tmp_path, database=own) as house:
        house.sign_up("alice")
    _, _, after = README.partition("### From SQLite to PostgreSQL\n")
    steps, _, _ = after.partition("\n### ")
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PBMSERV_DATABASE", own)
    tried: list[list[str]] = []
    for _, kind, body in _BLOCK.findall(steps):
        if kind == "toml":
            assert 'database = "postgresql' in body
            monkeypatch.setenv("PBMSERV_DATABASE", empty_postgres_url)
        for line in _COPY.sub(str(tmp_path / "copy"), body).splitlines():
            if line.strip().startswith("pbm "):
                tried.append(shlex.split(line)[1:])
                assert run(tried[-1]) == 0, tried
    assert [" ".join(words[:2]) for words in tried] == [
        "db backup",
        "db restore",
        "db check",
        "user list",
    ]
    assert "alice" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize("words", sorted(spoken_of()))
def test_each_command_that_the_text_speaks_of_is_one(words: str) -> None:
    """``user | board | game``: each word before an alternative is tried, and options are known."""
    first, *others = (part.split() for part in words.split("|"))
    path = [word for word in first if re.fullmatch(r"[a-z-]+", word) and word[0] != "-"][:2]
    while path and not complete(path):
        path.pop()  # an argument, such as a user's name
    assert path, words
    for other in others:
        assert complete([*path[:-1], other[0]]), words
    command = get_command(app)
    for word in path:
        command = getattr(command, "commands", {})[word]
    known = {name for parameter in command.params for name in parameter.opts}
    assert set(re.findall(r"(?<!\S)--[a-z-]+", words)) <= known | {"--config", "--why"}


@pytest.mark.parametrize("block", SHELL)
def test_each_block_is_what_a_shell_understands(block: str) -> None:
    done = subprocess.run(["bash", "-n"], input=block, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_each_file_of_the_project_that_it_names_is_there() -> None:
    named = set(re.findall(r"(?<![\w/])deploy/[\w./-]*\w", README))
    assert len(named) > 6
    assert [name for name in named if not (ROOT / name).exists()] == []
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / "deploy" / link).exists(), link


def test_each_link_within_the_page_leads_to_a_heading() -> None:
    headings = {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", README, re.MULTILINE)
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", README)) <= headings


def settings_in_it() -> list[str]:
    """The settings files that it has its reader write."""
    here = re.findall(r"<<END\n(.*?)^END$", "\n".join(SHELL), re.MULTILINE | re.DOTALL)
    return [body for kind, body in BLOCKS if kind == "toml"] + here


@pytest.mark.parametrize("written", settings_in_it())
def test_each_settings_file_is_read_without_a_word(written: str, tmp_path: Path) -> None:
    file = tmp_path / "pbmserv.toml"
    file.write_text(re.sub(r"\$\([^)]*\)", "secret", written))
    assert load({}, file).warnings == ()


def test_an_older_version_refuses_a_newer_database_with_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    database = Database(migrated(tmp_path / "pbmserv.sqlite3"))
    with database.writing.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    database.close()
    before = (tmp_path / "pbmserv.sqlite3").read_bytes()
    for name, value in {"DATA_DIR": tmp_path, "SMTP": "127.0.0.1:0", "WEB": ""}.items():
        monkeypatch.setenv(f"PBMSERV_{name}", str(value))
    for place in ("stages.operators", "serve"):
        monkeypatch.setattr(f"pbmserv.{place}.log.configure", lambda *_, **__: None)
    for command in (["serve"], ["db", "check"], ["db", "upgrade"], ["user", "list"]):
        assert run(command) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith("pbmserv: the database is at revision 9999, but this version")
        assert said.err.endswith("install the newer version again\n")
        assert len(said.err.splitlines()) == 1
    assert (tmp_path / "pbmserv.sqlite3").read_bytes() == before
    assert "refuses the newer\ndatabase with one sentence" in README
