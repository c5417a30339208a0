"""Composes letters: a template folder and what it may say, to subject, text and HTML.

Every letter is a folder under ``templates/letters`` with ``subject.j2``, ``body.txt.j2`` and
``body.html.j2``. Bodies extend a layout and fill two blocks, ``headline`` (one line: what this
letter is) and ``body``, so that a report can put several letters' bodies into one.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache, partial
from typing import Any

from jinja2 import Environment, Template
from markupsafe import Markup

from pbmserv.engine.clocks import Terms, zone
from pbmserv.engine.position import Position
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import Note, Outcome, Seat
from pbmserv.errors import Refusal
from pbmserv.letters.environment import environment
from pbmserv.letters.mailto import Links
from pbmserv.letters.tables import aligned, definitions

WIDTH = 76
"""Columns of a text letter (spec/mail.md)."""

ROOM = 55_000
"""Characters of an HTML letter: 60 kB with players' words in any script. Gmail cuts at 102 kB."""

LONGEST_HTML = 60_000
"""Octets of HTML that a letter may have; a longer one goes without (`Composed.html` is empty)."""

_GAP = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class BoardScene:
    """A board as one reader may see it; the only thing a template learns about a game.

    Attributes:
        number: of the board.
        names: userids by seat.
        you: the reader's seat; ``None`` = a spectator.
        view: the game's view for that seat.
        events: one sentence for each thing that happened, oldest first.
        turn: number of the reader's next turn, as ``#n`` carries it; ``None`` = a spectator.
        waiting: userids of others whose turn it is.
        your_turn: whether the reader may use a turn now.
        moves: turns used; free moves are not counted, for they may be private.
        outcome: how it ended, if it did.
        options: canonical option words of the challenge.
        rated: whether the result changes ratings.
        terms: how long its players may take.
    """

    number: int
    game: AnyGame
    names: tuple[str, ...]
    you: Seat | None
    view: Any
    events: tuple[str, ...]
    turn: int | None
    waiting: tuple[str, ...]
    your_turn: bool
    moves: int
    outcome: Outcome | None
    options: tuple[str, ...]
    rated: bool
    terms: Terms

    @property
    def key(self) -> str:
        """The game's key: its template folder and its word in commands."""
        return self.game.info.key

    @property
    def title(self) -> str:
        """The game's name for people."""
        return self.game.info.title

    @property
    def again(self) -> str:
        """The command for one more game of the same kind."""
        if len(self.names) == 1:
            return " ".join((self.key, "solo", *self.names, *self.options))
        return " ".join((self.key, "challenge", *self.names, *self.options))

    @property
    def race(self) -> bool:
        """Whether each plays a box of their own, of which others see nothing until it is over."""
        return "-race" in self.options or len(self.names) == 1

    @property
    def winners(self) -> str:
        """Who came first, for a sentence; "" while the board runs."""
        places = self.outcome.places if self.outcome else ()
        return listing(
            [name for name, place in zip(self.names, places, strict=False) if place == 1]
        )

    @property
    def players(self) -> str:
        """The players in one phrase; the same in every letter, so subjects stay a thread."""
        return " - ".join(self.names)


@dataclass(frozen=True, slots=True)
class Composed:
    """A letter's words; `html` is empty where it would be too long for mail programs."""

    subject: str
    text: str
    html: str


def board_scene(
    position: Position,
    *,
    number: int,
    names: tuple[str, ...],
    options: tuple[str, ...],
    rated: bool,
    terms: Terms,
    seat: Seat | None,
    own_move: bool,
    after: int | None = None,
) -> BoardScene:
    """What *seat* may see of a position.

    With *own_move* the events are what the last ply did; with *after* all behind that ply; else
    all since the seat's last turn.
    """
    game, state = position.game, position.state
    if after is not None:
        steps = position.after(after)
    elif own_move and position.ply:
        steps = [position]
    else:  # what the seat did itself meanwhile (markers) it knows
        steps = [p for p in position.since(seat) if p.ply is not None and p.ply.seat != seat]
    notes = [note for one in steps for note in one.step.notes]
    to_act = game.to_act(state)
    return BoardScene(
        number=number,
        game=game,
        names=names,
        you=seat,
        view=game.view(state, seat),
        events=tuple(note_sentences(game, notes, names, seat)),
        turn=None if seat is None else game.turn(state, seat),
        waiting=tuple(names[s] for s in sorted(to_act) if s != seat),
        your_turn=seat in to_act,
        moves=position.turns_of(seat),
        outcome=position.outcome,
        options=options,
        rated=rated,
        terms=terms,
    )


_TAKEN_BACK = frozenset({"undone", "redone", "restarted"})


def note_sentences(
    game: AnyGame, notes: Iterable[Note], names: Sequence[str], seat: Seat | None
) -> list[str]:
    """One sentence for each note that *seat* (``None`` = a spectator) may read."""
    templates = _environment()
    own = templates.get_template(f"games/{game.info.key}/notes.j2")
    undone = templates.get_template("letters/pieces/undone.j2")
    return [
        (undone if note.kind in _TAKEN_BACK else own)
        .render(note=note, names=names, you=seat)
        .strip()
        for note in notes
        if note.audience is None or seat in note.audience
    ]


