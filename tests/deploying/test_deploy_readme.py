"""Follow deploy/README.md and docs/operating word by word: each command, setting and link works."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from indoors import indoors
from migrated import migrated
from rows import rows
from sqlalchemy import text
from typer.main import get_command

from pbmserv.cli.main import app, run
from pbmserv.config.settings import load
from pbmserv.store.core.database import Database

ROOT = Path(__file__).resolve().parents[2]
OPERATING = ROOT / "docs" / "operating"
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_COPY = re.compile(r"/var/backups/pbmserv/\S+(?: \+%F\))?")
"""Path at which the pages keep a copy of the database."""


@dataclass(frozen=True)
class Block:
    """A block of code in a page; ``kind`` is the word behind its fence, "" for shell commands."""

    page: str
    kind: str
    body: str


@dataclass(frozen=True)
class Page:
    """A page for operators."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        return str(self.path.relative_to(ROOT))

    @property
    def prose(self) -> str:
        return _BLOCK.sub("", self.text)

    def blocks(self) -> list[Block]:
        return [
            Block(self.name, kind, re.sub(rf"^{indent}", "", body, flags=re.MULTILINE))
            for indent, kind, body in _BLOCK.findall(self.text)
        ]


PAGES = [
    Page(path, path.read_text())
    for path in (ROOT / "deploy" / "README.md", *sorted(OPERATING.glob("*.md")))
]
BLOCKS = [block for page in PAGES for block in page.blocks()]
SHELL = [block for block in BLOCKS if not block.kind]


def commands_in_blocks() -> set[str]:
    """Return the arguments of all pbmserv commands in shell blocks."""
    return {
        _COPY.sub("COPY", line).partition(" ")[2]
        for block in SHELL
        for line in block.body.splitlines()
        if line.startswith(("pbm ", "/opt/pbmserv/bin/pbmserv "))
    }


def commands_in_prose() -> set[str]:
    """Return the pbmserv commands between backquotes, such as ``outbox list | show N``."""
    commands = {
        " ".join(command.split())
        for page in PAGES
        for command in re.findall(
            r"`(?:PBMSERV_\S+ )?(?:pbm|pbmserv|/opt/pbmserv/bin/pbmserv) ([^`]+)`", page.prose
        )
    }
    assert len(commands) > 15
    return commands


def is_command(path: list[str]) -> bool:
    """Return whether the words are a command or a group of commands."""
    command = get_command(app)
    for word in path:
        subcommands = getattr(command, "commands", {})
        if word not in subcommands:
            return False
        command = subcommands[word]
    return True


