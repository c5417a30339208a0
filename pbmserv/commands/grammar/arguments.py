"""Reads the arguments of a command, one parameter of its row after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pbmserv.commands.grammar.cursor import Cursor
from pbmserv.commands.grammar.dates import first_and_last_day
from pbmserv.commands.grammar.examples import unknown_game
from pbmserv.commands.grammar.game_names import game_in_front, with_keys
from pbmserv.commands.grammar.word_forms import (
    ADDRESS,
    BANK,
    BOARD,
    DAYS,
    LONGEST_PASSWORD,
    MOST_DAYS,
    OFF,
    OPTION,
    SETTING,
    SHORTEST_PASSWORD,
    TIME,
    TIMES,
    USERID,
    bank_meant,
    is_number,
    is_userid,
    looks_like_a_move,
    quotable,
    setting_name,
    time_meant,
)
from pbmserv.commands.grammar.words import Word
from pbmserv.commands.table.catalogue import PAIRS, WHICH
from pbmserv.commands.table.command_types import BoardRef, Secret
from pbmserv.commands.table.row_types import Arguments, Kind, Row
from pbmserv.errors import Misread, OptionError

_MOST_ADDRESSES = 5
_MOST_RECIPIENTS = 8
_MOST_PLAYERS = 8
_MOST_SHOWN = 20
_MOST_SUBJECTS = 5
_MOST_WORDS = 30
_MOST_SETTINGS = 20

_NUMBER = re.compile(r"#\s*(\d{1,6})\s*\Z", re.ASCII)
_VALUE = re.compile(r"\d+(?:[x*-]\d+)*", re.IGNORECASE | re.ASCII)
_SEATS = re.compile(r"[1-8]")

UNTIL = frozenset({"until", "till", "til"})
_IN_FRONT_OF_DATES = UNTIL | {"from"}
"""Words in front of a date, which are not a userid or password."""

EVENT_VERBS = frozenset(
    {"join", "leave", "create", "invite", "letters", "cancel", "enter", "withdraw", "show"}
    | {"order", "captain", "remove"}
)
"""First words after the name of a command about events or teams."""


def _read_board(cursor: Cursor) -> None:
    """Read the number of a board, ``12``, ``#12`` or ``12#7``."""
    text = cursor.peek("missing-board")
    reference = BOARD.fullmatch(text)
    if reference is None or int(reference[1]) == 0:
        if cursor.is_short:
            raise cursor.refusal("missing-board")
        raise cursor.refusal("bad-board", part=quotable(text))
    cursor.arguments.board = int(reference[1])
    cursor.arguments.number = int(reference[2]) if reference[2] else None
    cursor.accept(Kind.BOARD, reference[1])


_VALUES = frozenset({"daily", "text", "html", "spoken", "tiny", "auto", "none", "played"})
"""Values of preferences that may be repeated although they are as long as a password."""


def _read_userid(cursor: Cursor) -> None:
    """Read the userid of the writer."""
    text = cursor.peek("missing-userid").lower().rstrip(",;")
    last = cursor.row.parameters[-1].kind
    if text in _IN_FRONT_OF_DATES and last is Kind.DATE:
        raise cursor.refusal("missing-userid")
    if last is Kind.WORDS and text in EVENT_VERBS and not cursor.sender.is_player(text):
        cursor.keep(last, f"{text} ...")
        raise cursor.refusal("userid-first")
    if not USERID.fullmatch(text) or text.startswith("-"):
        value = text.partition("=")[2]
        if setting_name(text) and (value in _VALUES or quotable(value)):
            cursor.keep(Kind.SETTINGS, text)
        if cursor.is_short:
            raise cursor.refusal("missing-userid")
        raise cursor.bad_userid(text)
    cursor.arguments.userid = text
    cursor.accept(Kind.USERID, text)


def _read_new_userid(cursor: Cursor) -> None:
    """Read the userid of a new player."""
    text = cursor.peek("missing-userid").lower().rstrip(",;")  # "signup alice, wonderland"
    if cursor.is_short:
        raise cursor.refusal("missing-password")
    if not USERID.fullmatch(text):
        raise cursor.bad_userid(text)
    if text.startswith("-"):
        raise cursor.refusal("dash-userid", part=quotable(text))
    cursor.arguments.userid = text
    cursor.accept(Kind.NEW_USERID, text)


