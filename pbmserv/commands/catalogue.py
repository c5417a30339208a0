"""The one table of commands: the parser, the help and every suggestion come from it."""

from __future__ import annotations

from collections.abc import Mapping

from pbmserv.commands import model
from pbmserv.commands.forms import Kind, Parameter, Place, Row, Scope, Taken

_BOARD = Parameter("board", Kind.BOARD)
_USERID = Parameter("userid", Kind.USERID)
_PASSWORD = Parameter("password", Kind.PASSWORD)
_ON_A_BOARD = (_BOARD, _USERID, _PASSWORD)
_ANYWHERE = frozenset(Place)


def _move(game: str | None, taken: Taken) -> model.Command:
    """A move; the word ``resign`` in its place is the command of that name."""
    if taken.move.lower() == "resign":
        return model.Resign(game, taken.board, taken.who)
    return model.MakeMove(game, taken.board, taken.who, taken.move, taken.number)


def _help(game: str | None, taken: Taken) -> model.Command:
    """Help; a game in front is the subject when nothing else is asked for."""
    if game and taken.subjects in {(), ("rules",)}:
        return model.Help((game,))
    return model.Help(taken.subjects)


def _list(game: str | None, taken: Taken) -> model.Command:
    return model.ListGames(taken.subjects or ((game,) if game else ()))


