"""Reads the words behind a command, place by place, as its catalogue row says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pbmserv.commands.grammar import cursor
from pbmserv.commands.grammar.cursor import Cursor
from pbmserv.commands.grammar.words import (
    ADDRESS,
    BOARD,
    DAYS,
    MOST_ADDRESSES,
    MOST_DAYS,
    MOST_PLAYERS,
    MOST_RECIPIENTS,
    MOST_SHOWN,
    MOST_SUBJECTS,
    OFF,
    OPTION,
    SEATS,
    TIME,
    TIMES,
    USERID,
    VALUE,
    Word,
    board_ref,
    is_userid,
    quotable,
    time_meant,
)
from pbmserv.commands.table.catalogue import PAIRS, WHICH, unknown_game
from pbmserv.commands.table.model import BoardRef
from pbmserv.commands.table.row_types import Arguments, Kind, Row
from pbmserv.errors import Misread, OptionError


def players(at: Cursor) -> None:
    """Who shall play, with options and times in any order."""
    userids = _sitting(at)
    # A game's option may change the seats (a race can have one), so then the game decides.
    alone = len(userids) == 1 and at.named and at.arguments.password is None
    if at.arguments.addresses:
        if len(userids) > 2:
            raise at.refusal("invites-one", part=quotable(userids[2]), doubtful=True)
    elif alone and not at.arguments.options:
        raise at.refusal("one-player", part=userids[0])


def alone(at: Cursor) -> None:
    """The one who shall play, with options and times in any order. Further words may be options of
    the game, or a password."""
    _sitting(at)


def _invited(at: Cursor, text: str) -> str:
    """The address of somebody who is to be invited; the domain in lower case."""
    address = _address(text)
    if address is None:
        raise at.refusal("invite-address")
    if at.arguments.addresses:
        raise at.refusal("invites-one", part="", doubtful=True)
    return address


def _sitting(at: Cursor) -> list[str]:
    """Userids, options and times, in any order; in a challenge one mail address, too."""
    alone = at.row.parameters[-1].kind is Kind.ALONE
    is_named = alone and bool(at.arguments.userid)  # with a password, in front
    if (at.named or not alone) and not is_named:
        _ = at.next("missing-userid") if alone else at.next("missing-players")
    options: list[str] = []
    times: list[str] = []
    userids: list[str] = []
    _keep_seated(at)
    while at.more:
        text = at.words[at.at].text.rstrip(",;") or ","
        timed = TIME.fullmatch(text)
        if timed:
            times.append(_time(at, timed[1].lower(), timed[2]))
        elif text.startswith("--"):
            raise at.refusal(
                "unknown-time",
                part=text.partition("=")[0],
                kind=OptionError,
                known=", ".join(TIMES),
            )
        elif text.startswith("-") or "=" in text:
            options.append(_option(at, text))
        elif "@" in text and not alone:
            at.arguments.addresses = (_invited(at, text),)
        else:
            userids.append(_player(at, text.lower(), userids))
        at.at += 1
    if at.named and not (userids or is_named or at.arguments.addresses):
        raise at.refusal("missing-userid") if alone else at.refusal("missing-players")
    at.arguments.options, at.arguments.times = tuple(options), tuple(times)
    at.arguments.userids = tuple(userids)
    return userids


def _keep_seated(at: Cursor) -> None:
    """What of a challenge an example may repeat: players, options, and times that are right."""
    texts = [word.text.rstrip(",;").lower() for word in at.words]
    names = [text for text in dict.fromkeys(texts) if at.sender.is_player(text)]
    kind = at.row.parameters[-1].kind
    if kind is Kind.ALONE:
        names = names[:1] or [at.sender.userid]
    elif len(names) == 1:
        names = [*names, "FRIEND"] if names[0] == at.sender.userid else [at.sender.userid, *names]
    if not names or not all(names):
        return
    said = []
    for text, following in zip(texts, (*texts[1:], ""), strict=True):
        if text.startswith("--") or TIME.fullmatch(text):
            said.append(time_meant(text if "=" in text else f"{text}={following}"))
        elif text.startswith("-") and OPTION.fullmatch(text):
            said.append(text)
    at.keep(kind, " ".join((*names[:MOST_PLAYERS], *dict.fromkeys(filter(None, said)))))


def seats(at: Cursor) -> None:
    """How many seats, and options; or ``off``."""
    if at.more and len(at.words) == at.at + 1 and at.words[at.at].plain in OFF:
        at.arguments.off = True
        at.at += 1
        return
    options: list[str] = []
    while at.more:
        text = at.words[at.at].text.rstrip(",;") or ","
        if SEATS.fullmatch(text) and at.arguments.seats is None:
            at.arguments.seats = int(text)
        elif text.startswith("-") or "=" in text:
            options.append(_option(at, text))
        else:
            raise at.refusal("bad-seats", part=quotable(text), most=MOST_PLAYERS)
        at.at += 1
    at.arguments.options = tuple(options)


def _player(at: Cursor, text: str, before: list[str]) -> str:
    if not USERID.fullmatch(text):
        raise at.bad_userid(text)
    if text in before:
        raise at.refusal("repeated-userid", part=text)
    if len(before) == MOST_PLAYERS:
        raise at.refusal("too-many-players", most=MOST_PLAYERS)
    return text


def _time(at: Cursor, name: str, value: str | None) -> str:
    if value is None and at.at + 1 < len(at.words):
        at.at += 1
        value = at.words[at.at].text
    days = DAYS.fullmatch(value or "")
    if days is None and value and value.isdigit():
        raise at.refusal("time-long", part=f"--{name}", kind=OptionError, most=MOST_DAYS)
    if days is None:
        raise at.refusal(
            "bad-time", part=f"--{name}={quotable(value or '')}", kind=OptionError, name=name
        )
    return f"--{name}={days[1]}"


def _option(at: Cursor, text: str) -> str:
    found = OPTION.fullmatch(text)
    if found is None:
        raise at.refusal("bad-option", part=quotable(text), kind=OptionError)
    name, value = found[1].lower(), found[2]
    if value is None and at.at + 1 < len(at.words):
        following = at.words[at.at + 1].text
        if VALUE.fullmatch(following):
            at.at += 1
            value = following
    return f"-{name}" if value is None else f"-{name}={value}"


def _keep_recipient(at: Cursor) -> None:
    """Whom a message is for may stand where its writer belongs: "message bob hello"."""
    named, writer = at.right.get(Kind.USERID), at.sender.userid
    if named and writer and named != writer:
        at.keep(Kind.USERID, writer)
        at.keep(Kind.RECIPIENTS, named)


def recipients(at: Cursor) -> None:
    """Userids of those to write to."""
    if not at.more:
        _keep_recipient(at)
    at.next("missing-recipient")
    found: dict[str, None] = {}
    for text in at.rest():
        if not USERID.fullmatch(text):
            raise at.bad_userid(text)
        found[text] = None
    if len(found) > MOST_RECIPIENTS:
        raise at.refusal("too-many-recipients", most=MOST_RECIPIENTS)
    at.arguments.userids = tuple(found)


def shown(at: Cursor) -> None:
    """Boards; or userids, and which of their boards."""
    if at.named:
        at.next("missing-shown")
    boards: dict[BoardRef, None] = {}
    userids: dict[str, None] = {}
    for text in at.rest():
        board = BOARD.fullmatch(text)
        if board:
            boards[board_ref(board)] = None
        elif text in WHICH:
            at.arguments.which = text
        elif USERID.fullmatch(text):
            userids[text] = None
        else:
            raise at.refusal("bad-shown", part=quotable(text), place=at.at + 1, doubtful=True)
    if boards:
        at.keep(Kind.SHOWN, " ".join(f"{ref.board}" for ref in list(boards)[:MOST_SHOWN]))
    if boards and userids:
        # `show 12 alice password` is how a player's own view is often asked for.
        raise at.refusal("boards-and-userids", doubtful=True)
    if at.named and not boards and not userids:
        raise at.refusal("missing-shown")
    if max(len(boards), len(userids)) > MOST_SHOWN:
        raise at.refusal("too-many-shown", most=MOST_SHOWN)
    at.arguments.boards, at.arguments.userids = tuple(boards), tuple(userids)


def watched(at: Cursor) -> None:
    """Userids, or nobody, and which of their boards."""
    userids: dict[str, None] = {}
    for text in at.rest():
        if text in WHICH:
            at.arguments.which = text
        elif USERID.fullmatch(text):
            userids[text] = None
        else:
            raise at.bad_userid(text)
    if len(userids) > MOST_SHOWN:
        raise at.refusal("too-many-shown", most=MOST_SHOWN)
    at.arguments.userids = tuple(userids)


def people(at: Cursor) -> None:
    """Userids, or nobody."""
    found: dict[str, None] = {}
    for text in at.rest():
        if not USERID.fullmatch(text):
            raise at.bad_userid(text)
        found[text] = None
    if len(found) > MOST_SHOWN:
        raise at.refusal("too-many-shown", most=MOST_SHOWN)
    at.arguments.userids = tuple(found)


def boards(at: Cursor) -> None:
    """Boards, or which of one's own."""
    found: dict[BoardRef, None] = {}
    for text in at.rest():
        board = BOARD.fullmatch(text)
        if board:
            found[board_ref(board)] = None
        elif text in WHICH:
            at.arguments.which = text
        else:
            raise at.refusal("bad-board", part=quotable(text))
    if len(found) > MOST_SHOWN:
        raise at.refusal("too-many-shown", most=MOST_SHOWN)
    at.arguments.boards = tuple(found)


