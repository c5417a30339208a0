"""Invitations by mail address, as those would use them who have no friends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from rows import rows
from sqlalchemy import select

from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.store.tables.accounts import invitations, players, uninvited
from pbmserv.store.tables.columns import metadata
from pbmserv.store.tables.mail import outbox

pytestmark = pytest.mark.slow

ALICE, BOB, CAROL = map(address_of, ("alice", "bob", "carol"))
FRIEND = "friend@far.example"


@pytest.fixture
def house(database_url: str, tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, database_url, web_url="https://games.example") as server:
        server.sign_up("alice", "bob", "carol", "dave")
        yield server


def invite(house: Indoors, who: str, address: str, text: str = "") -> list[Posted]:
    """The letters that a player's invitation leads to."""
    line = f"blackbox challenge {who} {PASSWORD} {address} -size=4x4 -atoms=1"
    return house.send(address_of(who), line, text)


def invited(house: Indoors, who: str = "alice", address: str = FRIEND, text: str = "") -> Posted:
    """The invitation itself."""
    (letter,) = (
        letter for letter in invite(house, who, address, text) if letter.kind == "invitation"
    )
    return letter


def kinds(letters: list[Posted]) -> list[tuple[str, str]]:
    return [(letter.kind, letter.recipient) for letter in letters]


def count(house: Indoors, table) -> int:
    return house.server.count(table)


# -- what the inviter can learn ----------------------------------------------------------------


def common_part(house: Indoors, address: str) -> tuple[str, str]:
    """Return the answer to an invitation without tokens and addresses."""
    (answer,) = (letter for letter in invite(house, "alice", address) if letter.recipient == ALICE)
    (letter,) = (answer,)
    text = re.sub(r"(?<=/mine/)\S+", "TOKEN", letter.text)
    return letter.subject.replace(address, "X"), text.replace(address, "X")


def test_nothing_tells_an_inviter_who_plays_here_and_who_wants_no_letters(house: Indoors) -> None:
    unwilling = invited(house, "dave", "unwilling@far.example")
    house.reply(unwilling, "never")
    house.send(CAROL, f"prefs carol {PASSWORD} block=alice")
    answers = []
    for address in ("somebody@far.example", BOB, "unwilling@far.example", CAROL):
        answers.append(common_part(house, address))
        house.live(days=1)
    assert len(set(answers)) == 1
    for subject in ("games alice", "games alice all", "games bob", "show alice"):
        (letter,) = house.send(ALICE, f"blackbox {subject}")
        assert "4x4" not in letter.text, "nothing shows before a yes"


def test_an_invitation_takes_a_message_of_300_characters_and_no_longer_one(house: Indoors) -> None:
    longest = "so " * 99 + "far"
    assert longest in invited(house, text=longest).one_line
    own, letter = invite(house, "bob", "other@far.example", f"{longest}!")
    if own.kind == "invitation":
        own, letter = letter, own
    assert "We left out your message" in own.one_line
    assert "so so so" not in letter.one_line


def test_a_player_gets_the_letter_that_a_stranger_gets(house: Indoors) -> None:
    stranger, player = invited(house, "alice", "somebody@far.example"), invited(house, "dave", BOB)
    texts = [stranger.one_line, player.one_line.replace("dave", "alice")]
    assert texts[0] == texts[1].replace("bob-2", "somebody")
    letters = house.reply(player, "accept")
    assert kinds(letters) == [("board", BOB), ("board", address_of("dave"))]
    assert count(house, players) == 4, "nobody is made twice"


# -- floods --------------------------------------------------------------------------------------


def test_one_account_invites_a_few_a_day(house: Indoors) -> None:
    for number in range(3):
        assert invited(house, "alice", f"friend{number}@far.example")
    (refusal,) = invite(house, "alice", "friend4@far.example")
    assert "You have invited 3 friends since yesterday" in refusal.one_line
    house.live(days=1, hours=1)
    assert invited(house, "alice", "friend4@far.example")
    many = "\n".join(
        f"blackbox challenge alice {PASSWORD} more{number}@far.example" for number in range(9)
    )
    letters = house.send(ALICE, "multiple", many)
    assert sum(letter.kind == "invitation" for letter in letters) == 2


def test_many_accounts_cannot_fill_one_mailbox(house: Indoors) -> None:
    new_invitations = []
    for who in ("alice", "bob", "carol", "dave"):
        letters = invite(house, who, FRIEND)
        assert (("invited", address_of(who))) in kinds(letters)
        new_invitations += [letter for letter in letters if letter.kind == "invitation"]
    assert len(new_invitations) == 3
    house.live(days=31)
    assert invited(house, "dave", FRIEND)