def _read_password(cursor: Cursor) -> None:
    """Read the password. Refuse a word that belongs in another place, since then it is missing."""
    text = cursor.peek("missing-password")
    last = cursor.row.parameters[-1]
    if last.rest and text != "-":
        is_last = cursor.index + 1 == len(cursor.words)
        if len(text) < SHORTEST_PASSWORD or (is_last and looks_like_a_move(text)):
            raise cursor.refusal("no-password", board=cursor.arguments.board or 0)
    elif (last.kind is Kind.SETTINGS and setting_name(text)) or (
        last.kind is Kind.DATE and text.lower() in _IN_FRONT_OF_DATES
    ):
        raise cursor.refusal("missing-password")
    elif last.kind is Kind.WORDS and _begins_with_verb(cursor.words[cursor.index :]):
        cursor.keep(last.kind, f"{text.lower()} ...")
        raise cursor.refusal("missing-password")
    cursor.arguments.password = Secret(text)
    cursor.index += 1


def _begins_with_verb(words: Sequence[Word]) -> bool:
    """Return whether the first word, in the password's place, says what to do instead: another verb
    does not follow it."""
    first, *others = (word.text.lower() for word in words[:2])
    return first in EVENT_VERBS and bool(others) and others[0] not in EVENT_VERBS


def _read_new_password(cursor: Cursor) -> None:
    """Read a new password."""
    text = cursor.peek("missing-new-password")
    if ADDRESS.fullmatch(text):  # then the word in the userid's place may be the password
        raise cursor.refusal("address-password")
    if text == "-":
        raise cursor.refusal("dash-password")
    if len(text) < SHORTEST_PASSWORD:
        more_follow = cursor.index + 1 < len(cursor.words)
        raise cursor.refusal("short-password", shortest=SHORTEST_PASSWORD, several=more_follow)
    if len(text) > LONGEST_PASSWORD:
        raise cursor.refusal("long-password", longest=LONGEST_PASSWORD)
    cursor.arguments.new = Secret(text)
    cursor.index += 1


def _read_move(cursor: Cursor) -> None:
    """Read a move: the rest of the line without the number after ``#``."""
    labels = [parameter.label.partition("[")[0] for parameter in cursor.row.parameters]
    if not cursor.has_more:
        raise cursor.refusal("missing-move", form=", ".join(labels))
    text = cursor.rest_of_line()
    numbered = _NUMBER.search(text) if "#" in text else None
    if numbered:
        cursor.arguments.number = int(numbered[1])
        text = text[: numbered.start()]
    if "," in text and " " in text:
        text = ",".join(map(str.strip, text.split(",")))
    cursor.arguments.text = text.strip()
    if not cursor.arguments.text:
        raise cursor.refusal("missing-move", form=", ".join(labels))


def _read_plan(cursor: Cursor) -> None:
    """Read a plan: the rest of the line as written."""
    cursor.peek("missing-plan")
    cursor.arguments.text = cursor.rest_of_line().strip()
    if not cursor.arguments.text:
        raise cursor.refusal("missing-plan")


def _read_date(cursor: Cursor) -> None:
    """Read a date: the rest of the line without ``until``, if it has only words of dates."""
    if cursor.peek("missing-date").lower() in UNTIL | {"for"}:
        cursor.index += 1
    cursor.peek("missing-date")
    begins = cursor.index
    text = cursor.rest_of_line().strip()
    days = first_and_last_day(text)
    if days is None:
        cursor.index = begins
        raise cursor.refusal("bad-date")
    cursor.arguments.begins, cursor.arguments.until = days


_DIGEST = ("digest", "daily")
_HOUR = re.compile(r"\d{1,2}(?:[:.]\d{2})?(?:am|pm)?", re.IGNORECASE | re.ASCII)


def _read_hour(cursor: Cursor) -> str:
    """Read an hour, perhaps after "at", and return it; ``""`` if there is none."""
    place = cursor.index + (cursor.words[cursor.index].plain in {"at", "@"})
    hour = cursor.words[place].text.strip("@,;") if place < len(cursor.words) else ""
    if not _HOUR.fullmatch(hour):
        return ""
    cursor.index = place + 1
    return hour


