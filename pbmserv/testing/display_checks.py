"""Checks of what readers see of a board: its drawing in every form, and sentences about moves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pbmserv.engine.adapter import AdaptedGame
from pbmserv.engine.game_view import View
from pbmserv.engine.position import Position, notes_for
from pbmserv.engine.types import Seat
from pbmserv.errors import MoveError
from pbmserv.game import Game, Grid, Items
from pbmserv.game.cells import laid_out
from pbmserv.testing.findings import Report, playing_method

_QUOTED = re.compile(r'"([^"]+)"')
_SEAT = re.compile(r"\{([0-9]+)(?:'s)?\}")

WIDTH = 76
"""Most columns of a board as text."""
NAMES = ("player1", "player2", "player3", "player4", "player5", "player6", "player7", "player8")


class DisplayChecks:
    """Checks of what readers see of a board.

    Args:
        rules, game: the game, and as the server has it.
        report: takes the findings.
    """

    def __init__(self, rules: Game[Any], game: AdaptedGame, report: Report) -> None:
        self._rules, self._game, self._report = rules, game, report

    def check_board(self, position: Position, seats: int) -> None:
        """Draw the board for all readers in every form."""
        for you in (*map(Seat, range(seats)), None):
            state = position.state.state
            seen = self._rules.seen(state, you)
            if self._rules.seen(seen, you) != seen:
                self._report.add("seen", "hides more when it is asked again about what it returned")
            if seen != state and not self._rules.hidden:
                self._report.add("hidden", "must be True, since seen() hides something")
            view = self._game.view(position.state, you)
            self._check_parts(view)
            self._check_names(view, seats)
            self._check_letters(view, NAMES[:seats], you)
            self._check_ask(view)

    def _check_parts(self, view: View) -> None:
        """Check the parts that `show` returns."""
        shown: Any = view.parts
        for part in shown:
            if not isinstance(part, Grid):
                continue
            if len({len(row) for row in part.rows}) > 1:
                self._report.add("show", "the rows of a grid differ in length")
            keys = {key for row in part.rows for key in row} - {".", " "}
            if unknown := sorted(keys - set(part.pieces)):
                self._report.add("show", f"no piece has the key {unknown[0]!r}")
            names = [cell.name for cell in laid_out(part).cells]
            if len(set(names)) < len(names):
                self._report.add("show", "two cells have the same name")
            if strange := sorted({*part.strong, *part.new} - set(names)):
                self._report.add("show", f"{strange[0]} is not a cell of the grid")

    def _check_names(self, view: View, seats: int) -> None:
        """Check that the texts on a board name seats that are there."""
        for part in view.parts:
            texts = [part] if isinstance(part, str) else [part.title]
            if isinstance(part, Items):
                texts += part.items
            for text in texts:
                if any(int(number) >= seats for number in _SEAT.findall(text)):
                    self._report.add("show", f"names a seat that is not there: {text!r}")

    def _check_ask(self, view: View) -> None:
        """Check that the moves which `ask` quotes can be made."""
        for quoted in _QUOTED.findall(view.ask):
            try:
                self._game.parse(view, quoted)
            except MoveError:
                self._report.add("ask", f'quotes "{quoted}", which is no move then')

    def check_file(self, position: Position, seats: int) -> None:
        """Check what `file` returns, if it is more than the server's own method."""
        for seat in map(Seat, range(seats)):
            file = self._game.file(
                self._game.view(position.state, seat), NAMES[:seats], "2026-03-05"
            )
            if file is None:
                continue
            if not (
                isinstance(file, tuple)
                and len(file) == 2
                and all(isinstance(part, str) for part in file)
            ):
                self._report.add("file", f"returns {file!r}, not a suffix and a text")
                return
            if not re.fullmatch(r"\.[a-z0-9]+", file[0]):
                self._report.add("file", f"the suffix is {file[0]!r}; write one such as '.pgn'")
                return

    def _check_letters(self, view: View, names: Sequence[str], you: Seat | None) -> None:
        """Check the board as letters and pages render it."""
        for name, text in rendered_board(self._rules.key, view, names, you).items():
            if name.startswith("board") and not re.sub(r"<[^<>]*>|[\s|+-]", "", text):
                self._report.add("show", f"the board is empty ({name})")
            wide = [line for line in text.splitlines() if len(line) > WIDTH]
            if wide and name.endswith("txt"):
                self._report.add("show", f"a line has {len(wide[0])} columns; {WIDTH} are the most")

    def check_sentences(self, position: Position, seats: int) -> None:
        """Check the sentences about a move."""
        for you in (*map(Seat, range(seats)), None):
            for note in notes_for(self._game, position.step, you):
                text = str(note.values.get("text", ""))
                # The engine refuses seats that are not there, but leaves other words in braces.
                if "{" in re.sub(r"\{[0-9]('s)?\}", "", text):
                    self._report.add(
                        playing_method(self._rules), f"tells of a seat that is not there: {text!r}"
                    )


def rendered_board(key: str, view: View, names: Sequence[str], you: Seat | None) -> dict[str, str]:
    """Return the parts of a letter about a board, by the names of their templates."""
    from pbmserv.letters.rendering import Links
    from pbmserv.letters.replies import Mailto
    from pbmserv.views.environment import environment

    people = [name for seat, name in enumerate(names) if seat != you]
    mailto = Mailto("pbmserv+token@games.example", "Re: a board")
    variables = {"board": 12, "mailto": mailto, "links": Links.ALL, "people": people}
    variables |= {"compact": False, "view": view, "names": names, "you": you, "beginner": True}
    return {
        name: environment().get_template(f"games/{key}/{name}.j2").render(variables)
        for name in ("board.txt", "advice.txt", "spoken.txt", "board.html", "advice.html")
    }
