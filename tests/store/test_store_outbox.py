"""The queue of letters: one worker at a time has a letter, and none is lost if it dies."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from running import MovableClock
from sqlalchemy import Connection, select

from pbmserv.engine.registry import Registry
from pbmserv.errors import MustWait, ServerFault
from pbmserv.letters.compose import Composer
from pbmserv.mail.key_ring import KeyRing
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.outbound.dkim import Signer
from pbmserv.outbound.outbox import Outbox
from pbmserv.outbound.outbox_writer import LEASE, DirectOutboxWriter
from pbmserv.outbound.relay import OutgoingLetter
from pbmserv.outbound.results import Failed, Later, Sent, Untried
from pbmserv.stages.current_work import CurrentWork
from pbmserv.store.boards.positions import Positions
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import Writer, open_writer
from pbmserv.store.delivery import bounces, outbox, unsent_letters
from pbmserv.store.delivery.letter_claims import (
    ClaimedLetter,
    claim,
)
from pbmserv.store.delivery.outbox import NewLetter
from pbmserv.store.delivery.shares import SHARES
from pbmserv.store.tables.mail import outbox as rows

PATIENCE_S = 60
MANY = 100


class Post:
    """One server's side of the queue, with its own connections, writer and worker."""

    def __init__(self, url: str, clock: MovableClock, by: str = "post1") -> None:
        self.database = Database(url)
        schema.prepare(self.database)
        self.writer: Writer = open_writer(self.database)
        registry = Registry.installed()
        house = MailDomain("pbmserv", "games.example", KeyRing({1: b"k" * 32}))
        self.watch = CurrentWork()
        composer = Composer(house, registry, Positions(registry), "")
        self.queue = Outbox(
            by,
            self.database,
            DirectOutboxWriter(self.writer, clock, lambda *refused: None),
            composer,
            Signer("games.example", ()),
            self.watch,
        )

    def post(self, count: int, clock: MovableClock) -> None:
        self.add([letter_to(f"p{n}") for n in range(count)], clock)

    def add(self, letters: Sequence[NewLetter], clock: MovableClock) -> None:
        def job(connection: Connection) -> None:
            outbox.add(connection, letters, clock.now())

        self.writer.submit(job).result(PATIENCE_S)

    def numbers(self) -> list[int]:
        """Return the numbers of all letters, in the order in which they were added."""
        with self.database.reading.connect() as connection:
            return list(connection.execute(select(rows.c.id).order_by(rows.c.id)).scalars())

    def number(self, place: int) -> int:
        """Return the number of the first, second … letter."""
        return self.numbers()[place - 1]

    def places(self, letters: Iterable[ClaimedLetter | OutgoingLetter]) -> list[int]:
        """Return which letters these are: 1 for the first that was added."""
        numbers = self.numbers()
        return [numbers.index(letter.id) + 1 for letter in letters]

    def states(self) -> Counter[str]:
        with self.database.reading.connect() as connection:
            return Counter(connection.execute(select(rows.c.state)).scalars())

    def close(self) -> None:
        self.writer.close()
        self.database.close()


def letter_to(
    userid: str, kind: str = "welcome", words: Mapping[str, object] | None = None
) -> NewLetter:
    """Return a new letter."""
    values = {"userid": userid, "has_password": True, **(words or {})}
    return NewLetter(kind, f"{userid}@players.example", values, f"<{userid}@games.example>")


def claimed(post: Post) -> list[int]:
    return post.places(post.queue.claim(MANY))


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def post(database_url: str, clock: MovableClock) -> Iterator[Post]:
    opened = Post(database_url, clock)
    yield opened
    opened.close()


