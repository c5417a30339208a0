"""The catalogue's rows about the server itself: help, and several commands in one mail."""

from __future__ import annotations

from pbmserv.commands.table import model
from pbmserv.commands.table.row_types import ANYWHERE, Kind, Parameter, Row, Scope, Taken


def _help(game: str | None, taken: Taken) -> model.Command:
    """Help; a game in front is the subject when nothing else is asked for."""
    if game and taken.subjects in {(), ("rules",)}:
        return model.Help((game,))
    return model.Help(taken.subjects)


def _list(game: str | None, taken: Taken) -> model.Command:
    return model.ListGames(taken.subjects or ((game,) if game else ()))


HELP: tuple[Row, ...] = (
    Row(
        names=("help", "commands", "info"),
        slips=("hlep", "hepl", "hilfe", "aide", "?"),
        section="Help",
        scope=Scope.BOTH,
        parameters=(Parameter("[subject...]", Kind.SUBJECTS),),
        build=_help,
        summary="all commands, or all about one of them",
        example="help move",
        places=ANYWHERE,
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
        places=ANYWHERE,
        page="list",
    ),
)

SEVERAL: tuple[Row, ...] = (
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
