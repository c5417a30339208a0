"""The house's three levels: what each does with what it knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from pbmserv.engine.protocol import Bot
from pbmserv.engine.rng import Rng
from pbmserv.errors import OptionError
from pbmserv.games.blackbox.bots import solving
from pbmserv.games.blackbox.bots.candidates import Candidates, candidates
from pbmserv.games.blackbox.bots.hiding import anywhere, unobtrusive
from pbmserv.games.blackbox.bots.solving import Port
from pbmserv.games.blackbox.options import Options, anew
from pbmserv.games.blackbox.views import View


@dataclass(frozen=True, slots=True)
class Level:
    """A way to play.

    Attributes:
        ports: of how many ports, drawn by lot, it takes the best; 0 = of all.
        bold: guesses while there are a few candidates, not only when it is sure.
        hide: where it puts its atoms.
    """

    ports: int
    bold: bool
    hide: Callable[[Options, Rng], frozenset[int]]

    def agree(self, options: Options) -> None:
        """Refuse what would be no game against a player who answers at once.

        Raises:
            OptionError: time, or who is first, decides this race.
        """
        if options.scoring == "timed":
            raise OptionError("blackbox.house-timed", part="-scoring=timed", example="-race")
        if options.scoring == "first":
            raise OptionError("blackbox.house-first", part="-scoring=first", example="-race")

    def choose(self, view: View, rng: Rng) -> str:
        """A move for the reader of *view*, who may use a turn."""
        # A race's options tell its box to those who replay it; a player is not shown them.
        seen = replace(view, options=anew(view.options))
        if not seen.has_hidden:
            return _named(seen, self.hide(seen.options, rng))
        return self._solve(seen, rng)

    def _solve(self, view: View, rng: Rng) -> str:
        own = view.own
        assert own is not None
        unused = [port for port, mark in enumerate(own.marks) if not mark]
        found = candidates(view, rng)
        ports = solving.informative(found, unused) if found.layouts else []
        if self._is_time(view, found, ports, unused):
            return self._guess(view, found, ports, rng)
        if ports:
            return own.board.ports[self._best(view, ports, rng).number]
        return own.board.ports[rng.choice(unused)]

    def _is_time(
        self, view: View, found: Candidates, ports: Sequence[Port], unused: Sequence[int]
    ) -> bool:
        """Whether to guess now: nothing can be learnt, or few enough layouts are left."""
        if not unused:
            return True
        if not (found.complete and found.layouts):
            return False  # there may be others that were not found
        if not ports:
            return True
        fair = view.options.fair
        left = solving.classes(found) if fair else len(found.layouts)
        return left <= (solving.few_enough(view.guesses_left) if self.bold else 1)

    def _guess(self, view: View, found: Candidates, ports: Sequence[Port], rng: Rng) -> str:
        """The markers that are wrong come off, those that are missing go on; then the guess.

        In a game of two a probe costs nothing beside it, and tells more if the guess is wrong.
        """
        own = view.own
        assert own is not None
        layout = (
            solving.likeliest(found, rng, fair=view.options.fair)
            if found.layouts
            else anywhere(view.options, rng)
        )
        name = own.board.name
        probe = self.bold and ports and not view.options.race
        words = [own.board.ports[self._best(view, ports, rng).number]] if probe else []
        words += [f"/{name(cell)}" for cell in sorted(own.markers - layout)]
        words += [f"+{name(cell)}" for cell in sorted(layout - own.markers)]
        return ",".join((*words, "?"))

    def _best(self, view: View, ports: Sequence[Port], rng: Rng) -> Port:
        among = rng.sample(ports, self.ports) if 0 < self.ports < len(ports) else ports
        if view.options.race and self.bold:  # there a probe costs its points
            return max(among, key=lambda port: port.bits / port.points)
        return max(among, key=lambda port: port.bits)


def _named(view: View, layout: frozenset[int]) -> str:
    return ",".join(map(view.options.board.name, sorted(layout)))


LEVELS: Mapping[str, Bot[View]] = MappingProxyType(
    {
        "house": Level(ports=3, bold=False, hide=anywhere),
        "house-easy": Level(ports=1, bold=False, hide=anywhere),
        "house-hard": Level(ports=0, bold=True, hide=unobtrusive),
    }
)