def test_a_claimed_letter_is_due_again_when_its_worker_died(
    post: Post, clock: MovableClock
) -> None:
    post.post(3, clock)
    first = post.queue.claim(2)
    assert post.places(first) == [1, 2]
    assert post.places(post.queue.claim(2)) == [3]
    assert post.queue.claim(2) == []
    letters = post.queue.make(first[:1])  # they may have gone out
    assert post.queue.next_due() == clock.now() + LEASE

    clock.move(seconds=LEASE.total_seconds())
    again = post.queue.claim(9)
    assert post.places(again) == [1, 2, 3]
    assert post.queue.make(again[:1]) == letters
    assert [row.attempts for row in again] == [0, 0, 0]


def test_a_letter_does_not_wait_for_many_letters_to_another_reader(
    post: Post, clock: MovableClock
) -> None:
    new_letters = [letter_to("alice", "export") for _ in range(5)]
    several = {"lines": [{"parts": [{}] * 30}]}
    post.add([*new_letters, letter_to("carol", "summary", several), letter_to("bob")], clock)
    assert claimed(post) == [7, 6, 1]  # who has asked for least first
    clock.move(seconds=1)
    post.add([letter_to("bob"), letter_to("alice")], clock)
    assert claimed(post) == [8, 2]
    assert [claimed(post) for _ in range(3)] == [[3], [4], [5]]
    assert claimed(post) == [9]  # behind those before it to the same reader
    assert claimed(post) == []


def test_a_letter_does_not_wait_for_heavy_letters_to_many_readers(
    post: Post, clock: MovableClock
) -> None:
    post.add([letter_to(f"p{n}", "export") for n in range(12)], clock)
    post.add([letter_to("bob")], clock)
    assert claimed(post) == [13, 1]
    clock.move(seconds=1)
    post.add([letter_to("bob")], clock)
    assert claimed(post) == [14, 2]
    assert [claimed(post) for _ in range(11)] == [[n] for n in range(3, 13)] + [[]]


def test_an_opponent_gets_the_letter_about_a_move_just_before_its_player_gets_the_answer(
    post: Post, clock: MovableClock
) -> None:
    for player, opponent in (("alice", "bob"), ("bob", "carol")):
        answer = replace(letter_to(player), in_reply_to=f"<move-of-{player}@players.example>")
        post.add([answer, letter_to(opponent)], clock)
        clock.move(seconds=1)
    assert claimed(post) == [2, 1, 4, 3]


def test_a_letter_that_was_tried_may_have_been_read(post: Post, clock: MovableClock) -> None:
    """`undo` asks this; a relay may have passed on a letter although it did not say so."""
    news = letter_to("alice", "board")
    post.add([replace(news, board_id=1, ply=ply) for ply in (1, 2, 3)], clock)
    assert post.places(post.queue.claim(2)) == [1, 2]
    soon = clock.now() + timedelta(minutes=1)
    post.queue.settle([Later(post.number(1), soon, "451 greylisted")])

    def begun(connection: Connection) -> list[bool]:
        letters = unsent_letters.about(connection, 1, 0)
        return [letter.begun for letter in sorted(letters, key=lambda letter: letter.id)]

    assert post.writer.submit(begun).result(PATIENCE_S) == [True, True, False]
    clock.move(minutes=10)  # both are due again, since the sender of the second has died
    assert post.writer.submit(begun).result(PATIENCE_S) == [True, True, False]
    post.queue.release_lost(())  # by its successor
    assert post.writer.submit(begun).result(PATIENCE_S) == [True, True, False]


def test_every_result_of_a_letter(post: Post, clock: MovableClock) -> None:
    post.post(4, clock)
    post.queue.make(post.queue.claim(9))
    soon = clock.now() + timedelta(minutes=1)
    post.queue.settle(
        [
            Sent(post.number(1)),
            Later(post.number(2), soon, "451 greylisted"),
            Failed(post.number(3), "550 no"),
            Untried(post.number(4), soon, "the game is away"),
        ]
    )
    post.queue.settle([])
    post.queue.settle([Sent(77)])  # a letter that nobody knows is no error
    assert post.states() == {"sent": 1, "queued": 2, "failed": 1}
    assert post.queue.next_due() == soon
    clock.move(minutes=1)
    again = post.queue.claim(9)
    assert post.places(again) == [2, 4]
    assert [row.attempts for row in again] == [1, 0]

    def errors() -> Sequence[str]:
        with post.database.reading.connect() as connection:
            return connection.execute(select(rows.c.error).order_by(rows.c.id)).scalars().all()

    assert errors() == ["", "451 greylisted", "550 no", "the game is away"]
    post.queue.settle([Sent(post.number(2)), Sent(post.number(4))])
    assert post.queue.next_due() is None
    assert errors() == ["", "", "550 no", ""]


