"""List-Unsubscribe: a reader ends letters of one kind, by one click or by mail."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from asgi_client import fetch, site_of
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from running import Letter, Running, start

from pbmserv.service.operators import people
from pbmserv.service.operators.deeds import Signature

pytestmark = pytest.mark.slow

ALICE, BOB, CAROL = map(address_of, ("alice", "bob", "carol"))
HIDING = "a1,b2,c3,d4"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, operators="bob", web_url="https://games.example/play") as house:
        house.sign_up("alice", "bob", "carol")
        house.letters()
        yield house


def way_out(letter: Letter) -> tuple[str, str]:
    """Return the page and the address in a letter's List-Unsubscribe, ``""`` for none."""
    field = str(letter.message["List-Unsubscribe"] or "")
    page = re.search(r"<(https:[^>]+)>", field)
    mail = re.search(r"<mailto:([^?>]+)\?subject=unsubscribe>", field)
    return (page[1] if page else "", mail[1] if mail else "")


def pressed(house: Indoors, letter: Letter) -> list[Posted]:
    """Click the link as a mail program does (RFC 8058); return the confirmation."""
    assert letter.message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    page, _ = way_out(letter)
    path = urlsplit(page).path.removeprefix("/play")
    click = fetch(site_of(house.server), path, "POST", b"List-Unsubscribe=One-Click")
    answer = house.loop.run_until_complete(click)
    assert answer.status == 200
    assert b"No game has changed" in answer.body
    letters = house.letters()
    for confirmation in letters:
        assert confirmation.kind == "unsubscribed"
        assert confirmation.recipient == str(letter.message["To"])
        assert way_out(confirmation) == ("", ""), "nobody is to press that again"
    return letters


def to(letters: list[Posted], recipient: str) -> Posted:
    (chosen,) = (letter for letter in letters if letter.recipient == recipient)
    return chosen


def prefs(house: Indoors, userid: str = "alice") -> str:
    (letter,) = house.send(address_of(userid), f"prefs {userid} {PASSWORD}")
    return letter.one_line


def challenged(house: Indoors, options: str = "") -> Posted:
    return to(house.send(BOB, f"blackbox challenge bob alice {options}"), ALICE)


def moved(house: Indoors) -> Posted:
    """Return a letter to alice with news of board 1."""
    challenged(house)
    house.send(ALICE, f"blackbox accept 1 alice {PASSWORD}")
    return to(house.send(BOB, f"blackbox move 1 bob {PASSWORD} {HIDING}"), ALICE)


def test_news_of_a_board_come_once_a_day_instead(house: Indoors) -> None:
    letter = moved(house)
    pressed(house, letter)
    assert "digest: daily@07:00" in prefs(house).lower() or "digest=daily" in prefs(house)
    pressed(house, letter)  # twice is no error
    letters = house.send(ALICE, f"blackbox move 1 alice {PASSWORD} {HIDING}")
    assert way_out(to(letters, BOB))[0]
    assert way_out(to(letters, ALICE)) == ("", ""), "her digest has the link"
    assert not house.send(BOB, f"chat 1 bob {PASSWORD}", "Hello!")[1:], (
        "alice's waits for the digest"
    )


def test_the_digest_ends_and_single_letters_come_again(house: Indoors) -> None:
    house.send(ALICE, f"prefs alice {PASSWORD} digest=daily@07:30")
    moved_letters = house.send(BOB, "blackbox challenge bob alice")
    assert [letter.recipient for letter in moved_letters] == [BOB]
    (tray,) = (letter for letter in house.live(days=1) if letter.kind == "tray")
    pressed(house, tray)
    assert to(house.send(BOB, "blackbox challenge bob alice"), ALICE)


def test_broadcasts_end(house: Indoors) -> None:
    def send_broadcast() -> list[Posted]:
        (letter,) = house.send(BOB, f"broadcast bob {PASSWORD}", "Tea at five.")
        return [answer for answer in house.reply(letter, "yes") if answer.kind == "broadcast"]

    for userid in ("alice", "carol"):
        house.send(address_of(userid), f"prefs {userid} {PASSWORD} broadcast=on")
    recipients = send_broadcast()
    pressed(house, to(recipients, ALICE))
    assert {letter.recipient for letter in send_broadcast()} == {CAROL}


def test_challenges_end_and_games_go_on(house: Indoors) -> None:
    letter = challenged(house)
    pressed(house, letter)
    (refused,) = house.send(CAROL, "blackbox challenge carol alice")
    assert refused.kind == "refusal"
    assert house.reply(letter, "accept")
    assert house.send(ALICE, f"blackbox move 1 alice {PASSWORD} {HIDING}")[0].kind == "board"


def test_a_click_is_confirmed_with_the_way_back_once_a_day(house: Indoors) -> None:
    """A reader who pressed a button beside one challenge may not know that it ends them all."""
    letter = challenged(house)
    (confirmation,) = pressed(house, letter)
    assert "Nobody can challenge you any more. Your games go on." in confirmation.one_line
    assert "prefs accept=ask" in confirmation.text
    assert pressed(house, letter) == []  # nothing has changed
    house.reply(confirmation, "prefs accept=ask")
    assert challenged(house)
    assert pressed(house, letter) == []  # a program that presses all day writes one letter
    assert "accept: none" in prefs(house)
    house.live(days=1)
    house.reply(confirmation, "prefs accept=ask")
    assert len(pressed(house, letter)) == 1