def _read_settings(cursor: Cursor) -> None:
    """Read preferences: ``name=value``, ``name = value``, or ``name value`` for a known name.

    The hour of a digest may be a word of its own, ``digest=daily 8:00``.
    """
    pairs: list[tuple[str, str]] = []
    while cursor.has_more:
        text = cursor.words[cursor.index].text.rstrip(",;")
        if pairs and pairs[-1] == _DIGEST and (hour := _read_hour(cursor)):
            pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]}@{hour}")
            continue
        if "=" not in text and cursor.index + 1 < len(cursor.words):
            following = cursor.words[cursor.index + 1].text
            if following.startswith("=") or setting_name(text + "="):
                text = f"{text}={following.removeprefix('=')}"
                cursor.index += 1
        if text.endswith("=") and cursor.index + 1 < len(cursor.words):
            cursor.index += 1
            text += cursor.words[cursor.index].text
        setting = SETTING.fullmatch(text)
        if setting is None:
            raise cursor.refusal("bad-setting", place=cursor.index + 1)
        pairs.append((setting[1].lower(), setting[2].rstrip(",;")))
        cursor.index += 1
    if len(pairs) > _MOST_SETTINGS:
        raise cursor.refusal("too-many-settings", most=_MOST_SETTINGS)
    cursor.arguments.settings = tuple(pairs)


def _read_players(cursor: Cursor) -> None:
    """Read the players of a challenge, with options and times in any order."""
    userids = _read_userids_and_options(cursor)
    # An option may change the number of seats (a race can have one), so the game decides then.
    is_alone = len(userids) == 1 and cursor.named and cursor.arguments.password is None
    if cursor.arguments.addresses:
        if len(userids) > 2:
            raise cursor.refusal("invites-one", part=quotable(userids[2]), doubtful=True)
    elif is_alone and not cursor.arguments.options:
        raise cursor.refusal("one-player", part=userids[0])


def _read_alone(cursor: Cursor) -> None:
    """Read the player of a solo game, with options and times in any order."""
    _read_userids_and_options(cursor)


def _friends_address(cursor: Cursor, text: str) -> str:
    """Return the address of the friend to invite, with the domain in lower case."""
    address = mail_address(text)
    if address is None:
        raise cursor.refusal("invite-address")
    if cursor.arguments.addresses:
        raise cursor.refusal("invites-one", part="", doubtful=True)
    return address


def _read_userids_and_options(cursor: Cursor) -> list[str]:
    """Read userids, options, times and, in a challenge, one mail address, in any order."""
    is_solo = cursor.row.parameters[-1].kind is Kind.ALONE
    is_named = is_solo and bool(cursor.arguments.userid)  # in front of the password
    if (cursor.named or not is_solo) and not is_named and not cursor.has_more:
        raise _without_players(cursor)
    options: list[str] = []
    times: list[str] = []
    userids: list[str] = []
    _keep_challenge(cursor)
    while cursor.has_more:
        text = cursor.words[cursor.index].text.rstrip(",;") or ","
        timed = TIME.fullmatch(text)
        bank = BANK.fullmatch(text)
        if bank:
            times.append(_bank(cursor, (bank[1] or bank[3]).lower(), bank[2] or bank[4]))
        elif timed:
            times.append(_time(cursor, timed[1].lower(), timed[2]))
        elif text.startswith("--"):
            raise cursor.refusal(
                "unknown-time",
                part=text.partition("=")[0],
                kind=OptionError,
                known=", ".join((*TIMES, "time", "cap")),
            )
        elif text.startswith("-") or "=" in text:
            options.append(_option(cursor, text))
        elif "@" in text and not is_solo:
            cursor.arguments.addresses = (_friends_address(cursor, text),)
        else:
            userids.append(_player(cursor, text.lower(), userids))
        cursor.index += 1
    if cursor.named and not (userids or is_named or cursor.arguments.addresses):
        raise _without_players(cursor)
    cursor.arguments.options, cursor.arguments.times = tuple(options), tuple(times)
    cursor.arguments.userids = tuple(userids)
    return userids


def _without_players(cursor: Cursor) -> Misread:
    """Return the refusal of a challenge or solo game that names nobody."""
    if cursor.row.parameters[-1].kind is Kind.ALONE:
        return cursor.refusal("missing-userid")
    return cursor.refusal("missing-players")