def test_a_letter_that_killed_a_process_waits_once_and_then_fails(
    post: Post, clock: MovableClock
) -> None:
    post.post(2, clock)
    claimed = post.queue.claim(9)
    post.watch.deaths.add(post.number(1))
    with pytest.raises(MustWait):
        post.queue.make(claimed)
    assert post.places(post.queue.make(claimed[1:])) == [2]
    post.queue.settle([Later(post.number(1), clock.now(), "set aside"), Sent(post.number(2))])
    (again,) = post.queue.claim(9)
    assert again.attempts == 1
    assert post.places(post.queue.make([again])) == [1]  # it has waited
    post.queue.settle([Later(post.number(1), clock.now(), "451")])

    post.post(1, clock)
    claimed = [row for row in post.queue.claim(9) if row.id == post.number(3)]
    post.watch.deaths.add(post.number(3))
    post.watch.deaths.add(post.number(3))
    with pytest.raises(ServerFault, match="stopped 2 times"):
        post.queue.make(claimed)


def test_two_servers_share_one_queue_and_no_letter_goes_out_twice(
    postgres_url: str, clock: MovableClock
) -> None:
    servers = [Post(postgres_url, clock, f"post{n}") for n in range(4)]
    servers[0].post(60, clock)
    sent: list[int] = []
    begin = threading.Barrier(4)

    def work(server: Post) -> None:
        begin.wait(PATIENCE_S)
        while claimed := server.queue.claim(7):
            letters = server.queue.make(claimed)
            sent.extend(letter.id for letter in letters)
            server.queue.settle([Sent(letter.id) for letter in letters])

    threads = [threading.Thread(target=work, args=(server,)) for server in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert sorted(sent) == servers[1].numbers()
    assert servers[1].states() == {"sent": 60}
    for server in servers:
        server.close()


def test_a_worker_skips_letters_that_another_one_is_claiming(
    postgres_url: str, clock: MovableClock
) -> None:
    """Without SKIP LOCKED the second claim would wait for the first commit."""
    server = Post(postgres_url, clock)
    server.post(4, clock)
    now = clock.now()
    until = now + LEASE
    with server.database.writing.begin() as first, server.database.writing.begin() as second:
        by_first = claim(first, most=2, by="one", now=now, until=until)
        by_second = claim(second, most=9, by="two", now=now, until=until)
        assert server.places(by_first) == [1, 2]
        assert server.places(by_second) == [3, 4]
    assert server.queue.claim(9) == []
    server.close()


def test_each_share_is_claimed_for_itself(postgres_url: str, clock: MovableClock) -> None:
    """A distributed PostgreSQL has each share on one node; a reader's letters are in one share."""
    server = Post(postgres_url, clock)
    server.post(40, clock)
    server.post(40, clock)
    now = clock.now()
    until = now + LEASE
    numbers: list[int] = []
    with server.database.writing.begin() as first, server.database.writing.begin() as second:
        for share in range(SHARES):
            by_first = claim(first, most=3, by="one", now=now, until=until, share=share)
            by_second = claim(second, most=80, by="two", now=now, until=until, share=share)
            readers = [letter.recipient for letter in (*by_first, *by_second)]
            assert all(readers.count(reader) == 2 for reader in readers)
            assert {letter.id % SHARES for letter in (*by_first, *by_second)} <= {share}
            numbers += [letter.id for letter in (*by_first, *by_second)]
    assert sorted(numbers) == server.numbers()
    assert server.queue.claim(9) == []
    server.close()


def test_a_process_gives_back_its_lost_letters_and_no_others(
    database_url: str, clock: MovableClock
) -> None:
    first, second = (Post(database_url, clock, by) for by in ("post1", "post2"))
    first.post(5, clock)
    assert first.places(first.queue.claim(3)) == [1, 2, 3]
    assert second.places(second.queue.claim(1)) == [4]
    # The second is in hand; the answer with the first and the third never came.
    first.queue.release_lost([first.number(2)])
    again = first.queue.claim(9)
    assert first.places(again) == [1, 3, 5]
    first.close()
    second.close()


def test_a_restart_sends_claimed_letters_and_no_postponed_ones(
    post: Post, clock: MovableClock
) -> None:
    """The copy of a letter that came back is for the next day; a restart must not send it now."""
    post.post(4, clock)
    post.queue.make(post.queue.claim(3))
    soon, tomorrow = clock.now() + timedelta(minutes=1), clock.now() + timedelta(days=1)
    post.queue.settle([Later(post.number(2), soon, "451 greylisted"), Sent(post.number(3))])
    with post.database.writing.begin() as connection:
        letter = bounces.lock_letter(connection, post.number(3))
        assert letter is not None
        bounces.send_later(connection, letter, tomorrow, clock.now())

    for _ in range(2):
        post.queue.release_lost(())
        assert post.places(post.queue.claim(9)) == [1, 4]
    post.queue.settle([Sent(post.number(1)), Sent(post.number(4))])
    assert post.queue.next_due() == soon
    post.queue.settle([Sent(post.number(2))])
    assert post.queue.next_due() == tomorrow


def test_a_letter_that_came_back_before_it_was_settled_stays_returned(
    post: Post, clock: MovableClock
) -> None:
    """The other server may report within milliseconds, before the sender settles the letter."""
    post.post(5, clock)
    post.queue.make(post.queue.claim(9))
    tomorrow = clock.now() + timedelta(days=1)
    with post.database.writing.begin() as connection:
        letters = [bounces.lock_letter(connection, number) for number in post.numbers()[:4]]
        for place, letter in enumerate(letters, 1):
            assert letter is not None
            bounces.note_reason(connection, letter, f"came back: {place}", clock.now())
        returned, again, _, late = filter(None, letters)
        bounces.hold(connection, returned)
        bounces.send_later(connection, again, tomorrow, clock.now())
        bounces.hold(connection, late)

    first, second, third, fourth, fifth = post.numbers()[:5]
    results = [Sent(first), Sent(second), Sent(third), Sent(fifth)]
    post.queue.settle([*results, Later(fourth, clock.now(), "421")])
    assert post.queue.claim(9) == []
    assert post.queue.next_due() == tomorrow  # the copy of the second one
    with post.database.reading.connect() as connection:
        columns = select(rows.c.state, rows.c.error).order_by(rows.c.id)
        assert [tuple(row) for row in connection.execute(columns)] == [
            ("returned", "came back: 1"),
            ("failed", "came back: 2"),
            ("sent", "came back: 3"),
            ("returned", "came back: 4"),
            ("sent", ""),
            ("queued", ""),
        ]


def test_a_lease_is_renewed_while_its_letter_is_in_hand(post: Post, clock: MovableClock) -> None:
    post.post(2, clock)
    post.queue.make(post.queue.claim(9))
    post.queue.settle([Sent(post.number(2))])
    for _ in range(3):
        clock.move(seconds=LEASE.total_seconds() - 1)
        post.queue.renew(post.numbers())
        assert post.queue.claim(9) == []
    post.queue.settle([Later(post.number(1), clock.now(), "421")])
    post.queue.renew(post.numbers()[:1])  # too late: it is somebody else's to take
    assert post.places(post.queue.claim(9)) == [1]
