"""Players whose mail proves its sender may leave out the password."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dns_zone import Zone
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from prepared_servers import Prepared, prepare, start_copy
from rows import rows
from signing import DOMAIN, publish, signed, writes

from pbmserv.mail.envelope import Envelope

pytestmark = pytest.mark.slow

HIDING = "a1,b2,c3,d4"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    servers: list[Prepared] = []
    zone = Zone()
    publish(zone, DOMAIN)
    with prepare(tmp_path_factory.mktemp("prepared"), servers, names=zone) as house:
        house.sign_up("alice", "bob", "carol")
        house.send(address_of("alice"), "blackbox challenge alice bob")
    return servers[0]


@pytest.fixture
def house(prepared: Prepared, tmp_path: Path) -> Iterator[Indoors]:
    """Yield a house with alice and bob, a board, and a domain that signs their mails."""
    with start_copy(prepared, tmp_path) as house:
        yield house


def refusal(letters: list[Posted]) -> str:
    (letter,) = letters
    assert letter.kind == "refusal", letter.text
    return letter.one_line


def kinds(letters: list[Posted]) -> list[str]:
    return sorted(letter.kind for letter in letters)


def test_a_dash_stands_for_the_password(house: Indoors) -> None:
    (letter, *_) = writes(house, "alice", f"blackbox move 1 alice - {HIDING}")
    assert letter.kind == "board"
    assert letter.recipient == address_of("alice")


@pytest.mark.parametrize(
    "subject",
    [
        f"blackbox move 1 alice {HIDING}",
        f"move 1 alice {HIDING}#1",
        "blackbox accept 1 bob",
        "prefs alice format=text",
        "showas alice 1",
        "message alice bob",
        "export alice",
    ],
)
def test_or_it_is_left_out(house: Indoors, subject: str) -> None:
    who = "bob" if " bob" in subject and "message" not in subject else "alice"
    letters = writes(house, who, subject, "Hello!")
    assert letters
    assert "refusal" not in kinds(letters), letters[0].text


def test_a_password_is_still_a_password(house: Indoors) -> None:
    assert "refusal" not in kinds(writes(house, "alice", f"message alice {PASSWORD} bob", "Hi."))
    assert "refusal" not in kinds(writes(house, "alice", f"move 1 alice {PASSWORD} {HIDING}"))


@rows(
    ("who", "subject"),
    [
        ("bob", f"blackbox move 1 alice - {HIDING}"),
        ("bob", f"blackbox move 1 alice {HIDING}"),
        ("stranger", "prefs alice -"),
        ("alice", "prefs bob - tz=Europe/Berlin"),
        ("alice+bob", "prefs alice -"),
        ("alice", "change password bob - new-password"),
    ],
)
def test_nobody_speaks_for_another(house: Indoors, who: str, subject: str) -> None:
    letters = writes(house, who, subject)
    assert "nothing" in refusal(letters).lower()
    (letter,) = letters
    assert letter.recipient == address_of(who)


def test_an_unknown_userid_is_answered_like_somebody_elses(
    house: Indoors,
) -> None:
    somebody, nobody = (refusal(writes(house, "alice", f"prefs {n} -")) for n in ("bobb", "carol"))
    assert somebody.replace("bobb", "carol") == nobody


@rows("subject", ["prefs alice -", f"blackbox move 1 alice - {HIDING}"])
def test_without_proof_a_dash_is_nothing(house: Indoors, subject: str) -> None:
    sentence = refusal(writes(house, "alice", subject, sign=False))
    assert 'The "-" stands for the password' in sentence
    assert "Write the password in its place, or reply to a letter from here" in sentence


def test_without_proof_a_password_is_missing_as_always(house: Indoors) -> None:
    sentence = refusal(writes(house, "alice", f"blackbox move 1 alice {HIDING}", sign=False))
    assert "The password seems to be missing" in sentence


def test_a_new_password_needs_its_dash(house: Indoors) -> None:
    sentence = refusal(writes(house, "alice", "change password alice rabbit-hole"))
    assert "rabbit-hole" not in sentence
    (done,) = writes(house, "alice", "change password alice - rabbit-hole")
    assert done.kind == "password-changed"
    assert kinds(writes(house, "alice", "prefs alice rabbit-hole", sign=False)) == ["prefs"]


@rows(
    "subject",
    [
        "message alice rabbit-hole",  # whom to?
        "blackbox move 1 alice rabbit-hole",  # no move
        "showas alice rabbit-hole 1",
        "blackbox move 1 alice a1 rabbit-hole",  # where the move belongs
        "blackbox chat 1 alice hello rabbit-hole",
        "prefs alice format=text rabbit-hole=html",
    ],
)
def test_a_word_that_may_be_a_password_is_not_repeated(house: Indoors, subject: str) -> None:
    for letter in writes(house, "alice", subject):
        assert "rabbit-hole" not in letter.text
        assert "rabbit-hole" not in letter.html
        assert "rabbit-hole" not in letter.subject
    for letter in writes(house, "alice", "multiple", subject):
        assert "rabbit-hole" not in letter.text
        assert letter.kind == "summary" or "refus" in letter.kind


def test_a_player_who_left_comes_back_by_the_address(house: Indoors) -> None:
    (question,) = writes(house, "carol", "signoff carol")
    house.reply(question, "yes")
    assert "signed off" in refusal(writes(house, "carol", "prefs carol -"))
    assert "refusal" not in kinds(writes(house, "carol", "back carol -"))
    assert kinds(writes(house, "carol", "prefs carol -")) == ["prefs"]


GMAIL = ("to", "subject", "message-id", "date", "from", "mime-version", "cc", "reply-to")
"""Headers that Gmail signs: neither Content-Type nor Content-Transfer-Encoding."""


def signed_once(house: Indoors, message_id: str = f"<m@{DOMAIN}>") -> bytes:
    """Return a message from alice to bob without a password, to be sent again."""
    raw = (
        f"From: {address_of('alice')}\r\nTo: {house.server.mail_domain.address}\r\n"
        "Subject: message alice - bob\r\nDate: Sun, 1 Mar 2026 12:00:00 +0000\r\n"
        f"Message-ID: {message_id}\r\n\r\nHello dear\r\n"
    )
    return signed(raw.encode(), DOMAIN, names=GMAIL)


@pytest.mark.parametrize(
    ("what", "into"),
    [
        (b"", b""),
        (b"<m@players.example>", b"<m@players.example>\x0c"),
        (b"Hello dear", b"Hello  dear"),
        (b"12:00:00 ", b"12:00:00\t "),
        (b"DKIM-Signature:", b"Content-Transfer-Encoding: base64\r\nDKIM-Signature:"),
        (b"DKIM-Signature:", b"Message-ID: <9@evil.example>\r\nDKIM-Signature:"),
    ],
)
def test_a_signed_mail_that_is_sent_again_has_no_second_effect(
    house: Indoors, what: bytes, into: bytes
) -> None:
    raw = signed_once(house)
    assert address_of("bob") in {letter.recipient for letter in house.send_raw("x@y.example", raw)}
    again = raw.replace(what, into, 1)
    assert again != raw or not what
    # With two Message-IDs it may be another mail, but nothing is proven by it.
    counted = kinds(house.send_raw("mallory@evil.example", again))
    assert counted == (["refusal"] if b"9@evil" in into else [])
    # What counted is known for good; what was refused is refused once more when its row has ended.
    house.live(days=400)
    assert kinds(house.send_raw("mallory@evil.example", again)) == counted


@pytest.mark.parametrize(
    "message_id",
    ["m@players.example", "<a>,<b>", ""],
)
def test_a_signed_mail_without_a_message_id_that_tells_copies_proves_nothing(
    house: Indoors, message_id: str
) -> None:
    (letter,) = house.send_raw(address_of("alice"), signed_once(house, message_id))
    assert letter.kind == "refusal"
    assert letter.recipient == address_of("alice")


def test_a_mail_with_the_message_id_of_another_changes_nothing(house: Indoors) -> None:
    assert house.send_raw(address_of("alice"), signed_once(house))
    raw = signed_once(house).partition(b"From:")[2].replace(b"Hello dear", b"Goodbye")
    assert not house.send_raw(address_of("alice"), signed(b"From:" + raw, DOMAIN, names=GMAIL))
    assert not house.send_raw(address_of("alice"), b"From:" + raw)


def test_signatures_of_other_servers_prove_the_sender(house: Indoors) -> None:
    providers = (
        GMAIL,
        ("from", "date", "subject", "message-id", "content-type", "mime-version", "to", "cc"),
        ("from", "content-type", "mime-version", "subject", "message-id", "date", "to"),
        (
            "date",
            "to",
            "from",
            "subject",
            "references",
            "from",
            "subject",
            "reply-to",
            "message-id",
        ),
    )
    for number, names in enumerate(providers):
        raw = (
            f"From: Alice <{address_of('alice')}>\r\nTo: {house.server.mail_domain.address}\r\n"
            "Subject: prefs alice\r\nDate: Sun, 1 Mar 2026 12:00:00 +0000\r\n"
            f"Message-ID:\r\n <CAF+x={number}@mail.{DOMAIN}>\r\nMIME-Version: 1.0\r\n"
            "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        )
        letters = house.send_raw(address_of("alice"), signed(raw.encode(), DOMAIN, names=names))
        assert kinds(letters) == ["prefs"]


def test_a_signed_mail_does_not_work_at_another_of_our_addresses(house: Indoors) -> None:
    (letter, *_) = writes(house, "bob", "showas bob - 1")
    raw = signed(
        f"From: {address_of('alice')}\r\nTo: {house.server.mail_domain.address}\r\n"
        f"Subject: x\r\nMessage-ID: <x@{DOMAIN}>\r\n\r\nprefs alice - tz=Asia/Tokyo\r\n".encode(),
        DOMAIN,
    )
    letters = house.send_raw("mallory@evil.example", raw, letter.reply_to)
    assert "refusal" in kinds(letters)


# -- what is kept of it ----------------------------------------------------------------------


def test_a_disowned_mail_is_turned_away_at_the_door_unless_its_address_says_enough(
    tmp_path: Path,
) -> None:
    zone = Zone()
    zone.add_txt(f"_dmarc.{DOMAIN}", "v=DMARC1; p=reject")
    with indoors(tmp_path, names=zone) as house:
        house.sign_up("alice", "bob")
        (letter, *_) = house.send(address_of("alice"), f"showas alice {PASSWORD}")
        raw = (
            f"From: {address_of('alice')}\r\nTo: x@y.example\r\nSubject: games\r\n"
            "Message-ID: <7@x>\r\n\r\ngames\r\n"
        ).encode()
        evil = ("mallory@evil.example", "198.51.100.66", "evil.example")

        def handed_in(to: str) -> str:
            return house.hand_in(Envelope(evil[0], to, raw, evil[1], evil[2]))

        assert handed_in(house.server.mail_domain.address).startswith("550 5.7.26 ")
        assert not house.letters()  # the address in From may never have written to us
        assert handed_in(letter.reply_to).startswith("250 ")
        assert kinds(house.letters()) == ["games"]


def test_copies_of_an_unreadable_mail_are_copies_once_it_can_be_read(
    house: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:

    from pbmserv.service.mails import incoming
    from pbmserv.service.operators.kept_mails import KeptMails

    server = house.server

    def breaks(*_: object, **__: object) -> None:
        raise RecursionError

    raw = signed_once(house)
    with monkeypatch.context() as broken:
        broken.setattr(incoming, "read_mail", breaks)
        assert not house.send_raw(address_of("alice"), raw)
        assert not house.send_raw("m@evil.example", raw.replace(b"12:00:00 ", b"12:00:00  "))
    kept_mails = KeptMails(
        server.database,
        server.parser.parse,
        server.play_stage.retry,
        house.operators,
    )
    from pbmserv.service.operators.deeds import Signature

    signed = Signature("olga", "mended")
    first, second = kept_mails.list()
    assert "is carried out" in kept_mails.retry(first.id, signed)
    assert house.letters()
    kept_mails.retry(second.id, signed)
    assert not house.letters()
    assert not kept_mails.list()
    assert not house.send_raw("m@evil.example", raw.replace(b"Hello dear", b"Hello  dear"))


@pytest.mark.parametrize("alice_plays", [False, True])
def test_nobody_is_rated_for_a_board_that_they_never_played_at(
    house: Indoors, alice_plays: bool
) -> None:
    from pbmserv.service.ratings.rebuilding import check
    from pbmserv.store import ratings

    writes(house, "alice", "blackbox challenge alice bob", sign=False)
    house.send(address_of("bob"), f"blackbox move 1 bob {PASSWORD} a1,b2,c3,d4")
    if alice_plays:
        house.send(address_of("alice"), f"blackbox move 1 alice {PASSWORD} a1,b2,c3,d4")
        for port in "abcdefg":  # what is given up in the opening is rated for nobody
            for player in ("alice", "bob"):
                house.send(address_of(player), f"blackbox move 1 {player} {PASSWORD} {port}")
    house.send(address_of("bob"), f"blackbox resign 1 bob {PASSWORD}")
    database = house.server.database
    with database.reading.connect() as connection:
        rated = ratings.of_boards(connection, [1]).get(1, [])
    assert len(rated) == (2 if alice_plays else 0)
    assert not check(database).differences


@rows(
    ("subject",),
    [
        ("liar challenge alcie Tiger-Lily bob bob",),
        ("challenge alcie tiger-lily bob bob",),
        ("games alcie tiger-lily",),
        ("show alcie tiger-lily all",),
        ("ratings alcie tiger-lily bob",),
        ("blackbox preview 1 alcie Tiger-Lily a",),
        ("blackbox preview 99 alice Tiger-Lily a",),
        ("blackbox move 99 alice Tiger-Lily a",),
        ("league alice Tiger-Lily join blackbox",),
    ],
)
def test_a_password_in_a_wrong_place_is_not_repeated(house: Indoors, subject: str) -> None:
    letters = writes(house, "alice", subject)
    assert "tiger" not in refusal(letters).lower()
    assert "tiger" not in letters[0].subject.lower()


@pytest.mark.parametrize("subject", ["preview 1 craol Tiger-Lily a", "preview 1 me Tiger-Lily a"])
def test_a_password_behind_no_players_name_is_not_repeated(house: Indoors, subject: str) -> None:
    words = refusal(writes(house, "carol", f"blackbox {subject}"))  # she never sat at a board
    assert "tiger" not in words.lower()
    assert "needs neither userid nor password" in words


def test_misspelt_names_among_players_are_repeated(house: Indoors) -> None:
    assert "You wrote: games alcie bob" in refusal(writes(house, "alice", "games alcie bob"))