def _keep_challenge(cursor: Cursor) -> None:
    """Let examples repeat the players, options and correct times of a challenge."""
    texts = [word.text.rstrip(",;").lower() for word in cursor.words]
    names = [text for text in dict.fromkeys(texts) if cursor.sender.is_player(text)]
    kind = cursor.row.parameters[-1].kind
    if kind is Kind.ALONE:
        names = names[:1] or [cursor.sender.userid]
    elif len(names) == 1:
        names = (
            [*names, "FRIEND"]
            if names[0] == cursor.sender.userid
            else [cursor.sender.userid, *names]
        )
    if not names or not all(names):
        return
    options = []
    for text, following in zip(texts, (*texts[1:], ""), strict=True):
        if text.startswith("--") or TIME.fullmatch(text) or BANK.fullmatch(text):
            options.append(time_meant(text if "=" in text else f"{text}={following}"))
        elif text.startswith("-") and OPTION.fullmatch(text):
            options.append(text)
    cursor.keep(kind, " ".join((*names[:_MOST_PLAYERS], *dict.fromkeys(filter(None, options)))))


def _read_seats(cursor: Cursor) -> None:
    """Read a number of seats and options, or ``off``."""
    if (
        cursor.has_more
        and len(cursor.words) == cursor.index + 1
        and cursor.words[cursor.index].plain in OFF
    ):
        cursor.arguments.off = True
        cursor.index += 1
        return
    options: list[str] = []
    while cursor.has_more:
        text = cursor.words[cursor.index].text.rstrip(",;") or ","
        if _SEATS.fullmatch(text) and cursor.arguments.seats is None:
            cursor.arguments.seats = int(text)
        elif text.startswith("-") or "=" in text:
            options.append(_option(cursor, text))
        else:
            raise cursor.refusal("bad-seats", part=quotable(text), most=_MOST_PLAYERS)
        cursor.index += 1
    cursor.arguments.options = tuple(options)


def _player(cursor: Cursor, text: str, before: list[str]) -> str:
    if not USERID.fullmatch(text):
        raise cursor.bad_userid(text)
    if text in before:
        raise cursor.refusal("repeated-userid", part=text)
    if len(before) == _MOST_PLAYERS:
        raise cursor.refusal("too-many-players", most=_MOST_PLAYERS)
    return text


def _time(cursor: Cursor, name: str, value: str | None) -> str:
    if value is None and cursor.index + 1 < len(cursor.words):
        cursor.index += 1
        value = cursor.words[cursor.index].text
    days = DAYS.fullmatch(value or "")
    if days is None and value and value.isdigit():
        raise cursor.refusal("time-long", part=f"--{name}", kind=OptionError, most=MOST_DAYS)
    if days is None:
        raise cursor.refusal(
            "bad-time", part=f"--{name}={quotable(value or '')}", kind=OptionError, name=name
        )
    return f"--{name}={days[1]}"


def _bank(cursor: Cursor, name: str, value: str | None) -> str:
    """Return ``--time=14d+1d/weekdays`` or ``--cap=30d``; the value may be the next word."""
    if value is None and cursor.index + 1 < len(cursor.words):
        cursor.index += 1
        value = cursor.words[cursor.index].text
    meant = bank_meant(name, value or "")
    if not meant:
        code = "bad-cap" if name == "cap" else "bad-time-bank"
        raise cursor.refusal(code, part=quotable(value or ""), kind=OptionError)
    return meant


def _option(cursor: Cursor, text: str) -> str:
    match = OPTION.fullmatch(text)
    if match is None:
        raise cursor.refusal("bad-option", part=quotable(text), kind=OptionError)
    name, value = match[1].lower(), match[2]
    if value is None and cursor.index + 1 < len(cursor.words):
        following = cursor.words[cursor.index + 1].text
        if _VALUE.fullmatch(following):
            cursor.index += 1
            value = following
    return f"-{name}" if value is None else f"-{name}={value}"


def _keep_recipient(cursor: Cursor) -> None:
    """Let examples name the writer if only the recipient was named: "message bob hello"."""
    named, writer = cursor.correct_words.get(Kind.USERID), cursor.sender.userid
    if named and writer and named != writer:
        cursor.keep(Kind.USERID, writer)
        cursor.keep(Kind.RECIPIENTS, named)


def _read_recipients(cursor: Cursor) -> None:
    """Read the userids of the recipients."""
    if not cursor.has_more:
        _keep_recipient(cursor)
    cursor.peek("missing-recipient")
    userids = _userids(cursor, cursor.rest())
    if len(userids) > _MOST_RECIPIENTS:
        raise cursor.refusal("too-many-recipients", most=_MOST_RECIPIENTS)
    cursor.arguments.userids = userids


def _userids(cursor: Cursor, texts: Iterable[str]) -> tuple[str, ...]:
    """Return the userids in the remaining words, each once."""
    userids: dict[str, None] = {}
    for text in texts:
        if not USERID.fullmatch(text):
            raise cursor.bad_userid(text)
        userids[text] = None
    return tuple(userids)


