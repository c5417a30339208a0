"""Composes letters: the blocks of a template and what they may say, to subject, text and HTML.

A summary puts the blocks of several letters into one; a letter of its own stands in a layout.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal, NamedTuple, TypeAlias

from markupsafe import Markup

from pbmserv.engine.clocks import Terms
from pbmserv.engine.position import Position, notes_for
from pbmserv.engine.protocol import Aided, coached, previews
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import SCORE, Note, Outcome, Seat
from pbmserv.errors import Refusal, ServerFault
from pbmserv.letters.environment import template_of, with_head_styles
from pbmserv.mail.letter_kinds import kind_of, letters_that

ROOM = 55_000
"""Characters of an HTML letter: 60 kB with players' words in any script. Gmail cuts at 102 kB."""

LONGEST_HTML = 60_000
"""Octets of HTML that a letter may have; a longer one goes without (`Composed.html` is empty)."""

_GAP = re.compile("\n\n\n+")


class Links(StrEnum):
    """How many links a board has, and whether there is room for the board at all.

    A letter begins at the top of this list and goes down until it is short enough.
    """

    ALL = "all"
    FEW = "few"
    NONE = "none"
    UNDRAWN = "undrawn"


_DOWN_FROM = {links: tuple(Links)[place:] for place, links in enumerate(Links)}


@dataclass(frozen=True)
class BoardScene:
    """A board as one reader may see it; the only thing a template learns about a game.

    Attributes:
        number: of the board.
        key: the game's: its template folder and its word in commands.
        title: the game's name for people.
        names: userids by seat.
        you: the reader's seat; ``None`` = a spectator.
        view: the game's view for that seat.
        events: one sentence for each thing that happened, oldest first.
        scores: one sentence for each score, for readers who want no table.
        turn: number of the reader's next turn, as ``#n`` carries it; ``None`` = a spectator.
        waiting: userids of others whose turn it is.
        your_turn: whether the reader may use a turn now.
        moves: turns used; free moves are not counted, for they may be private.
        outcome: how it ended, if it did.
        best: userids of those who came first; nobody while the board runs.
        options: canonical option words of the challenge.
        race: each plays a box of their own, of which others see nothing until it is over.
        done: the reader has finished a race that others go on with.
        rated: whether the result changes ratings.
        terms: how long its players may take.
        daily: number of the box of the day that it is; 0 = it is none.
        shut: it is over, and what is hidden in it stays so for a while.
        chooser: userid of the player who chose the box of a race, and may know it; "" = nobody.
    """

    number: int
    game: AnyGame
    key: str
    title: str
    names: tuple[str, ...]
    you: Seat | None
    view: Any
    events: tuple[str, ...]
    scores: tuple[str, ...]
    turn: int | None
    waiting: tuple[str, ...]
    your_turn: bool
    moves: int
    outcome: Outcome | None
    best: tuple[str, ...]
    options: tuple[str, ...]
    race: bool
    done: bool
    rated: bool
    terms: Terms
    daily: int
    shut: bool
    chooser: str

    @property
    def has_coach(self) -> bool:
        """Whether there is a report on a game that is over."""
        return coached(self.game) and not self.shut

    @property
    def players(self) -> str:
        """The players in one phrase, by seat."""
        return " - ".join(self.names)


@dataclass(frozen=True, slots=True)
class Composed:
    """A letter's words; `html` is empty where it would be too long for mail programs."""

    subject: str
    headline: str
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
    daily: int,
    after: int | None = None,
    chooser: str = "",
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
    notes = [note for one in steps for note in notes_for(game, one.step, seat)]
    events = [note for note in notes if note.kind != SCORE]
    scores = [note for note in notes if note.kind == SCORE]
    to_act, outcome = game.to_act(state), position.outcome
    places = zip(names, outcome.places if outcome else (), strict=False)
    race = "-race" in options or len(names) == 1
    return BoardScene(
        number=number,
        game=game,
        key=game.info.key,
        title=game.info.title,
        names=names,
        you=seat,
        view=game.view(state, seat),
        events=tuple(note_sentences(game, events, names, seat)),
        scores=tuple(note_sentences(game, scores, names, seat)) if scores else (),
        turn=None if seat is None else game.turn(state, seat),
        waiting=tuple([names[s] for s in sorted(to_act) if s != seat]),
        your_turn=seat in to_act,
        moves=position.turns_of(seat),
        outcome=outcome,
        best=tuple([name for name, place in places if place == 1]),
        options=options,
        race=race,
        done=race and seat is not None and seat not in to_act and outcome is None,
        rated=rated,
        terms=terms,
        daily=daily,
        shut=outcome is not None and game.outcome(state) is None,
        chooser=chooser,
    )


_TAKEN_BACK = frozenset({"undone", "redone", "restarted"})


def note_sentences(
    game: AnyGame, notes: Iterable[Note], names: Sequence[str], seat: Seat | None
) -> list[str]:
    """One sentence for each note that *seat* (``None`` = a spectator) may read."""
    own, undone = f"games/{game.info.key}/notes.j2", "letters/pieces/undone.j2"
    return [
        template_of(undone if note.kind in _TAKEN_BACK else own)
        .render(note=note, names=names, you=seat)
        .strip()
        for note in notes
        if note.audience is None or seat in note.audience
    ]


FORESEEN = frozenset({"check", *letters_that(lambda kind: kind.beyond_record)})
"""Letters that show a board otherwise than it is: see `foreseen`."""


