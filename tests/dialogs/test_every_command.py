"""Every command has help, an example, a dialog, and a dialog in which it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from inspect import signature
from pathlib import Path
from typing import get_type_hints

from dialog_reader import Arrival, Dialog, Written, read_dialog
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.commands.grammar.command_names import find_command
from pbmserv.commands.grammar.words import words_of
from pbmserv.commands.help_topics import topic
from pbmserv.commands.reading.board_lines import Answered, read_reply_to
from pbmserv.commands.reading.mail import read_new_mail
from pbmserv.commands.table.catalogue import IN_REPLY, ROWS
from pbmserv.commands.table.command_types import ReplyMove, Yes
from pbmserv.commands.table.looking import Help
from pbmserv.commands.table.row_types import Kind, Row
from pbmserv.errors import PlayerError
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer
from pbmserv.service.handlers import HANDLERS
from pbmserv.views.environment import environment

GAMES = {"blackbox": "Blackbox"}
NEVER_REFUSED = {"help"}
"""Commands that are always answered; see the last test."""
OFFERED = [row for row in ROWS if row.command is not None]


@cache
def commands_in_dialogs() -> tuple[tuple[str, bool], ...]:
    """Return the commands in all dialogs, each with whether it was refused."""
    folder = Path(__file__).parent
    dialogs = (read_dialog(path) for path in sorted(folder.glob("*.dialog")))
    return tuple(command for dialog in dialogs for command in _of(dialog))


def _of(dialog: Dialog) -> Iterator[tuple[str, bool]]:
    row: Row | None = None
    who = ""
    for step in dialog.steps:
        if isinstance(step, Written):
            row, who = _row(step), step.who
        elif isinstance(step, Arrival) and row is not None and step.who == who:
            yield row.name, any(letter.text.startswith("Not done") for letter in step.expected)
            row = None
        elif isinstance(step, Arrival) and row is not None:
            yield row.name, False


def _row(step: Written) -> Row | None:
    """Return the first command of a mail."""
    subject = dict(step.headers).get("Subject", "")
    lines = [line for line in (subject, *step.body.split("\n")) if line.strip()]
    if subject.lower() in {"multiple", "mult"}:
        lines = lines[1:]
    if not lines:
        return None
    words = words_of(lines[0])
    if step.answers is not None:
        name = " ".join(word.text.lower().strip(".,!") for word in words[:1])
        if name in IN_REPLY:
            return IN_REPLY[name]
    head = find_command(words, GAMES)
    return head.row if head is not None else None


PROVES_NOTHING = frozenset(
    {
        "help",
        "list",
        "events",
        "teams",
        "games",
        "standings",
        "ratings",
        "scores",
        "week",
        "history",
        "forgot",
    }
)
"""Commands that answer every sender in the same way."""


def test_a_password_is_taken_wherever_it_can_prove_something() -> None:
    secrets = {Kind.PASSWORD, Kind.NEW_PASSWORD}
    for row in OFFERED:
        kinds = {parameter.kind for parameter in (*row.parameters, *row.proof)}
        if row.in_line and row.name not in PROVES_NOTHING:
            assert kinds & secrets, row.name


@rows("row", OFFERED, ids=[f"{row.name}-{row.page}" for row in OFFERED])
def test_a_command_is_told_in_full(row: Row) -> None:
    page = topic(row.name, GAMES)
    text = environment().get_template(page.template).render(page.values)
    if page.values["row"] is row:
        assert row.summary[1:] in text, f"no help on {row.name}"
    else:  # a word that is short for several commands has one page for all, with each form
        assert f"\n  {row.name} " in text, f"no help on {row.name}"
    assert len(text.splitlines()) > 4, f"no help on {row.name}"
    if row.in_line:
        (line,) = read_new_mail(row.example, row.example, GAMES).lines
    else:
        (line,) = read_reply_to(Answered.QUESTION, row.example, GAMES).lines
    assert not isinstance(line.meaning, PlayerError), f"the example of {row.name}"

    done = {name for name, refused in commands_in_dialogs() if not refused}
    refused = {name for name, refused in commands_in_dialogs() if refused}
    assert row.name in done, f"no dialog in which {row.name} is done"
    assert row.name in refused | NEVER_REFUSED, f"no dialog in which {row.name} is refused"


@rows("row", OFFERED, ids=[f"{row.name}-{row.page}" for row in OFFERED])
def test_a_command_has_a_handler_that_takes_it(row: Row) -> None:
    if row.command is Yes:  # what it does depends on the letter that it answers
        return
    handler = HANDLERS[row.command]
    context, command = signature(handler).parameters
    takes = get_type_hints(handler)
    assert takes[context] is CommandContext
    assert takes[command] is row.command
    assert takes["return"] is Answer


def test_a_handler_belongs_to_a_command_of_the_table_or_to_a_move_in_a_reply() -> None:
    assert set(HANDLERS) == {row.command for row in OFFERED if row.command is not Yes} | {ReplyMove}


@given(st.lists(st.one_of(st.text(max_size=20), st.sampled_from(['"', "'", "#1", "-x"]))))
def test_help_is_never_refused(words: list[str]) -> None:
    line = " ".join(["help", *words]).splitlines()[0]
    (line_read,) = read_new_mail(line, "", GAMES).lines
    assert isinstance(line_read.meaning, Help)
    pages = [topic(subject, GAMES) for subject in line_read.meaning.subjects]
    for page in (*pages, topic(" ".join(line_read.meaning.subjects), GAMES)):
        values = {"house": "pbmserv@games.example", "info": None, **page.values}
        assert environment().get_template(page.template).render(values).strip()