def _words_without_selection(cursor: Cursor) -> Iterator[str]:
    """Read the remaining words except those that select some of a player's boards."""
    for text in cursor.rest():
        if text in WHICH:
            cursor.arguments.which = text
        else:
            yield text


def _check_number_shown(cursor: Cursor, number: int) -> None:
    if number > _MOST_SHOWN:
        raise cursor.refusal("too-many-shown", most=_MOST_SHOWN)


def _board_ref(match: re.Match[str]) -> BoardRef:
    """Return the board of a match of `BOARD`."""
    return BoardRef(int(match[1]), int(match[2]) if match[2] else None)


def _read_shown(cursor: Cursor) -> None:
    """Read boards, or userids and a word that selects their boards."""
    if cursor.named:
        cursor.peek("missing-shown")
    boards: dict[BoardRef, None] = {}
    userids: dict[str, None] = {}
    for text in _words_without_selection(cursor):
        board = BOARD.fullmatch(text)
        if board:
            boards[_board_ref(board)] = None
        elif USERID.fullmatch(text):
            userids[text] = None
        else:
            raise cursor.refusal(
                "bad-shown", part=quotable(text), place=cursor.index + 1, doubtful=True
            )
    if boards:
        cursor.keep(Kind.SHOWN, " ".join(f"{ref.board}" for ref in list(boards)[:_MOST_SHOWN]))
    if boards and userids:
        # `show 12 alice password` is how a player's own view is often asked for.
        raise cursor.refusal("boards-and-userids", doubtful=True)
    if cursor.named and not boards and not userids:
        raise cursor.refusal("missing-shown")
    _check_number_shown(cursor, max(len(boards), len(userids)))
    cursor.arguments.boards, cursor.arguments.userids = tuple(boards), tuple(userids)


def _read_watched(cursor: Cursor) -> None:
    """Read userids, perhaps none, and a word that selects their boards."""
    cursor.arguments.userids = _userids(cursor, _words_without_selection(cursor))
    _check_number_shown(cursor, len(cursor.arguments.userids))


def _read_people(cursor: Cursor) -> None:
    """Read userids, perhaps none."""
    cursor.arguments.userids = _userids(cursor, cursor.rest())
    _check_number_shown(cursor, len(cursor.arguments.userids))


def _read_boards(cursor: Cursor) -> None:
    """Read boards, or a word that selects some of the sender's own."""
    boards: dict[BoardRef, None] = {}
    for text in _words_without_selection(cursor):
        board = BOARD.fullmatch(text)
        if board is None:
            raise cursor.refusal("bad-board", part=quotable(text))
        boards[_board_ref(board)] = None
    _check_number_shown(cursor, len(boards))
    cursor.arguments.boards = tuple(boards)


def _read_addresses(cursor: Cursor) -> None:
    """Read mail addresses."""
    if not cursor.row.parameters[-1].is_optional:
        cursor.peek("missing-address")
    valid: dict[str, None] = {}
    number = 0
    while cursor.has_more:
        number += 1
        address = mail_address(cursor.words[cursor.index].text)
        if address is None:
            raise cursor.refusal("bad-address", place=number)
        valid[address] = None
        cursor.index += 1
    if len(valid) > _MOST_ADDRESSES:
        raise cursor.refusal("too-many-addresses", most=_MOST_ADDRESSES)
    cursor.arguments.addresses = tuple(valid)


def mail_address(text: str) -> str | None:
    """Return a mail address with its domain in lower case, `None` if the text is not one."""
    text = text.rstrip(",;").removeprefix("mailto:")
    text = text.removeprefix("<").removesuffix(">").removeprefix("mailto:")
    local, _, domain = text.rpartition("@")
    return f"{local}@{domain.lower()}" if ADDRESS.fullmatch(text) else None


def _read_subjects(cursor: Cursor) -> None:
    """Read subjects of help, and join the names of two words."""
    names: list[str] = []
    for text in with_keys([*cursor.rest()], cursor.games):
        if names and f"{names[-1]} {text}" in PAIRS:
            names[-1] = f"{names[-1]} {text}"
        else:
            names.append(text)
    if len(names) > 1 and names[0] in cursor.games:  # "blackbox move", "blackbox rules"
        names = names[:1] if names[1] == "rules" else names[1:]
    cursor.arguments.subjects = tuple(names[:_MOST_SUBJECTS])