def test_the_setting_turns_it_off(tmp_path: Path) -> None:
    with indoors(tmp_path, invitations="0") as server:
        server.sign_up("alice")
        (refusal,) = invite(server, "alice", FRIEND)
        assert "On this server you cannot invite anybody by mail address" in refusal.one_line


# -- who may -------------------------------------------------------------------------------------


def test_a_reply_invites_and_needs_no_name(house: Indoors) -> None:
    (listed,) = house.send(ALICE, f"prefs alice {PASSWORD}")
    letters = house.reply(listed, f"challenge dora {FRIEND}")
    assert ("invitation", FRIEND) in kinds(letters)
    (letter,) = (letter for letter in letters if letter.kind == "invitation")
    assert "you will be called dora" in letter.one_line


@rows(
    "address",
    [
        "pbmserv@games.example",
        "PBMSERV+abc@games.example",
        "postmaster@games.example",
        "postmaster@far.example",
        "mailer-daemon@far.example",
        "no-reply@far.example",
        "friends-request@lists.example",
        f"{'x' * 60}@{'y' * 60}.{'z' * 60}.{'w' * 60}.{'v' * 60}.example",
        "friend@nowhere",
        "friend@192.0.2.1",
    ],
)
def test_no_letter_goes_to_offices_lists_and_ourselves(house: Indoors, address: str) -> None:
    (refusal,) = invite(house, "alice", address)
    assert refusal.kind == "refusal"
    assert count(house, invitations) == 0


@rows("line", ["alice p@ssw0rd", "alice p@ssw0rd bob", "p@ssw0rd alice bob"])
def test_a_password_with_an_at_is_no_address(house: Indoors, line: str) -> None:
    for sender, way in ((ALICE, ""), (ALICE, "reply")):
        if way:
            (letter,) = house.send(sender, f"prefs alice {PASSWORD}")
            letters = house.reply(letter, f"challenge {line}")
        else:
            letters = house.send(sender, f"blackbox challenge {line}")
        assert [letter.kind for letter in letters] == ["refusal"]
        assert all("ssw0rd" not in letter.text + letter.html + letter.subject for letter in letters)
    assert count(house, invitations) == 0


# -- words ---------------------------------------------------------------------------------------


def test_an_inviters_words_pass_the_guard_of_all_words(house: Indoors) -> None:
    letter = invited(house, text=f"Hello, you!\n\nMy word is {PASSWORD}.")
    assert "A message from alice (another player): Hello, you!" in letter.one_line
    assert PASSWORD not in letter.text + letter.html


# -- answers -------------------------------------------------------------------------------------


def test_a_yes_makes_an_account_and_a_board_once(house: Indoors) -> None:
    letter = invited(house)
    first = house.reply(letter, "yes as Dora!\n\nGladly.")
    assert kinds(first) == [("board", ALICE), ("welcome", FRIEND), ("board", FRIEND)]
    assert "A message from dora (another player): Gladly." in first[0].one_line
    for words in ("yes", "yes as other", "no", "accept"):
        again = house.reply(letter, words)
        assert {letter.kind for letter in again} <= {"refusal", "invitation-closed"}
    assert count(house, players) == 4 + 1
    for guess in ("", "-", "x", '""'):  # who has no password is let in by none
        assert house.send(ALICE, f"blackbox move 1 dora {guess} a1")[0].kind == "refusal"
    by_kind = {letter.kind: letter for letter in house.send(ALICE, "forgot dora")}
    assert by_kind["reset"].recipient == FRIEND
    house.reply(by_kind["reset"], "password marbles")
    assert house.send(ALICE, "blackbox move 1 dora marbles a1")[0].kind == "board"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("yes as alice", 'Nobody new can be called "alice"'),
        ("yes?", "It is not clear"),
        ("Thank you for your mail. We answer soon.", "It is not clear"),
    ],
)
def test_a_reply_that_is_no_clear_yes_makes_nothing(
    house: Indoors, words: str, sentence: str
) -> None:
    (refusal,) = house.reply(invited(house), words)
    assert sentence in refusal.one_line
    assert count(house, players) == 4
    example = refusal.text.partition("Try this:")[2].strip().partition("\n")[0]
    # A yes is offered only to somebody who said it, with a name that they cannot have.
    assert example.startswith("yes as") == words.startswith("yes as")
    house.reply(refusal, example or "yes")
    assert count(house, players) == 5


