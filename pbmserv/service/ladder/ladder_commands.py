"""Commands about ladders: look, join, challenge, leave."""

from __future__ import annotations

from collections.abc import Sequence

from pbmserv.commands.grammar.game_names import with_keys
from pbmserv.commands.table.ladder import ChallengeOnLadder, JoinLadder, LeaveLadder, ShowLadder
from pbmserv.engine.clocks import EVENT_CLOCK
from pbmserv.engine.registry import AnyGame
from pbmserv.errors import Refused
from pbmserv.service.boards.new_boards import Proposal, make_board
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import active_player, known_game, refuse_closed_game
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.words_for_others import words_for_others
from pbmserv.service.ladder.ranks import APART, MOST_OUTGOING, best_target, most_incoming
from pbmserv.service.ladder.tables import table_words
from pbmserv.store.accounts import absences, persons, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.ladders import ladder_challenges, ladder_places, ladder_reigns, ladders
from pbmserv.store.ladders.ladder_challenges import Challenge
from pbmserv.store.ladders.ladder_places import Place
from pbmserv.store.ladders.ladders import Ladder


def show(context: CommandContext, command: ShowLadder) -> Answer:
    """``ladder [game]``: show a ladder, or all that have players."""
    games = [game for game in context.services.registry if has_ladder(game)]
    if command.game:
        games = [_game_with_ladder(context, command.game)]
    you = {player.id for player in context.writers(command.credentials)}
    parts = [
        Part("ladder", table_words(context, game, you) | {"event": "shown"})
        for game in games
        if command.game or ladders.of_game(context.connection, game.info.key) is not None
    ]
    if not parts:
        parts = [Part("ladder", table_words(context, games[0], you) | {"event": "shown"})]
    return Answer(tuple(parts))


def join(context: CommandContext, command: JoinLadder) -> Answer:
    """``ladder join game``: enter at the bottom.

    Raises:
        Refused: the player is in the ladder already, perhaps under another name.
    """
    player = context.speaker(command.credentials)
    game = _game_with_ladder(context, command.game or _only_game(context))
    refuse_closed_game(context, game)
    key = game.info.key
    ladder = ladders.lock(context.connection, key, context.now)
    place = ladder_places.of_player(context.connection, ladder.id, player.id)
    if place is not None and not place.news:
        ladder_places.set_news(context.connection, ladder.id, player.id, wanted=True)
        words = table_words(context, game, {player.id}) | {"event": "news"}
        return Answer((Part("ladder", words),))
    if place is not None:
        raise Refused(
            "ladder-twice",
            part=key,
            title=game.info.title,
            rank=place.rank,
            example=f"{key} ladder challenge" if place.rank > 1 else f"ladder {key}",
        )
    for other in sorted(persons.ids_of_person(context.connection, player.id) - {player.id}):
        own = ladder_places.of_player(context.connection, ladder.id, other)
        if own is not None:
            raise Refused(
                "ladder-two-names", part=own.userid, title=game.info.title, example=f"ladder {key}"
            )
    ladder_places.join(context.connection, ladder.id, player.id, context.now)
    ladder_reigns.note_first(context.connection, ladder.id, context.now)
    words = table_words(context, game, {player.id}) | {"event": "joined"}
    return Answer((Part("ladder", words),))


def leave(context: CommandContext, command: LeaveLadder) -> Answer:
    """``ladder leave [game]``: leave a ladder. Running games go on and move nobody.

    Raises:
        Refused: the player is not in the ladder.
    """
    player = context.speaker(command.credentials)
    game, ladder, _ = _own_ladder(context, player, command.game, "ladder leave")
    running = _challenges_of(context, ladder, player.id)
    ladder_places.leave(context.connection, ladder.id, player.id, "left", context.now)
    words = table_words(context, game, set()) | {"event": "left", "running": len(running)}
    return Answer((Part("ladder", words),))