def _read_text(cursor: Cursor) -> None:
    """Read the rest of the line, perhaps nothing, for the command itself to read."""
    cursor.arguments.text = " ".join(cursor.rest())


def _read_words(cursor: Cursor) -> None:
    """Read words as they are written; quotes make one word of several."""
    if not cursor.row.parameters[-1].is_optional:
        cursor.peek("missing-words")
    words = [word.text for word in cursor.words[cursor.index :]]
    if len(words) > _MOST_WORDS:
        raise cursor.refusal("too-many-event-words", most=_MOST_WORDS)
    cursor.arguments.words = tuple(words)
    cursor.index = len(cursor.words)


def _read_games(cursor: Cursor) -> None:
    """Read names of games of this server; without one, the game in front of the command counts."""
    games: list[str] = []
    while cursor.has_more:
        texts = [word.text.lower().rstrip(",;") for word in cursor.words[cursor.index :]]
        game, count = game_in_front(texts, cursor.games)
        if not game:
            rest = range(cursor.index, len(cursor.words))
            cursor.hidden = [place for place in rest if not quotable(cursor.words[place].text)]
            part, place = quotable(texts[0]), cursor.index + 1
            raise unknown_game(
                part, texts[0], cursor.games, example="list", place=place, command=cursor.row.name
            )
        games.append(game)
        cursor.index += count
    if games:
        cursor.arguments.game = games[0]
    elif cursor.game:
        games = [cursor.game]
    cursor.arguments.games = tuple(games)


_READERS: Mapping[Kind, Callable[[Cursor], None]] = {
    Kind.BOARD: _read_board,
    Kind.USERID: _read_userid,
    Kind.NEW_USERID: _read_new_userid,
    Kind.PASSWORD: _read_password,
    Kind.NEW_PASSWORD: _read_new_password,
    Kind.MOVE: _read_move,
    Kind.PLAN: _read_plan,
    Kind.DATE: _read_date,
    Kind.SETTINGS: _read_settings,
    Kind.SEATS: _read_seats,
    Kind.PLAYERS: _read_players,
    Kind.ALONE: _read_alone,
    Kind.RECIPIENTS: _read_recipients,
    Kind.SHOWN: _read_shown,
    Kind.WATCHED: _read_watched,
    Kind.BOARDS: _read_boards,
    Kind.PEOPLE: _read_people,
    Kind.ADDRESSES: _read_addresses,
    Kind.GAMES: _read_games,
    Kind.SUBJECTS: _read_subjects,
    Kind.TEXT: _read_text,
    Kind.WORDS: _read_words,
}


def read_parameters(cursor: Cursor) -> Arguments:
    """Read all arguments of a command.

    Raises:
        Misread: a word is missing, wrong or too much.
    """
    row, most = cursor.row, cursor.row.max_words
    if len(cursor.words) > most:
        for parameter in row.parameters[:2]:
            if parameter.kind in {Kind.BOARD, Kind.USERID}:
                _READERS[parameter.kind](cursor)
        cursor.index = most
        raise cursor.refusal("too-many-words", expected=most, found=len(cursor.words))
    for parameter in row.parameters:
        _READERS[parameter.kind](cursor)
    return cursor.arguments


def in_order(row: Row, words: Sequence[Word]) -> Sequence[Word]:
    """Return the words with the board first if userid and board have changed places.

    If a word is missing, the words stay as they are, since the number may be the password.
    """
    kinds = [parameter.kind for parameter in row.parameters[:2]]
    if kinds != [Kind.BOARD, Kind.USERID] or len(words) < row.min_words:
        return words
    first, second = words[0].text, words[1].text
    swapped = BOARD.fullmatch(second) and is_userid(first) and not BOARD.fullmatch(first)
    return [words[1], words[0], *words[2:]] if swapped else words


_BOARDS = frozenset({"board", "boards", "game", "games"})


def without_word_for_board(row: Row, words: Sequence[Word]) -> Sequence[Word]:
    """Return the words without "board" or "game" in front of the number of a board."""
    begins_with_board = row.parameters and row.parameters[0].kind in {Kind.BOARD, Kind.SHOWN}
    if begins_with_board and len(words) > 1 and words[0].text.lower() in _BOARDS:
        return words[1:] if is_number(words[1].text) else words
    return words


def board_first(row: Row, words: Sequence[Word]) -> Sequence[Word]:
    """Return the words with the number of the board first, without "board" in front of it."""
    return in_order(row, without_word_for_board(row, words))