def test_the_players_own_reminders_end(house: Indoors) -> None:
    house.send(ALICE, f"prefs alice {PASSWORD} remind=10d,2d")
    moved(house)
    reminders = [
        letter for _ in range(6) for letter in house.live(days=2) if letter.recipient == ALICE
    ]
    assert {reminder.kind for reminder in reminders} == {"reminder"}
    pressed(house, reminders[-1])
    usual = [letter for _ in range(4) for letter in house.live(days=2) if letter.recipient == ALICE]
    assert [letter.kind for letter in usual] == ["reminder"], "the last, a day before the loss"
    assert way_out(usual[0]) == ("", ""), "everybody gets this one"


def test_following_ends_for_that_board_alone(house: Indoors) -> None:
    moved(house)
    house.send(BOB, "blackbox challenge bob carol")
    house.send(CAROL, f"subscribe 1 carol {PASSWORD}")
    letters = house.send(ALICE, f"blackbox move 1 alice {PASSWORD} {HIDING}")
    followed = to(letters, CAROL)
    assert followed.kind == "followed"
    pressed(house, followed)
    pressed(house, followed)
    letters = house.send(BOB, f"blackbox move 1 bob {PASSWORD} g")
    assert CAROL not in {letter.recipient for letter in letters}


def test_the_box_of_the_day_ends(house: Indoors) -> None:
    letters = house.send(ALICE, f"blackbox daily alice {PASSWORD} 07:30")
    (box,) = (letter for letter in letters if letter.kind == "daily")
    pressed(house, box)
    pressed(house, box)
    assert not house.live(days=2)


@pytest.mark.parametrize("subject", ["unsubscribe", "resign"])
def test_a_mail_to_the_link_does_the_same_whatever_it_says(house: Indoors, subject: str) -> None:
    letter = moved(house)
    _, address = way_out(letter)
    (confirmation,) = house.send(ALICE, subject, "resign\nresign 1\n", to=address)
    assert confirmation.kind == "unsubscribed"
    assert "one mail a day" in confirmation.text
    assert house.server.mail_domain.address in str(confirmation.message["From"])
    (shown,) = house.send(ALICE, f"showas alice {PASSWORD} 1")
    assert "resign" not in shown.text.lower().partition("reply")[0]


def test_a_mail_of_a_program_has_effect_and_no_answer(house: Indoors) -> None:
    letter = moved(house)
    _, address = way_out(letter)
    assert not house.send(ALICE, "unsubscribe", to=address, Auto_Submitted="auto-generated")
    assert "daily" in prefs(house)


def test_answers_and_required_letters_have_no_link(house: Indoors) -> None:
    kept = [*house.send(ALICE, "help"), *house.send(ALICE, f"prefs alice {PASSWORD}")]
    kept += house.send(ALICE, "forgot alice")
    kept += house.send(ALICE, f"change address alice {PASSWORD} alice@work.example")
    moved(house)
    kept += house.send(ALICE, f"blackbox resign 1 alice {PASSWORD}")
    for letter in kept:
        if letter.kind != "declined":
            assert way_out(letter) == ("", ""), letter.kind
            assert letter.message["List-Unsubscribe-Post"] is None


def test_a_link_is_for_one_reader_and_is_revoked_with_the_reply_addresses(house: Indoors) -> None:
    letter = moved(house)
    page, _ = way_out(letter)
    token = page.rpartition("/")[2]
    web_requests, run = house.server.web_requests, house.loop.run_until_complete
    assert run(web_requests.subscription(token)) is not None
    assert run(web_requests.signup(token)) is None, "it confirms nothing"
    board = letter.reply_to.partition("+")[2].partition("@")[0]
    for wrong in (board, token[:-1] + ("a" if token[-1] != "a" else "b"), "", "x" * 500):
        assert run(web_requests.subscription(wrong)) is None
        assert run(web_requests.unsubscribe(wrong)) is None
    reset = partial(people.reset, userid="alice")
    house.operators.do(Signature("root", "a test"), reset)
    assert run(web_requests.unsubscribe(token)) is None


def test_without_https_pages_there_is_only_the_address(tmp_path: Path) -> None:
    with indoors(tmp_path, web_url="http://games.example") as house:
        house.sign_up("alice", "bob")
        letter = challenged(house)
        page, address = way_out(letter)
        assert (page, bool(address)) == ("", True)
        assert letter.message["List-Unsubscribe-Post"] is None


def test_feedback_ids_name_kinds_of_letters_and_no_people(house: Indoors) -> None:
    letters = house.send(BOB, "blackbox challenge bob alice")
    letters += house.send(CAROL, "blackbox challenge carol alice") + house.send(ALICE, "help")
    fields = {str(letter.message["Feedback-ID"]) for letter in letters}
    assert len(fields) == 3, "challenged, challenge, help"
    for field in fields:
        assert re.fullmatch(r"[a-z-]+:(blackbox|server):(news|answer):[0-9a-f]{10}", field)


def test_the_link_works_on_a_real_page(database_url: str, tmp_path: Path) -> None:
    with start(tmp_path, database_url, signup="open", web_url="https://games.example") as server:
        alice, bob = server.sign_up("alice"), server.sign_up("bob")
        server.send(bob, "blackbox challenge bob alice")
        page, _ = way_out(server.letter(alice))
        path = urlsplit(page).path
        assert "Yes, end that" in _page(server, "GET", path)
        server.send(bob, "blackbox challenge bob alice")
        assert server.letter(alice), "looking at the page has changed nothing"
        assert "Nobody can challenge you any more" in _page(server, "POST", path)
        server.letters()
        server.send(bob, "blackbox challenge bob alice")
        assert server.letters(alice) == []


def _page(server: Running, method: str, path: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", server.web_port, timeout=60)
    form = "List-Unsubscribe=One-Click" if method == "POST" else None
    connection.request(
        method, path, form, {"Content-Type": "application/x-www-form-urlencoded"} if form else {}
    )
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    assert response.status == 200
    return text
