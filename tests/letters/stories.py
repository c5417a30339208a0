"""Stories whose mails and days bring a letter of every kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from blackbox_alone import every_game
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from seating import gather_team

from pbmserv.engine import registry
from pbmserv.mail.envelope import Envelope
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.service.operators import boards, merging, people, ratings
from pbmserv.service.operators.announcements import announce
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.lost_mailboxes import rename
from pbmserv.service.schedule.announcer import Announcer
from pbmserv.store.boards.game_pauses import Stop

ALICE, BOB, CAROL, DAVE = map(address_of, ("alice", "bob", "carol", "dave"))
HOME, PHONE = "alice@home.example", "alice@phone.example"
SMALL = "-size=2x2 -atoms=1"
LONG = "an-old-friend-of-you"
LONGER = (LONG, "a-friend-of-a-friend", "and-one-more-of-them")
TWENTY_SIX = "-size=26x26 -atoms=40 -fair"

Story = Callable[[Path], Iterator[Posted]]


def _to(letters: list[Posted], address: str) -> Posted:
    """The newest of the letters to *address*."""
    return [letter for letter in letters if letter.recipient == address][-1]


def signing_up(folder: Path) -> Iterator[Posted]:
    """Accounts and forgotten passwords, help, and mails that cannot be understood."""
    with indoors(folder, signup="confirm") as server:
        (letter,) = server.send(ALICE, f"signup alice {PASSWORD}")
        yield letter
        yield from server.reply(letter, "yes")
        (unwanted,) = server.send(BOB, f"signup bob {PASSWORD}")
        yield from server.reply(unwanted, "reject")
        yield from server.send(BOB, f"signup bobby {PASSWORD} bob@a.example bob@b.example")
        yield from server.send(BOB, f"signup alice {PASSWORD}")
        yield from server.send(CAROL, "I want to play")
        (waiting,) = server.send(DAVE, "blackbox challenge dave alice")
        yield waiting
        yield from server.send(DAVE, f"signup dave {PASSWORD}")
        yield from server.reply(waiting, "yes")
        yield from server.send(BOB, "forgot alice")
        (reset,) = server.send(ALICE, "forgot alice")
        yield reset
        yield from server.reply(reset, "password another-word")
        yield from server.send(ALICE, "forgot nobody-at-all")
        yield from server.send(ALICE, "whoami")
        yield from server.send(ALICE, "whoami alice another-word")
        yield from server.send(ALICE, "blackbox mvoe 12 alice")
        yield from server.send(ALICE, "blackbox games alice")
        for subject in ("", "tutorial", "blackbox", "nonsense", "change password"):
            yield from server.send(ALICE, f"help {subject}")


def shut(folder: Path) -> Iterator[Posted]:
    """A server that takes no new players."""
    with indoors(folder, signup="closed") as server:
        yield from server.send(CAROL, "I want to play")


def playing(folder: Path) -> Iterator[Posted]:
    """Boards from the challenge to the end, and several commands in one mail."""
    with indoors(folder) as server:
        server.sign_up("alice", "bob", "carol", *LONGER)
        yield from server.send(ALICE, "list")
        yield from server.send(ALICE, f"message alice {PASSWORD} bob carol", "Good morning!")
        challenge, own = server.send(ALICE, "blackbox challenge bob alice -atoms=2-5 -clue", "Tea?")
        yield from (challenge, own)
        yield from server.reply(own, "chat\nStill there?")
        yield from server.reply(challenge, "accept\nWith pleasure.")
        yield from server.reply(challenge, "b3,d3")
        yield from server.reply(own, "b3,d3,e5\n\nGood luck!")
        yield from server.reply(challenge, "b3,d3")
        yield from server.send(BOB, f"blackbox move 1 bob {PASSWORD} g,+b2", "My first.")
        yield from server.send(BOB, f"blackbox move 1 bob {PASSWORD} +b7,!c", "Hm.")
        yield from server.send(CAROL, "blackbox show 1#2")
        yield from server.send(CAROL, "blackbox games alice bob")
        yield from server.send(
            ALICE,
            "multiple",
            f"blackbox showas alice {PASSWORD} 1\nlist\nmvoe 3\nhelp\nblackbox games alice\n"
            f"blackbox show 1\nblackbox challenge alice carol\nforgot alice\n"
            f"message alice {PASSWORD} bob",
        )
        yield from server.send(BOB, f"blackbox give 1 bob {PASSWORD} 3d", "Take your time.")
        yield from server.send(BOB, f"blackbox resign 1 bob {PASSWORD}")
        yield from server.send(CAROL, "blackbox show 1")
        yield from server.send(CAROL, f"blackbox reject 2 carol {PASSWORD}")
        yield from server.send(ALICE, f"blackbox resign 1 alice {PASSWORD}")
        yield from server.send(ALICE, "blackbox games alice all")
        yield from _long_names(server)


def _long_names(server: Indoors) -> Iterator[Posted]:
    long = address_of(LONG)
    yield from server.send(long, f"blackbox challenge {LONG} bob {TWENTY_SIX}")
    yield from server.send(long, f"blackbox move 3 {LONG} {PASSWORD} " + "a1," * 200)
    yield from server.send(BOB, f"blackbox games {' '.join(LONGER)} all")
    yield from server.send(BOB, f"message bob {PASSWORD} {' '.join(LONGER)}", "To all.")
    yield from server.send(ALICE, "multiple", "show " + "x" * 300 + "\nhelp " + "y z " * 99)
    yield from server.send(ALICE, "q" * 300)
    yield from server.send(
        long, f"blackbox challenge {LONGER[0]} {LONGER[1]} -guesses=1", "Now we two."
    )
    for opponent in (*LONGER[1:], "alice", "carol") * 2:
        server.send_unread(long, f"blackbox challenge {LONG} {opponent} {SMALL}")
    server.send_unread(ALICE, f"blackbox challenge alice {LONG} {SMALL}")
    server.drop_letters()
    yield from server.send(BOB, f"blackbox games {LONG}")
    yield from server.send(BOB, f"blackbox show {LONG}")
    yield from server.send(long, f"change password {LONG} {PASSWORD} new-word")


def addresses(folder: Path) -> Iterator[Posted]:
    """Letters go to another mailbox, or stay where they are."""
    with indoors(folder) as server:
        server.sign_up("alice", "bob")
        yield from server.send(ALICE, "blackbox challenge alice bob")
        letters = server.send(ALICE, f"change address alice {PASSWORD} {PHONE} {HOME}")
        yield from letters
        yield from server.reply(_to(letters, PHONE), "reject")
        yield from server.reply(_to(letters, HOME), "yes")
        letters = server.send(HOME, f"change address alice {PASSWORD} {ALICE}")
        yield from letters
        yield from server.reply(_to(letters, HOME), "reject")


def preferring(folder: Path) -> Iterator[Posted]:
    """Preferences, absence, news from the operators, and leaving."""
    with indoors(folder, operators="olga") as server:
        server.sign_up("alice", "bob", "carol", "olga", *LONGER)
        yield from server.send(ALICE, f"prefs alice {PASSWORD}")
        yield from server.send(ALICE, f"blackbox seek alice {PASSWORD} {TWENTY_SIX} -clue")
        yield from server.send(
            ALICE,
            f"prefs alice {PASSWORD} digest=daily@07:30 tz=America/Argentina/ComodRivadavia "
            f"remind=30d,7d,12h,night accept=none broadcast=on block={','.join(LONGER)}",
        )
        yield from server.send(BOB, f"prefs bob {PASSWORD} remind=off broadcast=on tz=Asia/Tokyo")
        (letter,) = server.send(address_of("olga"), f"broadcast olga {PASSWORD}", "Down on Sunday.")
        yield letter
        yield from server.reply(letter, "yes")
        yield from server.send(BOB, f"broadcast bob {PASSWORD}", "Buy my tomatoes!")
        yield from _without_html(server, *LONGER[1:])
        yield from server.send(BOB, "blackbox challenge bob carol")
        yield from server.send(BOB, f"blackbox move 2 bob {PASSWORD} b3,d3,a1,f2")
        yield from server.send(CAROL, f"blackbox move 2 carol {PASSWORD} b3,d3,a1,f2")
        yield from server.send(ALICE, f"away alice {PASSWORD} until 2026-03-30")
        yield from server.send(ALICE, f"away alice {PASSWORD} until today")
        yield from server.send(ALICE, f"back alice {PASSWORD}")
        (letter,) = server.send(ALICE, "Out of office: hello", "I am on holiday.")
        yield letter
        yield from server.reply(letter, "next month some time")
        yield from server.send(ALICE, f"export alice {PASSWORD}")
        (letter,) = server.send(CAROL, f"signoff carol {PASSWORD}")
        yield letter
        yield from server.reply(letter, "I am not sure")
        yield from server.reply(letter, "no")
        (letter,) = server.send(CAROL, f"signoff carol {PASSWORD}")
        yield from server.reply(letter, "yes")
        (letter,) = server.send(BOB, f"delete bob {PASSWORD}")
        yield letter
        yield from server.reply(letter, "yes")


def _without_html(server: Indoors, plain: str, spoken: str) -> Iterator[Posted]:
    """A board of two who want plain text, one of them to be read aloud."""
    for userid, form in ((plain, "text"), (spoken, "spoken")):
        yield from server.send(address_of(userid), f"prefs {userid} {PASSWORD} format={form}")
    yield from server.send(address_of(plain), f"blackbox challenge {plain} {spoken}")
    for userid, move in ((plain, "b3,d3,a1,f2"), (spoken, "c3,b5,e5,g6"), (plain, "3,+b2")):
        yield from server.send(address_of(userid), f"blackbox move 1 {userid} {PASSWORD} {move}")
    yield from server.send(address_of(spoken), f"blackbox resign 1 {spoken} {PASSWORD}")


def planning(folder: Path) -> Iterator[Posted]:
    """Moves that are queued, tried out, looked at and taken back."""
    with indoors(folder) as server:
        server.sign_up("alice", "bob", "carol")
        server.send(ALICE, "blackbox challenge alice bob")
        server.send(ALICE, f"blackbox move 1 alice {PASSWORD} b3,d3,a1,f2")
        server.send(BOB, f"blackbox move 1 bob {PASSWORD} c3,b5,e5,g6")
        on = f"1 bob {PASSWORD}"
        plan = "3 if #: (c,+a1 if 5=#: d else 14) else if 1=8: (j; k,+b2,+b3; l,+c2) else e,-a1"
        yield from server.send(BOB, f"blackbox queue {on} {plan}")
        yield from server.send(BOB, f"blackbox queue {on} -")
        yield from server.send(BOB, f"blackbox note {on} alice likes corners")
        yield from server.send(BOB, f"blackbox queue {on} 3; 3; 5")
        for move in ("3", "5", "14"):
            yield from server.send(ALICE, f"blackbox move 1 alice {PASSWORD} {move}")
        yield from server.send(BOB, f"blackbox queue {on} {plan.removeprefix('3 ')}")
        yield from server.send(BOB, f"blackbox move {on} +b3,+d3")
        yield from server.send(BOB, f"blackbox undo {on}")
        yield from server.send(BOB, f"blackbox check {on}")
        (draft,) = server.send(BOB, f"blackbox submit {on} 1,+a7")
        yield draft
        yield from server.send(CAROL, "blackbox preview 1 +b2,/a1")
        (tried,) = server.reply(draft, "preview 7,+b2")
        yield tried
        yield from server.reply(draft, "confirm")
        yield from server.send(ALICE, f"blackbox submit 1 alice {PASSWORD} +a1,+a2,+a3,+a4,?")
        yield from server.send(
            BOB, "multiple", f"blackbox check {on}\nblackbox queue {on} 7\nblackbox preview 1 a"
        )


def rated(folder: Path) -> Iterator[Posted]:
    """Opponents who were looked for, followers, and what is kept of finished games."""
    with indoors(folder) as server:
        server.sign_up("alice", "bob", "carol", "dave")
        for looking in ("standings", "history alice", "games alice"):
            yield from server.send(DAVE, f"blackbox {looking}")
        for words in ("", "off", ""):
            yield from server.send(ALICE, f"blackbox seek alice {PASSWORD} {words}".strip())
        yield from server.send(DAVE, "blackbox games alice")
        yield from server.send(BOB, f"blackbox seek bob {PASSWORD}")
        yield from server.send(CAROL, f"subscribe 1 carol {PASSWORD}")
        yield from server.send(DAVE, f"notify 1 dave {PASSWORD}")
        for userid in ("alice", "bob"):
            yield from server.send(
                address_of(userid), f"blackbox move 1 {userid} {PASSWORD} b3,d3,a1,f2"
            )
        for userid in ("alice", "bob"):  # lots were drawn who is first
            yield from server.send(address_of(userid), f"blackbox move 1 {userid} {PASSWORD} 3")
        yield from server.send(BOB, f"blackbox resign 1 bob {PASSWORD}", "Too strong for me.")
        yield from server.send(CAROL, f"prefs carol {PASSWORD} accept=auto")
        yield from server.send(BOB, f"blackbox rematch 1 bob {PASSWORD}", "Once more?")
        yield from server.send(DAVE, f"subscribe 2 dave {PASSWORD}")
        yield from server.send(CAROL, f"notify 2 carol {PASSWORD}")
        yield from server.send(DAVE, f"unsubscribe 2 dave {PASSWORD}")
        yield from server.send(ALICE, f"blackbox reject 2 alice {PASSWORD}")
        yield from server.send(BOB, "blackbox challenge bob carol", "At once!")
        yield from server.send(BOB, f"friends bob {PASSWORD}")
        for subject in ("standings", "ratings", "ratings alice", "history bob", "record 1"):
            yield from server.send(BOB, f"blackbox {subject}")


def waiting(folder: Path) -> Iterator[Posted]:
    """Reminders, one mail a day, and games that end because nobody moves."""
    with indoors(folder) as server:
        server.sign_up("alice", "bob", "carol", "dave", LONG)
        server.send(ALICE, f"blackbox challenge alice bob {SMALL}")
        server.send(ALICE, f"blackbox move 1 alice {PASSWORD} a1")
        server.send(BOB, f"blackbox move 1 bob {PASSWORD} b2")
        server.send(CAROL, f"subscribe 1 carol {PASSWORD}")
        server.send(BOB, f"prefs bob {PASSWORD} digest=daily@07:30 tz=Europe/Berlin")
        yield from server.send(ALICE, f"blackbox challenge alice dave {SMALL} --nagtime=2")
        yield from server.send(
            address_of(LONG),
            f"blackbox challenge {LONG} bob -fair -clue --nagtime=2 --forfeittime=4",
            "Shall we?",
        )
        server.send(CAROL, "blackbox challenge bob carol")
        server.send(CAROL, "blackbox challenge bob carol")
        server.send(CAROL, f"blackbox challenge carol dave {SMALL} --nagtime=2")
        server.send(CAROL, f"blackbox reject 4 carol {PASSWORD}", "Too many games.")
        server.send(CAROL, f"blackbox chat 5 carol {PASSWORD}", "Take your time.")
        server.send(CAROL, f"message carol {PASSWORD} bob", "How are you?\n\nI am well.")
        server.send(ALICE, f"blackbox move 1 alice {PASSWORD} 1", "Begun!")
        (tray,) = server.live(hours=19)
        yield tray
        yield from server.reply(tray, "1: 2\n5: accept\n3: chat Later, perhaps.\n9: show\nb2")
        yield from server.live(days=1)
        server.send(CAROL, f"message carol {PASSWORD} bob", "Still there?")
        for _ in range(6):
            yield from server.live(days=4)


def operating(folder: Path) -> Iterator[Posted]:
    """Letters to players about operators' changes of boards and accounts."""
    with indoors(folder) as server:
        server.sign_up("alice", "bob", "carol", "dave")
        for players in ("alice bob", "alice carol", "bob carol"):
            server.send(address_of(players.split()[0]), f"blackbox challenge {players} {SMALL}")
        signed = Signature("olga", "Both asked for it.")
        for deed in (
            partial(boards.set_deadline, number=1, times=["--totaltime=60"]),
            partial(boards.hand_over, number=1, old="bob", new="dave"),
            partial(ratings.set_rated, number=2, rated=True),
            partial(boards.end_board, number=3),
            partial(people.suspend, userid="carol", end_games=False),
            partial(people.restore, userid="carol"),
            partial(merging.merge, userid="carol", into="dave"),
        ):
            server.operators.do(signed, deed)
            yield from server.letters()
        server.operators.do(signed, partial(rename, userid="alice", new="alicia"))
        yield from server.letters()
        play = server.server.play_stage
        for is_service in (False, True):
            text = f"We move on Sunday.\n\nNo clock runs meanwhile ({is_service})."
            deed = partial(announce, title="We move", text=text, is_service=is_service)
            server.operators.do(signed, deed)
            Announcer(play.services, play.game, play.writer, play.clock, int).run_once()
            yield server.letters()[0]