ROWS: tuple[Row, ...] = (
    Row(
        names=("help", "commands", "info"),
        slips=("hlep", "hepl", "hilfe", "aide", "?"),
        section="Help",
        scope=Scope.BOTH,
        parameters=(Parameter("[subject...]", Kind.SUBJECTS),),
        build=_help,
        summary="all commands, or all about one of them",
        example="help move",
        places=_ANYWHERE,
        page="help",
    ),
    Row(
        names=("list",),
        slips=("lsit", "lits"),
        section="Help",
        scope=Scope.BOTH,
        parameters=(Parameter("[game...]", Kind.GAMES),),
        build=_list,
        summary="the games this server knows, their seats and options",
        example="list",
        places=_ANYWHERE,
        page="list",
    ),
    Row(
        names=("signup", "add", "register"),
        slips=("singup", "sign-up", "signpu", "sigunp"),
        section="Your account",
        scope=Scope.SERVER,
        parameters=(
            Parameter("userid", Kind.NEW_USERID),
            Parameter("password", Kind.NEW_PASSWORD),
            Parameter("[address...]", Kind.ADDRESSES),
        ),
        build=lambda _, t: model.Signup(t.userid, t.new, t.addresses),
        summary="become a player",
        example="signup alice PASSWORD alice@example.org",
        page="signup",
    ),
    Row(
        names=("change password", "changepassword", "change-password", "password", "passwd"),
        slips=("chnage password", "change pasword", "change passwort", "pasword"),
        section="Your account",
        scope=Scope.SERVER,
        parameters=(
            _USERID,
            Parameter("old", Kind.PASSWORD),
            Parameter("new", Kind.NEW_PASSWORD),
        ),
        build=lambda _, t: model.ChangePassword(t.who, t.new),
        summary="choose another password",
        example="change password alice PASSWORD NEWPASSWORD",
        page="password",
    ),
    Row(
        names=("password",),
        section="Your account",
        scope=Scope.SERVER,
        parameters=(Parameter("new", Kind.NEW_PASSWORD),),
        build=lambda _, t: model.ChangePassword(None, t.new),
        summary="in reply to the letter that 'forgot' brought: the new password",
        example="password NEWPASSWORD",
        places=frozenset({Place.REPLY}),
        page="password",
    ),
    Row(
        names=("forgot", "forgot password"),
        slips=("forgto", "fogrot", "frogot"),
        section="Your account",
        scope=Scope.SERVER,
        parameters=(_USERID,),
        build=lambda _, t: model.Forgot(t.userid),
        summary="get a letter with which to choose a new password",
        example="forgot alice",
        page="forgot",
    ),
    Row(
        names=("yes", "ok", "confirm"),
        section="Your account",
        scope=Scope.SERVER,
        parameters=(),
        build=lambda _, __: model.Yes(),
        summary="in reply to a letter that asks: confirm what it asks",
        example="yes",
        places=frozenset({Place.REPLY}),
        page="yes",
    ),
    Row(
        names=("challenge",),
        slips=("challange", "chalenge", "challege", "chalange", "challnege", "chellenge"),
        section="Starting a game",
        scope=Scope.GAME,
        parameters=(Parameter("userid1 userid2 [-options]", Kind.PLAYERS),),
        build=lambda game, t: model.Challenge(game or "", t.userids, t.options, t.times),
        summary="start a new game",
        example="blackbox challenge alice bob",
        page="challenge",
    ),
    Row(
        names=("accept",),
        slips=("accpet", "acept", "accetp"),
        section="Starting a game",
        scope=Scope.GAME,
        parameters=_ON_A_BOARD,
        build=lambda game, t: model.Accept(game, t.board, t.who),
        summary="take up a challenge",
        example="blackbox accept 12 alice PASSWORD",
        places=_ANYWHERE,
        page="accept",
    ),
    Row(
        names=("reject", "decline"),
        slips=("rejcet", "rejetc", "regect"),
        section="Starting a game",
        scope=Scope.GAME,
        parameters=_ON_A_BOARD,
        build=lambda game, t: model.Reject(game, t.board, t.who),
        summary="turn a challenge down",
        example="blackbox reject 12 alice PASSWORD",
        places=_ANYWHERE,
        page="reject",
    ),
    Row(
        names=("move",),
        slips=("mvoe", "moev", "mov", "moove", "omve"),
        section="Playing",
        scope=Scope.GAME,
        parameters=(*_ON_A_BOARD, Parameter("move[#n]", Kind.MOVE)),
        build=_move,
        summary="make a move",
        example="blackbox move 12 alice PASSWORD g,+b2",
        places=_ANYWHERE,
        page="move",
    ),
    Row(
        names=("resign",),
        slips=("resing", "reisgn", "resgin", "rezign"),
        section="Playing",
        scope=Scope.GAME,
        parameters=_ON_A_BOARD,
        build=lambda game, t: model.Resign(game, t.board, t.who),
        summary="give a game up",
        example="blackbox resign 12 alice PASSWORD",
        places=_ANYWHERE,
        page="resign",
    ),
    Row(
        names=("chat",),
        slips=("caht", "chta"),
        section="Playing",
        scope=Scope.GAME,
        parameters=_ON_A_BOARD,
        build=lambda game, t: model.Chat(game, t.board, t.who),
        summary="write to your opponents at a board",
        example="blackbox chat 12 alice PASSWORD",
        places=_ANYWHERE,
        page="chat",
    ),
    Row(
        names=("message",),
        slips=("mesage", "massage", "messgae", "msg"),
        section="Playing",
        scope=Scope.SERVER,
        parameters=(_USERID, _PASSWORD, Parameter("to...", Kind.RECIPIENTS)),
        build=lambda _, t: model.Message(t.who, t.userids),
        summary="write to other players",
        example="message alice PASSWORD bob",
        page="message",
    ),
    Row(
        names=("show", "board", "boards"),
        slips=("shwo", "sohw", "hsow"),
        section="Looking",
        scope=Scope.GAME,
        parameters=(Parameter("board[#n]... | userid... [which]", Kind.SHOWN),),
        build=lambda game, t: model.Show(game, t.boards, t.userids, t.which),
        summary="look at a board, or at a player's boards, as a spectator",
        example="blackbox show 12",
        places=_ANYWHERE,
        page="show",
    ),
    Row(
        names=("showas", "show as"),
        slips=("shwoas", "showsa", "show-as"),
        section="Looking",
        scope=Scope.GAME,
        parameters=(_USERID, _PASSWORD, Parameter("[board...] [which]", Kind.BOARDS)),
        build=lambda game, t: model.ShowAs(game, t.who, t.boards, t.which),
        summary="look at your own boards as you see them",
        example="blackbox showas alice PASSWORD 12",
        page="showas",
    ),
    Row(
        names=("games",),
        slips=("gamse", "gmaes"),
        section="Looking",
        scope=Scope.GAME,
        parameters=(Parameter("userid... [which]", Kind.WATCHED),),
        build=lambda game, t: model.Games(game, t.userids, t.which),
        summary="a player's games, one line each",
        example="blackbox games alice",
        places=_ANYWHERE,
        page="games",
    ),
    Row(
        names=("multiple", "mult"),
        section="Several commands in one mail",
        scope=Scope.SERVER,
        parameters=(),
        build=None,
        summary="as the subject: the commands are in the body, one a line",
        example="multiple",
        page="multiple",
    ),
    Row(
        names=("quit", "end", "thanks"),
        section="Several commands in one mail",
        scope=Scope.SERVER,
        parameters=(),
        build=None,
        summary="read no further than this line",
        example="quit",
        page="quit",
    ),
)
"""Every command this server offers. A new command is a new row and its page."""