def challenge(context: CommandContext, command: ChallengeOnLadder) -> Answer:
    """``ladder challenge [name] [game]``: begin a game against a player with a better rank.

    Without a name, the opponent is the best player who can be challenged.

    Raises:
        Refused: the player may not challenge anybody now, or not this player. Then the example
            names the best player who can be challenged.
    """
    player = context.speaker(command.credentials)
    named_game, name = _game_and_name(context, command)
    game, ladder, mine = _own_ladder(context, player, named_game, "ladder challenge")
    refuse_closed_game(context, game)
    key = game.info.key
    if mine.rank == 1:
        raise Refused("ladder-first", part=game.info.title, example=f"ladder {key}")
    candidates = _Candidates(context, ladder, mine)
    if candidates.count_outgoing() >= MOST_OUTGOING:
        raise Refused("ladder-outgoing", part=key, most=MOST_OUTGOING, example="games")
    best = candidates.best()
    example = f"{key} ladder challenge {best.userid}" if best else f"ladder {key}"
    if name:
        target = _named_target(context, ladder, mine, name, example)
        if refusal := candidates.why_not(target):
            raise refusal.offering(example)
    elif best is None:
        raise Refused("ladder-nobody", part=key, first=best_target(mine.rank), example=example)
    else:
        target = best
    defender = players.by_id(context.connection, target.player_id)
    assert defender is not None
    contact.refuse_blocked_players(context, player.id, [defender])
    return _begin(context, game, ladder, (player, mine.rank), (defender, target.rank))


def _begin(
    context: CommandContext,
    game: AnyGame,
    ladder: Ladder,
    challenger: tuple[Player, int],
    defender: tuple[Player, int],
) -> Answer:
    """Begin the board of a challenge and tell both players; who begins is drawn by lot."""
    sitting = (challenger[0], defender[0])
    key = game.info.key
    options, rated = read_options(game, (), 2, key, key)
    proposal = Proposal(game, options, rated, EVENT_CLOCK, sitting)
    ids = {player.id for player in sitting}
    board = make_board(context, proposal, ids, sides_drawn=True)
    ladder_challenges.add(
        context.connection, ladder.id, board.id, challenger[0].id, defender[0].id, context.now
    )
    ladder_places.note_active(context.connection, ladder.id, challenger[0].id, context.now)
    words = {
        "event": "ladder",
        "by": challenger[0].userid,
        "said": words_for_others(context),
        "ladder": {
            "challenger": challenger[0].userid,
            "from": challenger[1],
            "defender": defender[0].userid,
            "rank": defender[1],
        },
    }
    own, notifications = [], []
    for sitter in board.sitters:
        part = Part("started", words, board.id, 0, sitter.seat, board.thread)
        if sitter.player_id == challenger[0].id:
            own.append(part)
        else:
            notifications.append(Notification.sitter(sitter, part))
    return Answer(tuple(own), tuple(notifications))


# -- games and places --------------------------------------------------------------------------


def has_ladder(game: AnyGame) -> bool:
    """Return whether two people can play the game, so that it has a ladder."""
    return game.info.is_for(2)


def _game_with_ladder(context: CommandContext, key: str) -> AnyGame:
    game = known_game(context, key)
    if not has_ladder(game):
        raise Refused("ladder-none", part=game.info.title, example="ladder")
    return game


def _only_game(context: CommandContext) -> str:
    """Return the only game with a ladder that a player could join.

    Raises:
        Refused: there are several.
    """
    keys = _games_with_ladders(context)
    if len(keys) == 1:
        return keys[0]
    games, example = ", ".join(sorted(keys)), f"ladder join {keys[0]}"
    raise Refused("ladder-which", part="ladder join", games=games, example=example)


def _games_with_ladders(context: CommandContext) -> list[str]:
    return [game.info.key for game in context.services.registry if has_ladder(game)]


def _own_ladder(
    context: CommandContext, player: Player, key: str | None, command: str
) -> tuple[AnyGame, Ladder, Place]:
    """Return a ladder, locked, and the player's place there.

    Args:
        key: the game; `None` for the only ladder of the player.

    Raises:
        Refused: the player is not in the ladder, or in several.
    """
    game = _game_with_ladder(context, key or _game_of_player(context, player, command))
    ladder = ladders.lock(context.connection, game.info.key, context.now)
    place = ladder_places.of_player(context.connection, ladder.id, player.id)
    if place is None:
        example = f"ladder join {game.info.key}"
        raise Refused("ladder-not-in", part=game.info.title, example=example)
    return game, ladder, place


def _game_of_player(context: CommandContext, player: Player, command: str) -> str:
    """Return the game of the only ladder that a player is in, or that the server has.

    Raises:
        Refused: there are several.
    """
    mine = [ladder.game for ladder in ladders.of_player(context.connection, player.id)]
    keys = mine or _games_with_ladders(context)
    if len(keys) == 1:
        return keys[0]
    if not mine:
        games = ", ".join(sorted(keys))
        raise Refused("ladder-in-none", games=games, example=f"ladder join {keys[0]}")
    example = f"{mine[0]} {command}"
    raise Refused("ladder-which", part=command, games=", ".join(mine), example=example)