def compose(letter: str, values: Mapping[str, Any]) -> Composed:
    """A letter's subject, text and HTML. *values* must hold all that its templates mention."""
    templates = _environment()
    folder = f"letters/{letter}"
    html = _fitted(templates.get_template(f"{folder}/body.html.j2").render, values, ROOM, ROOM)
    return Composed(
        " ".join(templates.get_template(f"{folder}/subject.j2").render(values).split()),
        _spaced(templates.get_template(f"{folder}/body.txt.j2").render(values)),
        html if len(html.encode()) < LONGEST_HTML else "",
    )


def excerpt(
    letter: str, values: Mapping[str, Any], fair: int, most: int, most_text: int
) -> Composed:
    """Headline and body of a letter without its frame, to stand in a report.

    Args:
        fair: how many characters of HTML it may have with links.
        most: how many it may have without.
        most_text: how many octets of text it may have with its board.
    """
    folder = f"letters/{letter}"
    text = _environment().get_template(f"{folder}/body.txt.j2")
    html = _environment().get_template(f"{folder}/body.html.j2")
    words = _spaced(_block(text, "body", values))
    if len(words.encode()) > most_text and values.get("scene") is not None:
        values = {**values, "drawn": False, "links": Links.UNDRAWN}
        words = _spaced(_block(text, "body", values))
    return Composed(
        _block(text, "headline", values).strip(),
        words,
        Markup(_fitted(partial(_block, html, "body"), values, fair, most)),  # noqa: S704 - as above
    )


def _fitted(
    render: Callable[[dict[str, Any]], str], values: Mapping[str, Any], fair: int, most: int
) -> str:
    """HTML with as many links as there is room for; without them what does not fit, either."""
    wanted: Links = values.get("links", Links.NONE)
    html = ""
    for links in list(Links)[list(Links).index(wanted) :]:
        html = render({**values, "links": links})
        room = most if links is Links.NONE else fair
        if len(html) <= room or values.get("scene") is None:
            break
    return html


def _spaced(text: str) -> str:
    """The text with one blank line between blocks, however many its pieces have left there."""
    return _GAP.sub("\n\n", text.strip("\n")) + "\n"


def _block(template: Template, name: str, values: Mapping[str, Any]) -> str:
    return "".join(template.blocks[name](template.new_context(dict(values))))


def page(template: str, values: Mapping[str, Any]) -> str:
    """A page of text, such as help."""
    return _environment().get_template(template).render(values).strip("\n")


def why(refusal: Refusal) -> str:
    """The sentence of a refusal: a game's own where its code begins with the game's key."""
    templates = _environment()
    game, dot, _ = refusal.code.partition(".")
    path = f"games/{game}/refusals.j2" if dot else "refusals.j2"
    return " ".join(templates.get_template(path).render(refusal=refusal).split())


def marked(headline: str) -> str:
    """The first line of a letter, with the words that end the reading of a reply.

    Both stand in one line, so that a reply that quotes us without quote marks leaves neither.
    """
    line = f"{' '.join(headline.split())}  -- Reply above this line --"
    return line if len(line) <= WIDTH else f"-- Reply above this line --\n{sentence(headline)}"


def said(words: str, indent: str = "  ") -> str:
    """A person's words, indented and wrapped, their own line breaks kept."""
    lines = []
    for line in words.splitlines():
        wrapped = textwrap.wrap(line, WIDTH - len(indent), break_on_hyphens=False)
        lines += [indent + part for part in wrapped] or [""]
    return "\n".join(lines)


@lru_cache(maxsize=1_000)  # wrapping is slow, and letters have most of their sentences in common
def sentence(words: str, indent: str = "", hanging: str = "") -> str:
    """A sentence of ours wrapped to the letter's width."""
    return textwrap.fill(
        " ".join(words.split()),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=hanging,
        break_on_hyphens=False,
        break_long_words=False,
    )


def moment(iso: str, tz: str) -> str:
    """``Saturday 21 March 2026, 14:00 (Europe/Berlin)``, of a moment in ISO 8601."""
    at = datetime.fromisoformat(iso).astimezone(zone(tz))
    return f"{at:%A} {at.day} {at:%B %Y, %H:%M} ({tz})"


def day(iso: str, tz: str = "") -> str:
    """``21 March 2026``, of a moment in ISO 8601, or of a day that is one without a time zone."""
    at = datetime.fromisoformat(iso)
    if tz:
        at = at.astimezone(zone(tz))
    return f"{at.day} {at:%B %Y}"


def verbatim(words: str, label: str) -> str:
    """What somebody wrote, behind a label; only what is too long for a line is broken."""
    return textwrap.fill(
        words,
        WIDTH,
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_on_hyphens=False,
    )


def listing(words: Sequence[str], last: str = "and") -> str:
    """``a, b and c``"""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


@cache
def _environment() -> Environment:
    templates = environment().overlay()
    templates.filters["aligned"] = aligned
    templates.filters["definitions"] = definitions
    templates.filters["marked"] = marked
    templates.filters["said"] = said
    templates.filters["sentence"] = sentence
    templates.filters["listing"] = listing
    templates.filters["moment"] = moment
    templates.filters["day"] = day
    templates.filters["verbatim"] = verbatim
    return templates