def foreseen(letter: str, words: Mapping[str, Any], scene: BoardScene) -> BoardScene:
    """The scene as this letter shows it: what a move would do, or what one's markers explain.

    Made of the reader's view alone, so nothing hidden can get into it.
    """
    game = scene.game
    if kind_of(letter).beyond_record and previews(game):
        preview = game.preview(scene.view, Seat(words["mover"]), words["move"])
        notes = note_sentences(scene.game, preview.notes, scene.names, scene.you)
        return replace(scene, view=preview.view, events=tuple(notes))
    if letter == "check" and isinstance(game, Aided) and words.get("drawn"):
        drawn = game.drawn(scene.view, words["drawn"])
        notes = note_sentences(scene.game, drawn.notes, scene.names, scene.you)
        return replace(scene, view=drawn.view, events=tuple(notes))
    if letter == "check" and isinstance(game, Aided):
        notes = note_sentences(scene.game, game.check(scene.view), scene.names, scene.you)
        return replace(scene, events=tuple(notes))
    return scene


def compose(letter: str, values: Mapping[str, Any]) -> Composed:
    """A letter's subject, text and HTML. *values* must hold all that its templates mention."""
    texts = _fitted(_letter, letter, values, ROOM, ROOM)
    is_short = len(texts.html.encode()) < LONGEST_HTML
    return Composed(texts.subject, texts.headline, texts.text, texts.html if is_short else "")


def excerpt(
    letter: str, values: Mapping[str, Any], fair: int, most: int, most_text: int
) -> Composed:
    """Headline and body of a letter without its frame, to stand in a summary.

    Args:
        fair: how many characters of HTML it may have with links.
        most: how many it may have without.
        most_text: how many octets of text it may have with its board.
    """
    texts = _fitted(_part, letter, values, fair, most)
    if len(texts.text.encode()) > most_text and values.get("scene") is not None:
        undrawn = {**values, "drawn": False, "links": Links.UNDRAWN}
        texts = _fitted(_part, letter, undrawn, fair, most)
    html = Markup(texts.html)  # noqa: S704 - of templates that escape
    return Composed(texts.subject, texts.headline, texts.text, html)


def _fitted(draw: Draw, letter: str, values: Mapping[str, Any], fair: int, most: int) -> _Texts:
    """Return a letter's texts, its HTML with as many links as there is room for.

    Without links, anything longer than *most* is left out, too.
    """
    given = {"links": Links.NONE, **values}
    first = texts = draw(letter, given)
    for links in _DOWN_FROM[given["links"]]:
        if links != given["links"]:
            given["links"] = links
            texts = draw(letter, given)
        room = most if links is Links.NONE else fair
        if len(texts.html) <= room or given.get("scene") is None:
            break
    text = first.text.strip("\n") + "\n"
    # One blank line between blocks, however many their pieces left there.
    text = _GAP.sub("\n\n", text)
    return _Texts(" ".join(first.subject.split()), first.headline, text, texts.html)


class _Texts(NamedTuple):
    """The texts that the templates of a letter make."""

    subject: str
    headline: str
    text: str
    html: str


Draw: TypeAlias = Callable[[str, Mapping[str, Any]], _Texts]
"""Renders a letter, by its name, with these values."""


def _letter(letter: str, values: Mapping[str, Any]) -> _Texts:
    """Return a letter in its frame."""
    words, page = _blocks(letter, "txt", values), _blocks(letter, "html", values)
    frame = {name: values.get(name) for name in ("house", "title", "scene", "others")}
    own_page = "" if letter == "page-link" else values.get("own_page")
    frame["browser"] = values.get("board_page") or own_page
    headline = words["headline"].strip()
    text = _framed("txt", {**frame, "headline": headline, "body": words["text"]})
    shown = {"headline": Markup(page["headline"]), "body": Markup(page["html"])}  # noqa: S704 - of templates that escape
    html = with_head_styles(
        _framed("html", {**frame, **shown}), values.get("drawn_games", frozenset())
    )
    return _Texts(words["subject"], headline, text, html)


def _part(letter: str, values: Mapping[str, Any]) -> _Texts:
    """Return a letter without its frame."""
    words, page = _blocks(letter, "txt", values), _blocks(letter, "html", values)
    return _Texts(words["subject"], words["headline"].strip(), words["text"], page["html"])


def _blocks(letter: str, form: Literal["txt", "html"], values: Mapping[str, Any]) -> dict[str, str]:
    """Return the blocks of one form of a letter by their names."""
    template = template_of(f"letters/{letter}.{form}.j2")
    context = template.new_context({**values, "is_html": form == "html"})
    return {name: "".join(block(context)) for name, block in template.blocks.items()}


def _framed(form: str, values: Mapping[str, Any]) -> str:
    return template_of(f"letters/pieces/layout.{form}.j2").render(values)


def page(template: str, values: Mapping[str, Any]) -> str:
    """A page of text, such as help."""
    return template_of(template).render(values).strip("\n")


def why(refusal: Refusal, *, on_page: bool = False) -> str:
    """The sentence of a refusal: a game's own where its code begins with the game's key.

    Args:
        on_page: it is read on a page, where no letter is there to reply to.

    Raises:
        ServerFault: there is none for this code.
    """
    game, dot, code = refusal.code.rpartition(".")
    template = template_of(f"games/{game}/refusals.j2" if dot else "refusals.j2")
    sentence = template.blocks.get(code.replace("-", "_"))
    if sentence is None:
        raise ServerFault(f"no sentence for the refusal {refusal.code}")
    values = {"refusal": refusal, "on_page": on_page}
    return " ".join("".join(sentence(template.new_context(values))).split())