def _game_and_name(context: CommandContext, command: ChallengeOnLadder) -> tuple[str, str]:
    """Return the game and the player that a challenge names; ``""`` for each that it does not.

    Raises:
        Refused: the command names several players or games.
    """
    titles = context.services.registry.titles
    words = with_keys(command.userids, titles)
    keys = [word for word in words if word in titles]
    names = [word for word in words if word not in titles]
    games = dict.fromkeys((*filter(None, [command.game]), *keys))
    if len(names) > 1 or len(games) > 1:
        context.current.echo_hidden = True  # one of the words may be a password
        raise Refused("ladder-names", example="ladder challenge")
    return next(iter(games), ""), next(iter(names), "")


def _challenges_of(context: CommandContext, ladder: Ladder, player_id: int) -> list[Challenge]:
    """Return the running challenges of a player."""
    return ladder_challenges.open_challenges(context.connection, ladder.id, of=[player_id])


# -- who can be challenged ---------------------------------------------------------------------


def _named_target(
    context: CommandContext, ladder: Ladder, mine: Place, name: str, example: str
) -> Place:
    """Return the place of a named player.

    Raises:
        Refused: there is no such player, or not in this ladder, or not within the range.
    """
    player = active_player(context, name)
    place = ladder_places.of_player(context.connection, ladder.id, player.id)
    if place is None:
        raise Refused("ladder-not-there", part=name, example=example)
    if place.rank == mine.rank:
        raise Refused("ladder-yourself", part=name, example=example)
    if place.rank > mine.rank:
        raise Refused("ladder-below", part=name, rank=place.rank, yours=mine.rank, example=example)
    first = best_target(mine.rank)
    if place.rank < first:
        raise Refused(
            "ladder-too-high",
            part=name,
            rank=place.rank,
            yours=mine.rank,
            first=first,
            example=example,
        )
    return place


class _Candidates:
    """The players above a challenger, and the reasons why some cannot be challenged.

    Attributes:
        own_ids: ids of all players who are the same person as the challenger.
        running: the challenger's running challenges.
        recent: the challenger's challenges that ended less than `APART` ago.
    """

    def __init__(self, context: CommandContext, ladder: Ladder, mine: Place) -> None:
        self.context, self.ladder, self.mine = context, ladder, mine
        self.own_ids = persons.ids_of_person(context.connection, mine.player_id)
        self.running = _challenges_of(context, ladder, mine.player_id)
        since = context.now - APART
        self.recent = ladder_challenges.ended_since(
            context.connection, ladder.id, since, mine.player_id
        )

    def count_outgoing(self) -> int:
        """Return the number of running challenges that the challenger began."""
        mine = self.mine.player_id
        return sum(challenge.challenger_id == mine for challenge in self.running)

    def best(self) -> Place | None:
        """Return the highest player who can be challenged now."""
        connection, rank = self.context.connection, self.mine.rank
        for place in ladder_places.places(connection, self.ladder.id, best_target(rank), rank - 1):
            pair = {self.mine.player_id, place.player_id}
            if self.why_not(place) is None and not contact.blocked_pairs(self.context, pair):
                return place
        return None

    def why_not(self, place: Place) -> Refused | None:
        """Return the reason why a player cannot be challenged, `None` if there is none."""
        connection, name = self.context.connection, place.userid
        if place.player_id in self.own_ids:
            return Refused("ladder-yourself", part=name)
        if absences.at(absences.of_player(connection, place.player_id), self.context.now):
            return Refused("ladder-away", part=name)
        if (running := self._of_pair(self.running, place)) is not None:
            return Refused("ladder-running", part=name, board=running.board_id)
        if (recent := self._of_pair(self.recent, place)) is not None:
            assert recent.ended_at is not None
            again = f"{recent.ended_at + APART:%Y-%m-%d}"
            return Refused("ladder-week", part=name, days=APART.days, again=again)
        theirs = _challenges_of(self.context, self.ladder, place.player_id)
        incoming = sum(challenge.defender_id == place.player_id for challenge in theirs)
        most = most_incoming(place.rank)
        if incoming >= most:
            return Refused("ladder-incoming", part=name, most=most, rank=place.rank)
        return None

    def _of_pair(self, challenges: Sequence[Challenge], place: Place) -> Challenge | None:
        pair = {self.mine.player_id, place.player_id}
        for challenge in challenges:
            if {challenge.challenger_id, challenge.defender_id} == pair:
                return challenge
        return None