def begun(server: Indoors, sender: str, subject: str, words: str = "") -> Iterator[Posted]:
    """A board that a mail asks for which proves nothing, and the yes to the letter that asks."""
    (question,) = server.send(sender, subject, words)
    yield question
    yield from server.reply(question, "yes")


def racing(folder: Path) -> Iterator[Posted]:
    """Solo games, a race of three to its end, and the lists of the best."""
    with indoors(folder) as server:
        server.sign_up("alice", "bob", "carol")
        yield from begun(server, ALICE, "blackbox solo alice -size=2x2 -atoms=4")
        yield from server.send(ALICE, f"blackbox hint 1 alice {PASSWORD}")
        yield from server.send(ALICE, f"blackbox move 1 alice {PASSWORD} a,+a1,+a2,+b1,+b2,?")
        yield from server.send(ALICE, "blackbox scores")
        yield from server.send(
            ALICE,
            "blackbox challenge alice bob carol -race -scoring=timed -guesses=2 -seed=tea -size=5x5"
            " -atoms=4",
        )
        for userid, move in (("alice", "1"), ("bob", "a,+b2,!c3"), ("carol", "5")):
            line = f"blackbox move 2 {userid} {PASSWORD} {move}"
            yield from server.send(address_of(userid), line)
        yield from server.send(BOB, f"blackbox solve 2 bob {PASSWORD}")
        yield from server.send(BOB, f"blackbox move 2 bob {PASSWORD} 3")
        yield from server.send(BOB, "blackbox show 2")
        for move in ("+a1,+b2,+c3,+d4,?", "?"):
            yield from server.send(CAROL, f"blackbox move 2 carol {PASSWORD} {move}")
        (ended,) = server.send(ALICE, f"blackbox solve 2 alice {PASSWORD}")[:1]
        yield ended
        yield from server.reply(ended, "report")
        server.live(days=1)
        yield from begun(server, ALICE, "blackbox replay 2 alice")
        yield from begun(server, ALICE, "blackbox solo alice -practice")
        (question,) = server.send(ALICE, "blackbox solo alice")
        yield from server.reply(question, "no")
        (saved,) = server.send(ALICE, f"blackbox save 4 alice {PASSWORD}")
        yield saved
        yield from server.send(ALICE, f"blackbox daily alice {PASSWORD} 07:30")
        yield from server.send(ALICE, f"blackbox solve 5 alice {PASSWORD}")
        yield from server.send(ALICE, "blackbox week")
        yield from server.send(ALICE, f"blackbox daily alice {PASSWORD} off")
        for command in ("undo", "restart"):
            yield from server.send(ALICE, f"blackbox {command} 4 alice {PASSWORD}")
        file = next(saved.message.iter_attachments())
        yield from server.send(
            ALICE,
            f"blackbox load alice {PASSWORD}",
            file.get_content(),
            Content_Disposition="attachment; filename=game.txt",
        )


