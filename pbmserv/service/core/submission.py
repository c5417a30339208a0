"""The commands that an actor hands in, and the text that holds them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pbmserv.commands.grammar.readings import Reading
from pbmserv.commands.table.command_types import Credentials, ReplyMove
from pbmserv.service.core.actor import Actor

_NOTHING_READ = Reading(())


def _no_attachment(_: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Submission:
    """Text with commands. Its representation holds no words of it, which may be passwords.

    Attributes:
        reading: the commands, and the words for others.
        text: the new text of its writer, without quoted letters.
        subject: the subject of a mail.
        whole_text: the text with quoted letters.
        id: the Message-ID that an answer names; ``""`` if there is none.
        is_mail: its writer's mail program chose the Message-ID.
        answered: Message-IDs that its headers name as answered; anybody can write any.
        left_out: it holds more than `text`, which its writer may have meant.
        is_unread: the text could not be read; the only line is the refusal that says why.
        may_be_answered: a person wrote it, and no machine.
        can_wait: it can be carried out later as a whole, if its game cannot be played now.
        attachment: returns the text of the attached file that holds a mark, ``""`` if there is
            none.
    """

    reading: Reading = _NOTHING_READ
    text: str = field(default="", repr=False)
    subject: str = field(default="", repr=False)
    whole_text: str = field(default="", repr=False)
    id: str = ""
    is_mail: bool = False
    answered: tuple[str, ...] = ()
    left_out: bool = False
    is_unread: bool = False
    may_be_answered: bool = True
    can_wait: bool = False
    attachment: Callable[[str], str] = field(default=_no_attachment, repr=False)


NO_COMMANDS = Submission()


@dataclass(frozen=True, slots=True)
class Request:
    """Commands and the actor who gives them."""

    actor: Actor
    submission: Submission

    def with_passwords(self, passwords: frozenset[Credentials]) -> Request:
        """Return the request with the passwords that its commands may use."""
        return replace(self, actor=replace(self.actor, passwords=passwords))

    @property
    def has_only_moves(self) -> bool:
        """Whether it is a reply without any command, so that it holds no password either."""
        lines = self.submission.reading.lines
        return all(isinstance(line.meaning, ReplyMove) for line in lines)
