"""Commands of teams: ``team`` and ``teams``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

from pbmserv.commands.table.events import OneTeam, Teams
from pbmserv.errors import Refused
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.events.chosen_names import chosen_name
from pbmserv.service.events.own_teams import answer_to_member, named_team, own_team, refuse_member
from pbmserv.service.events.team_entries import enter, withdraw
from pbmserv.service.events.team_invitations import invite, join
from pbmserv.service.events.team_members import hand_over, leave, remove, set_order
from pbmserv.service.events.teams import LONGEST_NAME, key_of, listed, words_for_all
from pbmserv.store import teams
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import histories

_ON_OFF = frozenset({"on", "off"})


def one_team(context: CommandContext, command: OneTeam) -> Answer:
    """``team [create|invite|join|leave|order|captain|remove|letters …]``

    Raises:
        Refused: the words are not understood, or the player may not do that.
    """
    player = context.speaker(command.credentials)
    if not command.words:
        return _show_own(context, player)
    verb, *words = command.words
    handle = _VERBS.get(verb.lower())
    if handle is not None:
        return handle(context, player, words)
    if teams.of_key(context.connection, key_of(" ".join(command.words))) is None:
        raise Refused("team-verb", part=verb[:20], example="teams")
    return _show(context, player, command.words)


def show_teams(context: CommandContext, command: Teams) -> Answer:  # noqa: ARG001
    """``teams``: list the teams."""
    return Answer(
        (Part("teams", {"rows": [asdict(team) for team in listed(context, public=False)]}),)
    )


def _show_own(context: CommandContext, player: Player) -> Answer:
    team = teams.of_players(context.connection, [player.id])
    inviting = teams.inviting(context.connection, player.id)
    if team is not None:
        teams.change_member(context.connection, team.id, player.id, active_at=context.now)
        return answer_to_member(context, team, "own")
    if not inviting:
        raise Refused("team-none", example="teams")
    words = {"what": "invitations", "names": [inviter.name for inviter in inviting], "invited": []}
    return Answer((Part("team", words),))


def _show(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:  # noqa: ARG001
    team = named_team(context, words)
    return Answer((Part("team", {**words_for_all(context, team), "what": "shown"}),))


def _create(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    written = " ".join(words)
    # In a list, a name with a comma would look like two teams.
    name = "" if "," in written else chosen_name(context, written, LONGEST_NAME)
    if not key_of(name):
        raise Refused("team-name", most=LONGEST_NAME, example="team create NAME")
    refuse_member(context, player)
    if not histories.of_player(context.connection, player.id, None, 1):
        raise Refused("team-newcomer", example=f"{context.usual_game} seek")
    team_id = teams.create(context.connection, name, key_of(name), player.id, context.now)
    if not team_id:
        raise Refused("team-taken", part=name, example="teams")
    team = teams.load(context.connection, team_id)
    assert team is not None
    return answer_to_member(context, team, "created")


def _letters(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    team = own_team(context, player)
    wanted = words[0].lower() if words else ""
    if wanted not in _ON_OFF:
        raise Refused("team-letters", part=wanted[:20], example="team letters off")
    teams.change_member(context.connection, team.id, player.id, muted=wanted == "off")
    return answer_to_member(context, team, "letters", on=wanted == "on")


_VERBS: Mapping[str, Callable[[CommandContext, Player, Sequence[str]], Answer]] = {
    "create": _create,
    "invite": invite,
    "join": join,
    "leave": leave,
    "order": set_order,
    "captain": hand_over,
    "remove": remove,
    "letters": _letters,
    "show": _show,
    "enter": enter,
    "withdraw": withdraw,
}