def sending_too_much(folder: Path) -> Iterator[Posted]:
    """Mails are put off, and answers that lead nowhere come to an end."""
    with indoors(folder, rate_player="2/hour", rate_refusals="3/hour") as server:
        server.sign_up("alice")
        for number in range(2):
            server.send(ALICE, f"prefs alice {PASSWORD}", f"{number}")
        raw = f"From: {ALICE}\r\nSubject: prefs alice {PASSWORD}\r\n\r\n2".encode()
        envelope = Envelope(ALICE, server.server.mail_domain.address, raw)
        answer = server.hand_in(envelope)
        assert answer.startswith("250")  # whose mail it is was found out when it was carried out
        yield from server.letters()
        for number in range(3):
            letters = server.send(ALICE, f"nonsense {number}")
        yield from letters
        assert server.send(ALICE, "nonsense 4") == []


def coming_back(folder: Path) -> Iterator[Posted]:
    """Letters that come back: to another address, to nobody, and after all to their reader."""
    with indoors(folder) as server:
        server.sign_up("alice", "bob", "carol", LONG)
        letters = server.send(ALICE, f"change address alice {PASSWORD} {ALICE} {PHONE}")
        server.reply(_to(letters, PHONE), "yes")
        for opponent in ("bob", LONG):
            server.send(ALICE, f"blackbox challenge alice {opponent} {SMALL}")
        for number in range(4):
            server.send(BOB, f"message bob {PASSWORD} carol", "Have you heard of alice?")
            (letter, _) = server.send(BOB, f"message bob {PASSWORD} alice", f"Hello {number}!")
            letter = _to([letter, _], ALICE if number < 2 else PHONE)
            yield from _comes_back(server, letter)
            server.live(days=1)
        yield from server.send(BOB, f"blackbox challenge bob alice {SMALL}")
        yield from server.send(BOB, f"blackbox chat 1 bob {PASSWORD}", "Hello?")
        yield from server.send(BOB, f"message bob {PASSWORD} alice carol", "Hello?")
        server.send(BOB, f"blackbox reject 1 bob {PASSWORD}", "Where are you?")
        yield from server.send(PHONE, f"prefs alice {PASSWORD}")
        yield from server.send(BOB, "resign", to=_envelope_sender(server, letter))
        (letter,) = server.send(BOB, f"prefs bob {PASSWORD}")
        yield from server.send(BOB, "resign", to=_envelope_sender(server, letter))


