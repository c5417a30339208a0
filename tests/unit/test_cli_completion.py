"""Completions that a shell offers behind ``--subject``."""

from __future__ import annotations

from importlib.metadata import entry_points

from rows import rows

from pbmserv.cli.main import run
from pbmserv.cli.subjects import subjects
from pbmserv.commands.reading.mail import read_new_mail
from pbmserv.engine.registry import GROUP
from pbmserv.errors import Misread


def offered(typed: str) -> list[str]:
    return [subject for subject, _ in subjects(typed)]


@rows(
    ("typed", "subject"),
    [
        ("bl", ["blackbox"]),
        ("BL", ["blackbox"]),
        ("si", ["signup", "signoff"]),
        ("blackbox mo", ["blackbox move"]),
        ("blackbox  res", ["blackbox resign", "blackbox restart"]),
        ("blackbox rema", ["blackbox rematch"]),
        ("change p", ["change password"]),
        ("mov", []),  # a command of a game, offered after the name of one
        ("poker ", []),
        ("yes", []),
    ],
)
def test_a_typed_beginning_is_completed(typed, subject):
    assert sorted(offered(typed)) == sorted(subject)


def test_everything_that_is_offered_is_a_command():
    games = {key: key for key in entry_points(group=GROUP).names}
    for subject in [*offered(""), *offered("blackbox ")]:
        (line,) = read_new_mail(subject, "", games).lines
        unknown = {"unknown-command", "not-a-command", "unknown-game"}
        assert not (isinstance(line.meaning, Misread) and line.meaning.refusal.code in unknown)


def test_the_shell_gets_it(monkeypatch, capsys):
    monkeypatch.setenv("_PBMSERV_COMPLETE", "complete_zsh")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "pbmserv send --subject bla")
    assert run([]) == 0
    assert "blackbox" in capsys.readouterr().out