@pytest.mark.parametrize("line", sorted(commands_in_blocks()))
def test_each_command_in_a_block_works(
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PBMSERV_DATABASE", migrated(tmp_path / "pbmserv.sqlite3"))
    copy, arguments = str(tmp_path / "copy"), shlex.split(line)
    if "restore" in arguments:
        assert run(["db", "backup", copy]) == 0
        if "--overwrite" not in arguments:  # it is put into a new database
            monkeypatch.setenv("PBMSERV_DATABASE", request.getfixturevalue("empty_postgres_url"))
    news = tmp_path / "move.txt"
    news.write_text("We move\n\nOn Sunday.\n")
    words = {
        "COPY": copy,
        "/var/lib/pbmserv/s2026.pem": str(tmp_path / "s2026.pem"),
        "/tmp/move.txt": str(news),
    }
    assert run([words.get(word, word) for word in arguments]) == 0


def test_the_steps_from_sqlite_to_postgresql_move_the_players(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    empty_postgres_url: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sqlite_url = migrated(tmp_path / "pbmserv.sqlite3")
    with indoors(tmp_path, database=sqlite_url) as server:
        server.sign_up("alice")
    _, _, after = (
        (OPERATING / "postgresql.md").read_text().partition("## From SQLite to PostgreSQL\n")
    )
    steps, _, _ = after.partition("\n## ")
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PBMSERV_DATABASE", sqlite_url)
    commands: list[list[str]] = []
    for _, kind, body in _BLOCK.findall(steps):
        if kind == "toml":
            assert 'database = "postgresql' in body
            monkeypatch.setenv("PBMSERV_DATABASE", empty_postgres_url)
        for line in _COPY.sub(str(tmp_path / "copy"), body).splitlines():
            if line.strip().startswith("pbm "):
                commands.append(shlex.split(line)[1:])
                assert run(commands[-1]) == 0, commands
    assert [" ".join(words[:2]) for words in commands] == [
        "db backup",
        "db restore",
        "db check",
        "user list",
    ]
    assert "alice" in capsys.readouterr().out.splitlines()[-1]


@rows("words", sorted(commands_in_prose()))
def test_each_command_in_the_prose_exists(words: str) -> None:
    """In ``user | board | game`` each alternative exists, and so does each option."""
    first, *others = (part.split() for part in words.split("|"))
    path = [word for word in first if re.fullmatch(r"[a-z-]+", word) and word[0] != "-"][:2]
    while path and not is_command(path):
        path.pop()  # an argument, such as a player's name
    if not path:
        assert first[0].startswith("--"), words
        return
    for other in others:
        assert is_command([*path[:-1], other[0]]), words
    command = get_command(app)
    for word in path:
        command = getattr(command, "commands", {})[word]
    options = {name for parameter in command.params for name in parameter.opts}
    assert set(re.findall(r"(?<!\S)--[a-z-]+", words)) <= options | {"--config", "--why"}


@rows("block", SHELL, ids=lambda block: block.page)
def test_a_shell_parses_each_block(block: Block) -> None:
    shell = subprocess.run(
        ["bash", "-n"], input=block.body, text=True, capture_output=True, check=False
    )
    assert (shell.returncode, shell.stderr) == (0, "")


@rows("page", PAGES, ids=lambda page: page.name)
def test_each_file_that_a_page_names_exists(page: Page) -> None:
    names = set(re.findall(r"(?<![\w/.])deploy/[\w./@-]*\w", page.text))
    assert [name for name in sorted(names) if not (ROOT / name).exists()] == []


def test_the_pages_name_the_files_of_deploy() -> None:
    text = "\n".join(page.text for page in PAGES)
    for folder in (ROOT / "deploy").iterdir():
        assert f"deploy/{folder.name}" in text, folder.name


def test_the_index_names_each_page() -> None:
    index = (OPERATING / "README.md").read_text()
    for page in OPERATING.glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index, page.name


def settings_files() -> list[Block]:
    """Return the settings files that a reader of the pages writes."""
    here_documents = [
        Block(block.page, "toml", body)
        for block in SHELL
        for body in re.findall(r"<<END\n(.*?)^END$", block.body, re.MULTILINE | re.DOTALL)
    ]
    return [block for block in BLOCKS if block.kind == "toml"] + here_documents


@pytest.mark.parametrize("block", settings_files(), ids=lambda block: block.page)
def test_each_settings_file_is_understood(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "pbmserv.toml"
    file.write_text(re.sub(r"\$\([^)]*\)", "secret", block.body))
    assert load({}, file).warnings == ()


def test_each_setting_has_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    """`settings.md` names every setting; those for rates are one group."""
    assert run(["config", "--json"]) == 0
    names = set(json.loads(capsys.readouterr().out))
    assert len(names) > 30
    text = (OPERATING / "settings.md").read_text()
    missing = {name for name in names if not re.search(rf"`{name}[` ]", text)}
    assert {name for name in missing if not name.startswith("rate_")} == set()


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
    for place in ("stages.operator_orders", "stages.operator_queries", "serve"):
        monkeypatch.setattr(f"pbmserv.{place}.log.configure", lambda *_, **__: None)
    for command in (["serve"], ["db", "check"], ["db", "upgrade"], ["user", "list"]):
        assert run(command) == 2
        output = capsys.readouterr()
        assert output.out == ""
        assert output.err.startswith("pbmserv: the database is at revision 9999, but this version")
        assert output.err.endswith("install the newer version again\n")
        assert len(output.err.splitlines()) == 1
    assert (tmp_path / "pbmserv.sqlite3").read_bytes() == before
    assert "refuses the newer\ndatabase with one sentence" in (OPERATING / "upgrade.md").read_text()