def addresses(at: Cursor) -> None:
    """Mail addresses, as people write them; the domain in lower case."""
    found: dict[str, None] = {}
    place = 0
    while at.more:
        place += 1
        address = _address(at.words[at.at].text)
        if address is None:
            raise at.refusal("bad-address", place=place)
        found[address] = None
        at.at += 1
    if len(found) > MOST_ADDRESSES:
        raise at.refusal("too-many-addresses", most=MOST_ADDRESSES)
    at.arguments.addresses = tuple(found)


def _address(text: str) -> str | None:
    """A mail address as people write it, the domain in lower case; ``None``: it is none."""
    text = text.rstrip(",;").removeprefix("mailto:")
    text = text.removeprefix("<").removesuffix(">").removeprefix("mailto:")
    local, _, domain = text.rpartition("@")
    return f"{local}@{domain.lower()}" if ADDRESS.fullmatch(text) else None


def new_addresses(at: Cursor) -> None:
    """Mail addresses, one at least."""
    at.next("missing-address")
    addresses(at)


def subjects(at: Cursor) -> None:
    """What help is wanted on; names of two words are put together."""
    found: list[str] = []
    for text in at.rest():
        if found and f"{found[-1]} {text}" in PAIRS:
            found[-1] = f"{found[-1]} {text}"
        else:
            found.append(text)
    if len(found) > 1 and found[0] in at.games:  # "blackbox move", "blackbox rules"
        found = found[:1] if found[1] == "rules" else found[1:]
    at.arguments.subjects = tuple(found[:MOST_SUBJECTS])