def test_a_name_may_be_asked_for_politely(house: Indoors) -> None:
    letters = house.reply(invited(house), "Yes, as Bobby please!")
    assert "Welcome, bobby" in {letter.subject for letter in letters}


def test_an_invitation_ends_after_a_month(house: Indoors) -> None:
    letter = invited(house)
    house.live(days=31)
    (refusal,) = house.reply(letter, "yes")
    assert "it was open for 30 days" in refusal.one_line


def test_a_letter_that_comes_back_is_told_once_and_not_sent_again(house: Indoors) -> None:
    letter = invited(house)
    back = ReplyAddress(Purpose.BOUNCE, about=letter.id)
    report = [
        *("From: MAILER-DAEMON@mx.example", f"Message-ID: <{letter.id}@mx.example>"),
        *("Content-Type: message/delivery-status", "", "Reporting-MTA: dns; mx.example", ""),
        *(f"Final-Recipient: rfc822; {FRIEND}", "Action: failed", "Status: 5.1.1"),
        "Diagnostic-Code: smtp; 550 5.1.1 no such user",
    ]
    address = house.server.mail_domain.address_of(back)
    (news,) = house.send_raw("", "\r\n".join(report).encode(), address)
    assert (news.kind, news.recipient) == ("invitation-answered", ALICE)
    assert f"Your invitation to {FRIEND} of 1 March 2026 could not be delivered" in news.one_line
    assert [letter for _ in range(3) for letter in house.live(days=1)] == []


# -- never again ---------------------------------------------------------------------------------


def way_out(letter: Posted) -> tuple[str, str]:
    """Page and address of List-Unsubscribe (RFC 8058)."""
    field = str(letter.message["List-Unsubscribe"]).replace("\n", "").replace(" ", "")
    page, address = (link.strip("<>") for link in field.split(","))
    assert letter.message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    return page, address.removeprefix("mailto:").partition("?")[0]


def test_one_click_by_mail_ends_all_invitations_for_good(house: Indoors) -> None:
    letter = invited(house)
    _, address = way_out(letter)
    (news, answer) = sorted(
        house.send(FRIEND, "unsubscribe", to=address), key=lambda letter: letter.recipient
    )
    assert (news.kind, news.recipient) == ("invitation-answered", ALICE)
    assert (answer.kind, answer.recipient) == ("invitation-closed", FRIEND)
    assert "a scrambled mark of your address" in answer.one_line
    house.live(days=200)
    assert kinds(invite(house, "bob", FRIEND)) == [("invited", BOB)]


@pytest.mark.both_databases
def test_one_click_by_page_writes_to_nobody_but_the_inviter(house: Indoors) -> None:
    letter = invited(house)
    page, _ = way_out(letter)
    token = page.rpartition("/")[2]
    requests = house.server.web_requests
    looked = house.loop.run_until_complete(requests.subscription(token))
    assert looked is not None
    assert (looked.what, looked.userid) == ("invitations", "alice")
    assert count(house, uninvited) == 0, "mail programs open links by themselves"
    for _ in range(2):
        assert house.loop.run_until_complete(requests.unsubscribe(token)) is not None
    assert kinds(house.letters()) == [("invitation-answered", ALICE)]
    assert kinds(invite(house, "bob", FRIEND)) == [("invited", BOB)]


def test_the_database_does_not_tell_who_was_invited(house: Indoors) -> None:
    letter = invited(house)
    house.reply(letter, "never")
    with house.server.database.reading.connect() as connection:
        for table in metadata.sorted_tables:
            if table.name in {"invitations", "uninvited"}:
                stored = connection.execute(select(table)).all()
                assert stored
                assert "friend" not in str(stored)
                assert "far.example" not in str(stored)


# -- leaving -------------------------------------------------------------------------------------


def test_export_and_delete_know_of_invitations(house: Indoors) -> None:
    letter = invited(house, text="Hello, you!")
    (export,) = house.send(ALICE, f"export alice {PASSWORD}")
    (part,) = (piece for piece in export.message.walk() if piece.get_filename())
    assert b'"invitations": [' in part.get_content()
    assert b'"state": "open"' in part.get_content()
    (question,) = house.send(ALICE, f"delete alice {PASSWORD}")
    house.reply(question, "yes")
    assert count(house, invitations) == 0
    with house.server.database.reading.connect() as connection:
        words = connection.execute(select(outbox.c.words).where(outbox.c.id == letter.id)).scalar()
    assert "alice" not in str(words)
    assert "Hello" not in str(words)