def inviting(folder: Path) -> Iterator[Posted]:
    """Friends who are no players yet are invited: one comes, one does not, one has no mailbox."""
    with indoors(folder) as server:
        server.sign_up("alice", "bob")
        invitations: dict[str, Posted] = {}
        for friend, words in (
            ("carol dora@far.example", "Do you remember the marbles?"),
            ("erik@far.example -size=5x5", "See https://far.example"),
            ("nowhere@far.example", ""),
        ):
            line = f"blackbox challenge alice {PASSWORD} {friend}"
            letters = server.send(ALICE, line, words)
            invitations |= {
                letter.recipient: letter for letter in letters if letter.kind == "invitation"
            }
            yield from letters
        for friend, words in (("dora", "yes"), ("erik", "no"), ("erik", "never"), ("dora", "yes")):
            yield from server.reply(invitations[f"{friend}@far.example"], words)
        yield from _comes_back(server, invitations["nowhere@far.example"])
        yield from server.send(BOB, f"blackbox challenge bob {PASSWORD} erik@far.example")


def stopping(folder: Path) -> Iterator[Posted]:
    """Blackbox hangs twice."""
    with indoors(folder) as server:
        server.sign_up("alice", "bob")
        server.send(BOB, f"blackbox challenge bob {PASSWORD} alice")
        now = server.server.clock.now()
        stops = [Stop(str(n), "blackbox", now, "play", "rays.py, line 3") for n in range(2)]
        server.server.play_stage.note_stops(stops)
        yield from server.letters()