def games(at: Cursor) -> None:
    """Games that this server has."""
    for name in at.rest():
        if name not in at.games:
            rest = range(at.at, len(at.words))
            at.hidden = [place for place in rest if not quotable(at.words[place].text)]
            raise _unknown(at, name, at.at + 1)
        at.arguments.subjects = (*at.arguments.subjects, name)


def _unknown(at: Cursor, name: str, place: int) -> Misread:
    return unknown_game(quotable(name), name, at.games, example="list", place=place)


_READERS: Mapping[Kind, Callable[[Cursor], None]] = {
    Kind.BOARD: cursor.board,
    Kind.USERID: cursor.userid,
    Kind.NEW_USERID: cursor.new_userid,
    Kind.PASSWORD: cursor.password,
    Kind.NEW_PASSWORD: cursor.new_password,
    Kind.MOVE: cursor.move,
    Kind.PLAN: cursor.plan,
    Kind.DATE: cursor.date,
    Kind.SETTINGS: cursor.settings,
    Kind.SEATS: seats,
    Kind.PLAYERS: players,
    Kind.ALONE: alone,
    Kind.RECIPIENTS: recipients,
    Kind.SHOWN: shown,
    Kind.WATCHED: watched,
    Kind.BOARDS: boards,
    Kind.PEOPLE: people,
    Kind.ADDRESSES: addresses,
    Kind.NEW_ADDRESSES: new_addresses,
    Kind.GAMES: games,
    Kind.SUBJECTS: subjects,
}


def read_places(at: Cursor) -> Arguments:
    """All arguments of a command.

    Raises:
        Misread: naming what is missing, wrong or too much.
    """
    row, most, found = at.row, at.row.max_words, len(at.words)
    if found > most:
        for parameter in row.parameters[:2]:
            if parameter.kind in {Kind.BOARD, Kind.USERID}:
                _READERS[parameter.kind](at)
        at.at = most
        raise at.refusal("too-many-words", expected=most, found=found)
    for parameter in row.parameters:
        _READERS[parameter.kind](at)
    return at.arguments


def in_order(row: Row, words: Sequence[Word]) -> Sequence[Word]:
    """The words with the board in front, where userid and board have changed places.

    Only when nothing is missing: else what looks like the board may be the password.
    """
    kinds = [parameter.kind for parameter in row.parameters[:2]]
    if kinds != [Kind.BOARD, Kind.USERID] or len(words) < row.min_words:
        return words
    first, second = words[0].text, words[1].text
    swapped = BOARD.fullmatch(second) and is_userid(first) and not BOARD.fullmatch(first)
    return [words[1], words[0], *words[2:]] if swapped else words
