"""Whatever stands in subject and body: one polite answer or silence, and little work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from email.header import Header

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from indoors import PASSWORD, Indoors, address_of, indoors

from pbmserv.commands.catalogue import ROWS

MOST_CPU_S = 0.05
STRANGER = "zoe@elsewhere.example"

words = st.one_of(
    st.sampled_from([name for row in ROWS for name in (*row.names, *row.slips)]),
    st.sampled_from(["blackbox", "alice", "bob", PASSWORD, "1", "12", "#1", "g,+b2", "-size=8x8"]),
    st.sampled_from(['"', "'", "„x“", "«x»", "#", "--", ">", "-- ", "multiple", "if", "else", ";"]),
    st.text(max_size=12),
)
lines = st.lists(words, max_size=8).map(" ".join)
subjects = st.one_of(st.text(max_size=200), lines)
bodies = st.one_of(st.text(max_size=400), st.lists(lines, max_size=12).map("\n".join))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indoors]:
    with indoors(tmp_path_factory.mktemp("house")) as server:
        server.sign_up("alice", "bob")
        server.send(address_of("alice"), "blackbox challenge alice bob")
        yield server


def mail(number: int, to: str, subject: str, body: str) -> bytes:
    """The octets of a mail with any text at all; folded and encoded as mail programs do."""
    shown = Header(" ".join(subject.split()), "utf-8").encode() if subject.strip() else ""
    head = f"From: {STRANGER}\r\nTo: {to}\r\nSubject: {shown}\r\nMessage-ID: <any-{number}@x>\r\n"
    kind = "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
    text = body.encode("utf-8", "replace").replace(b"\r", b"").replace(b"\n", b"\r\n")
    return head.replace("\n ", "\r\n ").encode() + kind.encode() + b"\r\n" + text


@given(subjects, bodies)
@settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=set(Phase) - {Phase.explain},  # which would trace, and so slow down, what is measured
)
def test_any_text_gets_one_answer_or_silence(house: Indoors, subject: str, body: str) -> None:
    to = house.server.house.address
    spent = []
    for _ in range(2):  # once more, for the first time may load what is loaded only once
        house.mails += 1
        before = time.process_time()
        letters = house.send_raw(STRANGER, mail(house.mails, to, subject, body))
        spent.append(time.process_time() - before)
        answers = [letter for letter in letters if letter.recipient == STRANGER]
        assert len(answers) <= 1
        for letter in letters:
            assert "kept" not in letter.kind, "our own code failed on it"
            assert "Traceback" not in letter.text
    # An answer of many parts is as long as its lines; what one of them costs is bounded.
    assert min(spent) < MOST_CPU_S * max(1, len(body.splitlines()))