def unsubscribing(folder: Path) -> Iterator[Posted]:
    """Alice presses the button that her mail program shows beside each kind of letter."""
    with indoors(folder, operators="bob", web_url="https://games.example") as server:
        server.sign_up("alice", "bob")
        server.send(ALICE, f"prefs alice {PASSWORD} remind=2d")
        letters = server.send(BOB, "blackbox challenge bob alice")
        letters += server.send(ALICE, f"blackbox daily alice {PASSWORD} 07:30")
        (question,) = server.send(BOB, f"broadcast bob {PASSWORD}", "Tea at five.")
        letters += server.reply(question, "yes")
        for letter in letters:
            way_out = re.search(r"<mailto:([^?>]+)", str(letter.message["List-Unsubscribe"]))
            if way_out is not None:
                yield from server.send(ALICE, "unsubscribe", to=way_out[1])
        server.loop.run_until_complete(server.server.web_requests.personal.ask_link("alice"))
        server.server.settle()
        yield from server.letters()


def climbing(folder: Path) -> Iterator[Posted]:
    """A ladder: places, challenges, movements, and long times of silence and of fame."""
    with indoors(folder) as server:
        server.sign_up("alice", "bob", "carol", LONG)
        for name in ("alice", "bob", "carol", LONG):
            yield from server.send(address_of(name), f"ladder join {name} {PASSWORD} blackbox")
        yield from server.send(ALICE, "ladder")
        yield from server.send(CAROL, f"ladder challenge carol {PASSWORD}", "For your place!")
        yield from server.send(CAROL, f"ladder challenge carol {PASSWORD} alice")
        yield from server.send(ALICE, f"blackbox resign 1 alice {PASSWORD}")
        yield from server.live(minutes=1)
        yield from server.send(BOB, f"ladder challenge bob {PASSWORD} alice")
        yield from server.send(BOB, f"blackbox move 2 bob {PASSWORD} b2,f4,c7,g2")
        yield from server.send(address_of(LONG), f"ladder leave {LONG} {PASSWORD}")
        yield from server.live(days=11)
        for _ in range(4):
            yield from server.send(CAROL, f"blackbox solo carol {PASSWORD} {SMALL}")
            yield from server.send(CAROL, f"ladder challenge carol {PASSWORD}")
            yield from server.live(days=24)