LATER: frozenset[str] = frozenset(
    (
        "queue",
        "submit",
        "preview",
        "check",
        "solve",
        "undo",
        "redo",
        "restart",
        "seek",
        "rematch",
        "solo",
        "replay",
        "standings",
        "ratings",
        "history",
        "record",
        "subscribe",
        "unsubscribe",
        "notify",
        "prefs",
        "away",
        "back",
        "export",
        "signoff",
        "delete",
        "broadcast",
        "confirm",
        "change address",
    )
)
"""Names of the command language that this server does not offer yet."""

PAIRS = frozenset(name for row in ROWS for name in row.names if " " in name) | {"change address"}
"""Names of two words."""

WHICH = frozenset({"all", "active", "inactive", "next"})
"""Words that say which of a player's boards are meant."""

MULTIPLE = frozenset({"multiple", "mult"})
STOPS = frozenset({"quit", "end", "thanks"})

BY_NAME: Mapping[str, Row] = {
    name: row for row in ROWS if row.in_line and row.build for name in row.names
}
"""Commands that may be a subject or a line, by each of their spellings."""

BY_SLIP: Mapping[str, Row] = {
    slip: row for row in ROWS if row.in_line and row.build for slip in row.slips
}

IN_REPLY: Mapping[str, Row] = {name: row for row in ROWS if row.in_reply for name in row.names}
"""Commands that a reply may consist of, by each of their spellings."""

RESERVED = (
    frozenset(name for row in ROWS for name in row.names)
    | LATER
    | WHICH
    | {"all", "house", "house-easy", "house-hard"}
)
"""Words that cannot be a userid; a server's games come on top."""

_SUGGESTED = tuple(sorted({row.name: row for row in ROWS if row.build and row.in_line}))


def distance(left: str, right: str) -> int:
    """Letters to add, drop, change or swap with a neighbour (optimal string alignment)."""
    before: list[int] = []
    above = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        row = [i]
        for j, b in enumerate(right, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, above = above, row
    return above[-1]


def nearest(word: str, among: tuple[str, ...] = _SUGGESTED) -> str | None:
    """The name a misspelt *word* most likely means, or ``None``.

    At most one letter may be wrong in a word of up to five letters, two in a
    longer one; among equally near names the first in the alphabet is named.
    """
    word = word.lower()
    slipped = BY_SLIP.get(word)
    if slipped is not None and slipped.name in among:
        return slipped.name
    allowed = 1 if len(word) <= 5 else 2
    if len(word) < 3 or len(word) > 24:
        return None
    near = [(distance(word, name), name) for name in among if abs(len(name) - len(word)) <= allowed]
    best = min(near, default=(allowed + 1, ""))
    return best[1] if best[0] <= allowed else None


def misspelt(word: str) -> Row | None:
    """The one command that is a single slip of the fingers away, or ``None``."""
    if len(word) < 4 or len(word) > 24:
        return None
    close = [name for name in _SUGGESTED if distance(word, name) == 1]
    return BY_NAME[close[0]] if len(close) == 1 else None
