"""The commands that the forms of a player's own page stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pbmserv.commands.grammar.words import quoted
from pbmserv.service.boards.opponents import USUAL_OPPONENT

NEW_GAME_FORMS = frozenset({"challenge", "solo", "seek", "seek-off", "rematch"})
"""Forms that start games."""

_EMPTIED = {"digest": "off", "remind": "off", "tz": "UTC"}
"""Values of emptied fields; other empty fields change nothing."""
_BLOCKS = ("block", "unblock")
_SETTINGS = (
    *("format", "digest", "tz", "remind", "accept", "messages", "report", "labels"),
    *("public", "broadcast", "announce"),
)


def command_of(userid: str, fields: Mapping[str, str], present: Mapping[str, Any]) -> str:
    """Return the command of a form.

    Args:
        fields: of the form; ``do`` says which form it is.
        present: the present preferences; only changed ones become part of the command.

    Raises:
        KeyError: there is no such form.
    """
    if fields["do"] in NEW_GAME_FORMS:
        return _command_of_new_game(fields)
    values = {name: "".join(value.split()) for name, value in fields.items()}
    match fields["do"]:
        case "prefs":
            wanted = {
                name: values[name].strip("=") or _EMPTIED.get(name, present[name])
                for name in _SETTINGS
                if name in values
            }
            changed = [
                f"{name}={value}" for name, value in wanted.items() if value != present[name]
            ]
            changed += [f"{name}={values[name]}" for name in _BLOCKS if values.get(name)]
            return " ".join(["prefs", *changed])
        case "away":
            begins = f"from {values['from']} " if values.get("from") else ""
            return f"away {begins}until {values.get('until', '')}"
        case "address":
            addresses = " ".join(fields.get("addresses", "").replace(",", " ").split())
            return f"change address {userid} {quoted(fields.get('password', ''))} {addresses}"
        case "back" | "export" | "signoff" | "delete" as word:
            return word
    raise KeyError(fields["do"])


def _command_of_new_game(fields: Mapping[str, str]) -> str:
    """Return the command of a form that starts a game.

    Only words with a dash count as options, so no field can hold another command.
    """
    values = {name: "".join(value.split()) for name, value in fields.items()}
    game = values.get("game", "")
    options = [word for word in fields.get("options", "").split() if word.startswith("-")]
    if values.get("kind") in {"race", "practice"}:
        options.insert(0, f"-{values['kind']}")
    match fields["do"]:
        case "challenge":
            opponent = " ".join(fields.get("who", "").lower().split())
            name = "usual" if opponent in USUAL_OPPONENT else values.get("who", "")
            words = (game, "challenge", name, *options)
        case "solo":
            words = (game, "solo", *options)
        case "seek":
            seats = values.get("seats", "")
            words = (game, "seek", seats if seats.isdecimal() else "", *options)
        case "seek-off":
            words = (game, "seek", "off")
        case _:  # a rematch
            words = (game, "rematch", values.get("board", ""))
    return " ".join(filter(None, words))
