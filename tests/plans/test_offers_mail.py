"""Pass, swap, propose, accept and reject are moves where a game has them, and refused elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from heaps import HEAPS, Heap, Heaps, HeapView, show_heaps
from indoors import HandedIn, indoors
from playing import begin
from running import Correspondence

from pbmserv.engine.registry import AnyGame, Registry
from pbmserv.engine.types import Seat, Step
from pbmserv.errors import Illegal

Begin = Callable[..., HandedIn]


@pytest.fixture
def playing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    """Start a server with these games."""
    show_heaps()
    with ExitStack() as stack:

        def begin(*games: AnyGame) -> HandedIn:
            monkeypatch.setattr(Registry, "installed", classmethod(lambda cls: cls(games)))
            return HandedIn(stack.enter_context(indoors(tmp_path, signup="confirm")))

        yield begin


@pytest.fixture
def heaps(playing: Begin) -> HandedIn:
    """Start a server with Blackbox and Heaps."""
    return playing(*Registry.installed(), HEAPS)


@pytest.mark.slow
def test_heaps_by_mail(heaps: HandedIn) -> None:
    anna, bela = heaps.sign_up("anna"), heaps.sign_up("bela")
    heaps.send(anna, "heaps challenge anna bela")
    heaps.letters(anna)
    heaps.reply(heaps.letter(bela), "accept")
    heaps.letters()

    heaps.send(anna, "heaps move 1 anna secret 3")
    heaps.letters(anna)
    heaps.reply(heaps.letter(bela), "swap")
    assert "You played swap." in heaps.letter(bela).text
    heaps.reply(heaps.letter(anna), "pass")
    assert "You played pass." in heaps.letter(anna).text

    heaps.send(bela, "heaps move 1 bela secret propose")
    heaps.letters(bela)
    challenge = heaps.letter(anna)
    assert 'A draw is proposed: reply "accept" or "reject".' in challenge.text
    heaps.send(anna, "heaps move 1 anna secret reject")
    assert "You played reject." in heaps.letter(anna).text
    heaps.letters(bela)

    heaps.send(bela, "heaps move 1 bela secret propose")
    assert '"propose" cannot be played now.' in heaps.letter(bela).one_line

    heaps.send(bela, "heaps report 1")
    assert "Heaps has no coach, so there is no report." in heaps.letter(bela).one_line
    heaps.send(bela, "heaps queue 1 bela secret 1; 2; hello")
    assert "This is no move of Heaps." in heaps.letter(bela).one_line
    heaps.send(bela, "heaps queue 1 bela secret 1 if #: 2")
    assert "Heaps has no conditions" in heaps.letter(bela).one_line
    heaps.send(bela, "heaps queue 1 bela secret 1; pass; accept")
    assert "You played 1." in heaps.letter(bela).text
    heaps.letters(anna)
    heaps.send(anna, "heaps move 1 anna secret 2")
    assert "bela played pass." in heaps.letters(anna)[-1].text
    heaps.letters(bela)
    heaps.send(anna, "heaps submit 1 anna secret 1")
    shown = heaps.letter(anna)
    assert "Not played yet" in shown.text
    assert "would" not in shown.text
    heaps.send(anna, "heaps preview 1 2")
    assert "This game shows what a move does only when it is made." in heaps.letter(anna).one_line
    heaps.send(anna, "heaps check 1 anna secret")
    assert "This game has nothing to check." in heaps.letter(anna).one_line
    heaps.reply(shown, "confirm")
    heaps.letters(anna)
    dropped = heaps.letter(bela)
    assert 'Your queued move "accept" could not be played' in dropped.one_line
    assert '"accept" cannot be played now.' in dropped.one_line


def test_only_bots_that_a_game_has_are_offered(
    heaps: HandedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = heaps.sign_up("anna")
    heaps.send(anna, "list heaps")
    listed = heaps.letter(anna)
    assert re.search(r"heaps challenge YOU house +play a bot that", listed.text)
    assert "house-" not in listed.text + listed.html
    monkeypatch.setitem(heaps.server.registry.bots, "heaps", ())
    heaps.send(anna, "list heaps")
    listed = heaps.letter(anna)
    assert "heaps challenge YOU FRIEND" in listed.text
    assert "house" not in listed.text + listed.html


def test_newcomers_are_offered_only_what_a_game_has(playing: Begin) -> None:
    server = playing(HEAPS)
    server.send("anna@players.example", "signup anna secret")
    server.reply(server.letter("anna@players.example"), "yes")
    letters = [server.letter("anna@players.example")]  # "Welcome, anna!"
    for word in ("games", "perhaps so"):
        server.reply(letters[0], word)
        letters.append(server.letter("anna@players.example"))
    for letter in letters:
        assert re.search(r"challenge house +a bot: plays like", letter.text)
        assert "challenge house" in letter.html
        assert not re.search(r"\b(daily|solo|house-\w+|box)\b", letter.text + letter.html)


class Coached(Heaps):
    """Heaps whose coach counts turns."""

    def reported_seats(self, state: Heap, reader: Seat | None) -> tuple[Seat, ...]:
        return (Seat(0),)

    def report(self, steps: Sequence[Step[Heap]], seat: Seat) -> Mapping[str, int]:
        return {"seat": seat, "turns": len(steps)}

    def hinted(self, state: Heap, seat: Seat) -> Step[Heap]:
        raise Illegal("heaps.not-now", part="hint")

    def hint(self, view: HeapView) -> Mapping[str, int]:
        return {}


def test_a_coach_has_words_of_its_own(playing: Begin) -> None:
    server = playing(Coached())
    anna, bela = server.sign_up("anna"), server.sign_up("bela")
    server.send(anna, "heaps challenge anna bela")
    server.send(bela, "prefs bela secret digest=daily@07:30")
    server.live(days=1)
    digest = server.letters(bela)[-1]
    assert "Heaps 1 with anna" in digest.text
    server.send(bela, "heaps accept 1 bela secret")
    for player, userid in ((anna, "anna"), (bela, "bela")):
        server.send(player, f"heaps move 1 {userid} secret 3")
    server.send(anna, "heaps resign 1 anna secret")
    server.reply(server.letters(bela)[-1], "report")
    report = server.letter(bela)
    assert report.text.startswith("anna made 4 turns")
    assert "anna could have taken more." in report.text
    for letter in (digest, report):
        shown = letter.text + re.sub(r"<style>.*?</style>", "", letter.html, flags=re.DOTALL)
        assert not re.search(r"\b(ray|port|layouts)\b", shown)


def test_blackbox_has_its_own_sentence_for_them(server: Correspondence) -> None:
    game = begin(server)
    for word in ("pass", "swap", "propose"):
        refused = game.write(0, "move", word)
        assert f'Blackbox has no "{word}"' in refused.one_line
        game.server.reply(refused, word)
        (again,) = game.read(0)
        assert f'Blackbox has no "{word}"' in again.one_line
    accepted = game.write(0, "accept")
    assert "You have accepted board 1 already, and nothing else waits" in accepted.one_line
    rejected = game.write(0, "reject")
    assert "Board 1 has begun, so you cannot reject it any more" in rejected.one_line
    assert game.plies()[2:] == []
