"""Any subject and body gets one polite answer or silence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.header import Header

import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from indoors import PASSWORD, Indoors, address_of, indoors

from pbmserv.commands.table.catalogue import ROWS

pytestmark = pytest.mark.slow

STRANGER = "zoe@elsewhere.example"

words = st.one_of(
    st.sampled_from([name for row in ROWS for name in (*row.names, *row.synonyms)]),
    st.sampled_from(["blackbox", "alice", "bob", PASSWORD, "1", "12", "#1", "g,+b2", "-size=8x8"]),
    st.sampled_from(['"', "'", "„x“", "«x»", "#", "--", ">", "-- ", "multiple", "if", "else", ";"]),
    st.text(max_size=12),
)
lines = st.lists(words, max_size=8).map(" ".join)
subjects = st.one_of(st.text(max_size=200), lines)
bodies = st.one_of(st.text(max_size=400), st.lists(lines, max_size=12).map("\n".join))


@dataclass(frozen=True)
class Way:
    """A sender, and an address of the server to write to."""

    sender: str
    to: str


@dataclass(frozen=True)
class Ways:
    """A server whose players have boards and open questions, and the ways to write to it."""

    house: Indoors
    by_name: Mapping[str, Way]


def confirmed(house: Indoors, userid: str) -> None:
    (letter,) = house.send(address_of(userid), f"signup {userid} {PASSWORD}")
    house.reply(letter, "yes")


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ways]:
    with indoors(tmp_path_factory.mktemp("house"), signup="confirm") as house:
        for userid in ("alice", "bob", "carol"):
            confirmed(house, userid)
        (question,) = house.send(address_of("dora"), f"signup dora {PASSWORD}")
        board, _ = house.send(address_of("alice"), "blackbox challenge alice bob")
        lines = f"blackbox showas bob {PASSWORD} 1\nblackbox games bob"
        (report,) = house.send(address_of("bob"), "multiple", lines)
        house.send(address_of("carol"), f"prefs carol {PASSWORD} digest=daily@13:00")
        for _ in range(2):
            house.send(address_of("bob"), "blackbox challenge bob carol")
        (digest,) = (x for hours in (1, 1) for x in house.live(hours=hours) if x.kind == "tray")
        ours = house.server.mail_domain.address
        letters = {"board": board, "report": report, "digest": digest, "signup": question}
        yield Ways(
            house,
            {
                "stranger": Way(STRANGER, ours),
                "player": Way(address_of("alice"), ours),
                **{
                    name: Way(str(letter.message["To"]), letter.reply_to)
                    for name, letter in letters.items()
                },
            },
        )


def mail(number: int, way: Way, subject: str, body: str) -> bytes:
    """Return a mail with any text, folded and encoded as mail programs do."""
    shown = Header(" ".join(subject.split()), "utf-8").encode() if subject.strip() else ""
    head = (
        f"From: {way.sender}\r\nTo: {way.to}\r\nSubject: {shown}\r\n"
        f"Message-ID: <any-{number}@x>\r\n"
    )
    kind = "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
    text = body.encode("utf-8", "replace").replace(b"\r", b"").replace(b"\n", b"\r\n")
    return head.replace("\n ", "\r\n ").encode() + kind.encode() + b"\r\n" + text


@pytest.mark.parametrize("way", ["stranger", "player", "board", "report", "digest", "signup"])
@given(subject=subjects, body=bodies)
@settings(
    examples(3),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_any_text_gets_one_answer_or_silence(ways: Ways, way: str, subject: str, body: str) -> None:
    house, sender = ways.house, ways.by_name[way].sender
    house.mails += 1
    raw = mail(house.mails, ways.by_name[way], subject, body)
    letters = house.send_raw(sender, raw, ways.by_name[way].to)
    answers = [x for x in letters if x.message["In-Reply-To"] == f"<any-{house.mails}@x>"]
    assert len([x for x in answers if x.recipient == sender]) <= 1
    for letter in letters:
        assert "kept" not in letter.kind, "our own code failed on it"
        assert "Traceback" not in letter.text