def _envelope_sender(server: Indoors, letter: Posted) -> str:
    about = ReplyAddress(Purpose.BOUNCE, about=letter.id)
    return server.server.mail_domain.address_of(about)


def _comes_back(server: Indoors, letter: Posted) -> list[Posted]:
    lines = [
        *("From: MAILER-DAEMON@mx.example", f"X-Number: {letter.id}"),
        *("Content-Type: message/delivery-status", "", "Reporting-MTA: dns; mx.example", ""),
        *(f"Final-Recipient: rfc822; {letter.recipient}", "Action: failed", "Status: 5.1.1"),
        f"Diagnostic-Code: smtp; 550 5.1.1 <{letter.recipient}>: no such user, {'see also ' * 30}",
    ]
    return server.send_raw("", "\r\n".join(lines).encode(), _envelope_sender(server, letter))


def holding_events(folder: Path) -> Iterator[Posted]:
    """A season of a league: its entries, its begin, a player who leaves, and its table."""
    with indoors(folder) as server:
        names = ("alice", "bob", "carol", "dave")
        server.sign_up(*names)
        yield from server.send(ALICE, "events")
        for name in names:
            yield from server.send(address_of(name), f"league {name} {PASSWORD} join blackbox")
        yield from server.send(ALICE, "events")
        for _ in range(4):
            yield from server.live(days=4)
        yield from server.send(BOB, f"event bob {PASSWORD} leave 1")
        for board in (2, 4, 5):
            name = "dave" if board > 2 else "carol"
            yield from server.send(address_of(name), f"blackbox resign {board} {name} {PASSWORD}")
        yield from server.live(days=1)
        yield from server.send(ALICE, "events 1")
        for days in (4, 1):  # a Monday, with the table in the digest
            yield from server.live(days=days)


