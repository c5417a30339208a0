"""Lines that need not name their writer, since the mail proves or shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dns_zone import Zone
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from prepared_servers import Prepared, prepare, start_copy
from signing import DOMAIN, publish, writes

pytestmark = pytest.mark.slow

FIRST = "-size=4x4 -atoms=1"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    servers: list[Prepared] = []
    zone = Zone()
    publish(zone, DOMAIN)
    with prepare(tmp_path_factory.mktemp("prepared"), servers, names=zone) as house:
        house.sign_up("alice", "bob", "carol", "dave")
        house.send(address_of("alice"), f"blackbox challenge alice bob {FIRST}")
        house.send(address_of("alice"), f"blackbox move 1 alice {PASSWORD} b2")
        house.send(address_of("bob"), f"blackbox move 1 bob {PASSWORD} c3")
    return servers[0]


@pytest.fixture
def house(prepared: Prepared, tmp_path: Path) -> Iterator[Indoors]:
    """Yield a house with four players, and a board on which alice is to fire."""
    with start_copy(prepared, tmp_path) as house:
        yield house


def kinds(letters: list[Posted]) -> set[str]:
    return {kind for letter in letters for kind in (letter.kind, *letter.inside)}


LINES = {
    "challenge carol": "challenged",
    "blackbox challenge carol -size=5x5 --nagtime=3": "challenged",
    "challenge friend@far.example": "invited",
    "solo": "started",
    "seek": "seek",
    "prefs": "prefs",
    "prefs remind=2d,6h tz=UTC": "prefs",
    "daily": "daily-set",
    "away until tomorrow": "away",
    "export": "export",
    "signoff": "signoff-asked",
    "delete": "delete-asked",
    "forgot": "reset",
    "change address alice@work.example": "address-asked",
    "move 1 2,+d4": "board",
    "queue 1 d if #: c else 4": "queued",
    "check 1": "check",
    "preview 1 +d4": "preview",
    "show": "board",
    "games": "games",
    "resign 1": "result",
}


def test_a_proven_sender_need_not_say_who_writes(house: Indoors) -> None:
    wrong = {}
    for line, kind in LINES.items():
        letters = writes(house, "alice", line)
        if kind not in kinds(
            [letter for letter in letters if letter.recipient == address_of("alice")]
        ):
            wrong[line] = [letter.text.splitlines()[2:6] for letter in letters]
    assert wrong == {}


def test_a_reply_need_not_say_who_writes(house: Indoors) -> None:
    (letter,) = house.send(address_of("alice"), f"whoami alice {PASSWORD}")
    wrong = {}
    for line, kind in LINES.items():
        if line.split()[1:2] == ["1"]:  # which is the next test's
            continue
        letters = house.reply(letter, line)
        if line.startswith("change address"):  # a letter that was passed on is not enough for it
            assert "write your userid and password, too" in letters[0].one_line
        elif kind not in kinds(letters):
            wrong[line] = [letter.text.splitlines()[2:6] for letter in letters]
    assert wrong == {}


def test_a_forged_sender_gains_nothing(house: Indoors) -> None:
    """Challenges only ask, as those that name everybody do."""
    wrong = {}
    for line in LINES:
        letters = writes(house, "alice", line, sign=False)
        questions = {"challenge", "challenged", "begin-asked"}
        allowed = (
            questions if questions & kinds(letters) else {"refusal", "games", "preview", "show"}
        )
        reached = {letter.recipient for letter in letters if letter.kind != "challenge"}
        if not kinds(letters) <= allowed or reached != {address_of("alice")}:
            wrong[line] = [letter.text.splitlines()[2:6] for letter in letters]
    assert wrong == {}
    (letter,) = writes(house, "alice", "games all")
    begun = [line for line in letter.text.splitlines() if " - " in line and "accept" not in line]
    assert len(begun) == 1
    assert "alice - bob" in begun[0]


@pytest.mark.parametrize("front", ["Fwd: ", "[players] Re: "])
def test_a_forwarded_letter_does_nothing_in_its_readers_name(house: Indoors, front: str) -> None:
    (letter,) = writes(house, "alice", f"{front}challenge carol")
    assert letter.kind == "refusal"
    (letter,) = writes(house, "alice", f"{front}a joke", "resign 1\r\nsolo")
    assert letter.kind in {"refusal", "summary"}
    assert "alice to move" in house.send(address_of("bob"), "games bob")[0].text.replace("your", "")


def test_a_reply_about_one_board_cannot_name_another(house: Indoors) -> None:
    house.send(address_of("alice"), f"blackbox challenge alice carol {FIRST}")
    (theirs,) = house.send(address_of("carol"), f"blackbox showas carol {PASSWORD} 2")
    (mine,) = house.send(address_of("alice"), f"blackbox showas alice {PASSWORD} 2")
    assert mine.board == theirs.board == 2
    letters = house.reply(mine, "solo\nresign 1\nmove 1 2")
    (report,) = letters
    assert report.inside == ("started", "refusal", "refusal"), report.text
    # The owner's own mail program proves more than the letter does.
    letters = writes(house, "alice", "Re:", "solo\r\nmove 1 2", to=mine.reply_to)
    assert "refusal" not in {kind for letter in letters for kind in letter.inside}


def test_players_with_one_address_must_say_who_writes(tmp_path: Path) -> None:
    zone = Zone()
    publish(zone, DOMAIN)
    with indoors(tmp_path, names=zone) as house:
        house.sign_up("alice", "bob")
        house.send(address_of("alice"), f"signup anna {PASSWORD}")
        house.send(address_of("alice"), f"blackbox challenge anna bob {FIRST}")
        (letter,) = writes(house, "alice", "prefs")
        assert "Several players have your address: alice, anna." in letter.one_line
        (letter,) = writes(house, "alice", "prefs anna")
        assert letter.subject == "Your preferences, anna"
        # At a board it is clear which of them sits there.
        letters = writes(house, "alice", "move 1 b2")
        assert "refusal" not in kinds(letters)


def test_words_for_several_go_to_all_of_them(house: Indoors) -> None:
    for to in ("bob", "bob, carol", "bob carol", "bob carol alice"):
        letters = writes(house, "alice", f"message {to}", "Good morning!")
        assert "message-sent" in kinds(letters), [letter.text for letter in letters]
    letters = writes(house, "alice", "", "message bob carol\r\nGood morning!")
    assert "Good morning!" in letters[1].text


def test_a_word_that_may_be_a_password_is_not_repeated(house: Indoors) -> None:
    for line in (
        "message bob secret99 carol",
        "message bob secret99",
        "move 1 bob secret99 2",
        "move 1 secret99 2",
        "prefs alice secret99 digest=off",
        "showas 1 secret99",
        "solo secret99",
        "challenge secret99",
        "seek secret99",
        "resign 1 secret99",
        "queue 1 secret99 b",
    ):
        letters = writes(house, "alice", line)
        assert all("secret99" not in letter.raw.decode() for letter in letters), line


def test_a_name_in_front_still_means_that_player(house: Indoors) -> None:
    (letter,) = writes(house, "alice", "resign 1 bob")
    assert letter.kind == "refusal"
    (letter,) = writes(house, "alice", f"prefs bob {PASSWORD}")
    assert letter.subject == "Your preferences, bob"
    assert letter.recipient == address_of("bob")


def test_a_players_own_record_comes_to_the_proven_player(house: Indoors) -> None:
    writes(house, "alice", "solo -seed=box -size=4x4 -atoms=1")
    writes(house, "alice", "solve 2")
    assert kinds(writes(house, "alice", "record 2")) == {"record"}
    assert kinds(writes(house, "alice", "record 2", sign=False)) == {"refusal"}
    assert kinds(writes(house, "bob", "record 2")) == {"refusal"}


def test_every_letter_to_a_known_reader_can_be_answered(house: Indoors) -> None:
    (question,) = house.send(address_of("alice"), f"whoami alice {PASSWORD}")
    for line in ("list", "blackbox standings", "show 1", "games bob"):
        for letters in (house.reply(question, line), writes(house, "alice", line)):
            (letter,) = letters
            assert letter.reply_to.startswith("pbmserv+"), line
            assert kinds(house.reply(letter, "prefs")) == {"prefs"}, line
        (letter,) = writes(house, "alice", line, sign=False)
        assert letter.reply_to == house.server.mail_domain.address, line
    # Such an address goes to its player alone, whoever has got hold of the letter before.
    letters = house.send("mallory@elsewhere.example", "", "list", to=question.reply_to)
    assert {letter.recipient for letter in letters} == {address_of("alice")}


def test_a_number_in_a_reply_names_the_letters_board_or_any_board(
    house: Indoors,
) -> None:
    house.send(address_of("alice"), f"blackbox challenge alice carol {FIRST}")
    (of_two,) = house.send(address_of("alice"), f"blackbox showas alice {PASSWORD} 2")
    for line in ("resign 1", "rematch 1", "undo 1", "board 1 +d4"):
        (letter,) = house.reply(of_two, line)
        assert letter.kind in {"refusal", "summary"}, line
        assert letter.board != 1 or letter.kind == "refusal", line
    (question,) = house.send(address_of("alice"), f"whoami alice {PASSWORD}")
    assert "board" in kinds(house.reply(question, "board 1 +d4"))
    assert "declined" in kinds(house.reply(of_two, "resign 2"))
    assert "result" in kinds(house.reply(question, "resign 1"))
    assert "challenged" in kinds(house.reply(question, "rematch 1"))
