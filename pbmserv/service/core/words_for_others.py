"""The guard through which all words of a player for others pass.

Letters take only `Said` as a player's words, and only this module makes it. The answer tells the
writer which passages were withheld, and why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

from pbmserv.commands.grammar.readings import Line, NotTried
from pbmserv.commands.grammar.word_forms import LONGEST_PASSWORD, SHORTEST_PASSWORD
from pbmserv.commands.grammar.words import fold
from pbmserv.commands.reading.lines_below import LONGEST_WORDS, LinesBelow
from pbmserv.commands.table.accounts import ChangePassword
from pbmserv.commands.table.starting import Challenge
from pbmserv.errors import Refused
from pbmserv.mail.own_tokens import lines_with_tokens
from pbmserv.service.core.command_state import Speaker
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.quotable_letters import quotable_letters
from pbmserv.service.core.said import UNSAID, Passed, Said
from pbmserv.service.core.signed_words import names_of_writer, without_signature

MOST_JOINED = 4
"""Words in a row that are compared as one password with blanks."""

ECHO_OF_WORDS = "(your words)"
"""The echo of withheld words in an answer, which does not repeat them."""

_PUNCTUATION = ".,:;!?()[]{}<>\"'`*_~|/\\=+-"
_CELLS = re.compile(r"\b(?:([a-z]{1,2})[ -]?([0-9]{1,2})|([0-9]{1,2})[ -]?([a-z]{1,2}))\b")
_SEPARATORS = re.compile(r"[\s=:/,;|()\[\]{}<>\"']+")


def words_for_others(context: CommandContext) -> Said:
    """Return the words in the present command, or below the commands, that others may read.

    The handler must have found the speaker.
    """
    written = context.current.line_words
    if written is None:
        written = context.submission.reading.words
    return pass_on(context, written) if written else UNSAID


def no_words(context: CommandContext, command: str) -> Refused:
    """Return the refusal of a command that needs words for others; it says whether words are
    missing or were withheld."""
    return Refused("no-words", part=command, withheld=bool(context.current.left_out))


def required_words(context: CommandContext, command: str) -> Said:
    """Return the words of a command that needs some, see `words_for_others`.

    Raises:
        Refused: there are none, or none that may be passed on.
    """
    words = words_for_others(context)
    if not words:
        raise no_words(context, command)
    return words


def pass_on(context: CommandContext, written: str) -> Said:
    """Return the words of the present speaker that others may read.

    The withheld passages are noted in `CurrentCommand.left_out`, for the answer.
    """
    if not written.strip():
        return UNSAID
    writer = context.current.speaker
    assert writer is not None
    names = names_of_writer(writer.userid, context.actor.address)
    written = without_signature(written, names)
    if not written:
        return UNSAID
    key = (writer.player_id, written)
    passed = context.checked_words.passed.get(key)
    if passed is None:
        passed = context.checked_words.passed[key] = _checked(context, writer, written)
    context.current.left_out.update(dict.fromkeys(passed.left_out))
    return passed.said


def without_hidden_cells(context: CommandContext, said: Said, own: str, shown: str) -> Said:
    """Return words without the lines that name a cell which the move above them hides.

    People write to the server what the opponent must not read: "I hope he never looks at d4".

    Args:
        own: the text of the move as its player reads it.
        shown: the text as others read it.
    """
    hidden = cells_in(own) - cells_in(shown)
    lines = said.split("\n")
    kept = [line for line in lines if hidden.isdisjoint(cells_in(line))]
    if len(kept) == len(lines):
        return said
    context.current.left_out[Line(ECHO_OF_WORDS, NotTried("hidden"))] = None
    return Said("\n".join(kept).strip())


def cells_in(text: str) -> set[str]:
    """Return the names of cells in a text, with the letter in front."""
    return {(a or d) + (b or c) for a, b, c, d in _CELLS.findall(text.casefold())}


def _checked(context: CommandContext, writer: Speaker, written: str) -> Passed:
    if not context.is_proven(writer.player_id, writer.userid):  # such as in a challenge
        unproven = NotTried("unproven", example=_challenge_with_password(context, writer))
        return Passed(UNSAID, (Line(ECHO_OF_WORDS, unproven),))
    below = LinesBelow(written.split("\n"), 0, context.services.registry.titles)
    left_out = [*below.not_tried()]
    text = below.words()
    if _holds_password(context, writer, text):
        return Passed(UNSAID, (*left_out, Line(ECHO_OF_WORDS, NotTried("password"))))
    kept = text.split("\n")
    for why, places in (
        ("quoted", _quoted),
        ("link", partial(_with_tokens, context)),
        ("some-password", partial(_with_secrets, context)),
        ("letter", partial(_of_letters, context, writer)),
    ):
        withheld = places(kept)
        if withheld:
            left_out.append(Line(ECHO_OF_WORDS, NotTried(why)))
            kept = [line for at, line in enumerate(kept) if at not in withheld]
    return Passed(Said("\n".join(kept).strip()[:LONGEST_WORDS].rstrip()), tuple(left_out))


def _challenge_with_password(context: CommandContext, writer: Speaker) -> str:
    """Return the challenge of this mail with userid and password; ``""`` if it has none."""
    challenge = next(
        (
            line.meaning
            for line in context.submission.reading.lines
            if isinstance(line.meaning, Challenge)
        ),
        None,
    )
    if challenge is None:
        return ""
    others = [userid for userid in challenge.userids if userid != writer.userid]
    rest = (*others, *challenge.options, *challenge.times)
    return " ".join((challenge.game, "challenge", writer.userid, "PASSWORD", *rest))


def _quoted(lines: Sequence[str]) -> set[int]:
    """Return the places of lines that begin with ``>``."""
    return {at for at, line in enumerate(lines) if line.lstrip().startswith(">")}


def _with_tokens(context: CommandContext, lines: Sequence[str]) -> set[int]:
    """Return the places of lines with a token of this server, which opens a seat or an account."""
    services = context.services
    return lines_with_tokens(services.mail_domain.ring, lines, services.secrets())


def _with_secrets(context: CommandContext, lines: Sequence[str]) -> set[int]:
    """Return the places of lines with a password that the same mail uses, right or wrong."""
    secrets = _typed_passwords(context)
    return {
        at
        for at, line in enumerate(lines)
        if any(secret in line or secret in fold(line) for secret in secrets)
    }


def _typed_passwords(context: CommandContext) -> set[str]:
    """Return the passwords in the commands of the mail."""
    lines = list(_readings(context))
    used = {line.credentials.password.text for line in lines if line.credentials is not None}
    used -= {"-", ""}
    new = {line.meaning.new.text for line in lines if isinstance(line.meaning, ChangePassword)}
    return used | new


def _readings(context: CommandContext) -> Iterator[Line]:
    """Yield the lines of the mail, in each way in which they can be read."""
    for line in context.submission.reading.lines:
        yield line
        other = line.with_proof() if line.with_proof is not None else None
        if other is not None and other.credentials in context.actor.passwords:
            yield other


def _holds_password(context: CommandContext, writer: Speaker, text: str) -> bool:
    """Return whether some words in a row are known to be the writer's password.

    Then all words are withheld. If only the line were, the thief of a reply address could write
    five hundred guesses to an accomplice, who would see which of them is missing.
    """
    memo = context.services.memo
    # A password in a command of this mail is known to the writer anyway.
    candidates = _possible_passwords(text) - _typed_passwords(context)
    return any(memo.was_right_recently(writer.userid, candidate) for candidate in candidates)


def _possible_passwords(text: str) -> set[str]:
    """Return words, and up to `MOST_JOINED` in a row, with and without punctuation around them."""
    words = fold(text.replace("\n", " ")).split()
    runs = (
        " ".join(words[at : at + length])
        for length in range(1, MOST_JOINED + 1)
        for at in range(len(words) - length + 1)
    )
    candidates = chain.from_iterable(map(_stripped, chain(runs, _SEPARATORS.split(fold(text)))))
    return {word for word in candidates if SHORTEST_PASSWORD <= len(word) <= LONGEST_PASSWORD}


def _stripped(run: str) -> Iterator[str]:
    """Yield words as they are, and without punctuation in front, behind, or both."""
    yield run
    yield run.strip(_PUNCTUATION)
    yield run.rstrip(_PUNCTUATION)
    yield run.lstrip(_PUNCTUATION)


def _of_letters(context: CommandContext, writer: Speaker, lines: Sequence[str]) -> set[int]:
    """Return the places of lines that quote letters to their writer."""
    if not any(map(str.strip, lines)):
        return set()
    return quotable_letters(context, writer.player_id).quoted_places(lines)