def gathering_a_team(folder: Path) -> Iterator[Posted]:
    """A team: invitations, words, an order, and its captains."""
    with indoors(folder) as server:
        server.sign_up("alice", "bob", "carol", "dave")
        yield from server.send(ALICE, "teams")
        yield from server.send(ALICE, f"blackbox solo alice {PASSWORD} {SMALL}")
        yield from server.send(ALICE, f"blackbox move 1 alice {PASSWORD} a")
        yield from server.send(ALICE, f"blackbox resign 1 alice {PASSWORD}")
        yield from server.send(ALICE, f"team alice {PASSWORD} create Red Rooks")
        invited = server.send(ALICE, f"team alice {PASSWORD} invite bob carol dave")
        yield from invited
        yield from server.send(BOB, f"team bob {PASSWORD}")
        yield from server.reply(_to(invited, BOB), "yes")
        yield from server.reply(_to(invited, CAROL), "yes")
        yield from server.reply(_to(invited, DAVE), "no")
        yield from server.send(ALICE, f"team alice {PASSWORD} order bob carol alice")
        yield from server.send(BOB, f"team chat bob {PASSWORD}", "I begin!")
        yield from server.send(BOB, f"team bob {PASSWORD} letters off")
        yield from server.send(ALICE, f"team alice {PASSWORD} captain bob")
        yield from server.send(BOB, f"team bob {PASSWORD} remove carol")
        yield from server.send(CAROL, f"team carol {PASSWORD} show Red Rooks")
        yield from server.send(CAROL, "teams")
        yield from server.send(BOB, f"team bob {PASSWORD} leave")


