"""Golden transcripts: a game as typed, and all that every reader was told.

``NAME.moves`` in `contract_play.folder` begins with a line ``options: …``; every other line is a
seat, a blank and what was typed. Run this module to write the ``.transcript`` files anew, and read
the difference before keeping it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from contract_play import GAMES, NAMES, folder, public_for, sentence

from pbmserv.engine.position import Position, notes_for, opening
from pbmserv.engine.record import WITHDRAW, GameRecord
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import Seat
from pbmserv.errors import MoveError, Refusal
from pbmserv.views.environment import environment

SEED = b"golden transcript"


def scripts(game: AnyGame) -> list[Path]:
    """Return the golden games of a game."""
    return sorted(folder(game).glob("*.moves"))


def transcript(game: AnyGame, script: str) -> str:
    """Play a script, and return the text of its ``.transcript``."""
    return "\n".join(_Teller(game, script).lines()) + "\n"


class _Teller:
    def __init__(self, game: AnyGame, script: str) -> None:
        self._game = game
        first, *self._typed = script.splitlines()
        self._words = tuple(first.removeprefix("options:").split())
        self._seats = game.info.max_seats
        self._names = NAMES[: self._seats]
        self._readers: tuple[Seat | None, ...] = (*map(Seat, range(self._seats)), None)

    def lines(self) -> Iterator[str]:
        info = self._game.info
        record = GameRecord(info.key, info.rules_version, self._seats, self._words, SEED)
        position = opening(self._game, record)
        words = " ".join(self._words) or "classic"
        yield f"{info.title}, rules version {info.rules_version}, {words}"
        for line in self._typed:
            digit, _, text = line.partition(" ")
            seat = Seat(int(digit))
            yield from ("", "=" * 76, f"{self._names[seat]} types: {text}")
            try:
                position = self._move(position, seat, text)
            except MoveError as error:
                yield "  refused: " + self._sentence(error.refusal)
                yield f"  example: {error.refusal.example}"
                continue
            yield from self._told_lines(position)
        yield from ("", "=" * 76, f"{self._game.outcome(position.state)}")

    def _sentence(self, refusal: Refusal) -> str:
        """The block of the game's refusals that its code names."""
        template = self._template("refusals")
        block = template.blocks[refusal.code.rpartition(".")[2].replace("-", "_")]
        return " ".join("".join(block(template.new_context({"refusal": refusal}))).split())

    def _move(self, position: Position, seat: Seat, text: str) -> Position:
        if text == WITHDRAW:
            return position.withdraw(seat)
        return position.move(seat, self._game.parse(self._game.view(position.state, seat), text))

    def _told_lines(self, position: Position) -> Iterator[str]:
        for you in self._readers:
            view = self._game.view(position.state, you)
            yield from ("", f"--- {'spectators' if you is None else self._names[you]}")
            yield f"move: {public_for(position.step, you)}"
            for note in notes_for(self._game, position.step, you):
                yield f"note: {sentence(self._game, note, self._names, you)}"
            if you is not None:
                yield f"turn: {self._game.turn(position.state, you)}"
            yield ""
            for name in ("board.txt", "advice.txt"):
                yield (
                    self._template(name)
                    .render(view=view, names=self._names, you=you, board=12, beginner=True)
                    .rstrip("\n")
                )

    def _template(self, name: str) -> Any:
        return environment().get_template(f"games/{self._game.info.key}/{name}.j2")


def main() -> None:
    """Write all transcripts."""
    for game in GAMES:
        for script in scripts(game):
            script.with_suffix(".transcript").write_text(transcript(game, script.read_text()))


if __name__ == "__main__":
    main()