def matching_teams(folder: Path) -> Iterator[Posted]:
    """Events of teams: one that a team leaves again, and a match to its end."""
    rooks, pawns = ("ann", "bob", "cleo", "dan"), ("finn", "gus", "hal", "ivy")
    with indoors(folder) as server:
        server.sign_up(*rooks, *pawns)
        gather_team(server.server, "Rooks", [1, 2, 3, 4])
        gather_team(server.server, "Pawns", [5, 6, 7, 8])
        ann = address_of("ann")
        _finish_a_game(server, "ann")
        yield from server.send(ann, f"team ann {PASSWORD} enter blackbox")
        yield from server.send(ann, f"team ann {PASSWORD} withdraw blackbox")
        create = 'create blackbox team "Office match" -entries=2'
        yield from server.send(ann, f"event ann {PASSWORD} {create}")
        yield from server.send(address_of("finn"), f"event finn {PASSWORD} join 2")
        yield from server.live(days=1)
        yield from server.send(ann, "events 2")
        for userid in pawns[:3]:
            (question,) = server.send(address_of(userid), f"signoff {userid} {PASSWORD}")
            yield from server.reply(question, "yes")
        for _ in range(4):  # the last one loses on time
            yield from server.live(days=10)


def _finish_a_game(server: Indoors, userid: str) -> None:
    """Play a game, so that the player may create events."""
    sender = address_of(userid)
    server.send(sender, f"blackbox solo {userid} {PASSWORD} {SMALL}")
    server.send(sender, f"blackbox move 1 {userid} {PASSWORD} a")
    server.send(sender, f"blackbox resign 1 {userid} {PASSWORD}")


def comparing(folder: Path) -> Iterator[Posted]:
    """A duplicate event whose boxes are not all finished when it ends."""
    with indoors(folder) as server:
        server.sign_up("alice", "bob")
        _finish_a_game(server, "alice")
        create = f'create blackbox duplicate "Same boxes" -boxes=2 -entries=2 {SMALL}'
        yield from server.send(ALICE, f"event alice {PASSWORD} {create}")
        invited = server.send(ALICE, f"event alice {PASSWORD} invite 1 bob")
        yield from invited
        yield from server.reply(_to(invited, BOB), "no")
        yield from server.reply(_to(invited, BOB), "yes")
        yield from server.live(hours=1)
        yield from server.send(ALICE, f"blackbox move 2 alice {PASSWORD} a")
        yield from server.send(BOB, f"blackbox resign 4 bob {PASSWORD}")
        for days in (10, 4):
            yield from server.live(days=days)


def comparing_games(folder: Path) -> Iterator[Posted]:
    """A duplicate event with the same deals against the house."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "announced", every_game)
        yield from _same_dice(folder)


def _same_dice(folder: Path) -> Iterator[Posted]:
    with indoors(folder) as server:
        server.sign_up("alice", "bob")
        _finish_a_game(server, "alice")
        create = 'create liar duplicate "Same dice" -games=1 -entries=2'
        yield from server.send(ALICE, f"event alice {PASSWORD} {create}")
        yield from server.send(BOB, f"event bob {PASSWORD} join 1")
        yield from server.live(hours=1)
        yield from server.send(ALICE, f"liar resign 2 alice {PASSWORD}")


STORIES: tuple[Story, ...] = (
    shut,
    signing_up,
    playing,
    addresses,
    preferring,
    planning,
    rated,
    waiting,
    operating,
    racing,
    sending_too_much,
    coming_back,
    inviting,
    stopping,
    unsubscribing,
    climbing,
    holding_events,
    comparing,
    comparing_games,
    gathering_a_team,
    matching_teams,
)
