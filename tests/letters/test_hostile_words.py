"""Words of players, and mails made to break ours, do no harm to those who read our letters."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import EmailMessage

import pytest
from examples import examples
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from letter_reading import check_form

from pbmserv.views.environment import template_of

ALICE, BOB = map(address_of, ("alice", "bob"))

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</blockquote></body></html><h1>You have won</h1>",
    "\"><a href='http://evil.example'>click</a>",
    "{{ 7*7 }} {% for x in ().__class__.__bases__ %}{{ x }}{% endfor %} {# c #}",
    "&lt;b&gt; &amp; &#x3c;script&#x3e;",
    "Bcc: everybody@evil.example\r\nSubject: forged\r\n\r\n<b>x</b>",
    "=?utf-8?q?=0d=0aBcc:_x=40evil.example?=",
    "a\u202egnp.exe \u2066b\u2069 \u200f\u200e c\ufeff d\u2028e\u2029f",
    "bell \x07 escape \x1b[2J\x1b]0;title\x07 nul \x00 del \x7f c1 \x9b31m end",
    "From me to you\n.\nQUIT\n..",
    "x" * 3000,
    "wide " + "\U0001f600" * 300 + " " + "\u0bb8\u0bcd\u0bb0\u0bc0" * 100,
    "surrogate \ud800 here",
)

few = settings(examples(3), suppress_health_check=[HealthCheck.function_scoped_fixture])
words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=300)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indoors]:
    with indoors(tmp_path_factory.mktemp("hostile")) as opened:
        opened.sign_up("alice", "bob")
        opened.send(ALICE, "blackbox challenge alice bob")
        opened.send(ALICE, f"blackbox move 1 alice {PASSWORD} a1,b2,c3,d4")
        opened.send(BOB, f"blackbox move 1 bob {PASSWORD} a1,b2,c3,d4")
        yield opened


def send_mail(server: Indoors, sender: str, subject: str, body: str) -> list[Posted]:
    message = EmailMessage()
    message["From"] = sender
    message["To"] = server.server.mail_domain.address
    server.mails += 1
    message["Message-ID"] = f"<words-{server.mails}@players.example>"
    message["Subject"] = subject
    message.set_content(body.encode("utf-8", "replace").decode(), cte="base64")
    return server.send_raw(
        sender, message.as_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    )


def harmless(letter: Posted) -> str:
    """Checks a letter with hostile words in it; what its page shows comes back."""
    page = check_form(letter, ascii_only=False, own_words=False)
    for link in page.links:
        assert link.startswith(("mailto:pbmserv", "http://games.example/")), link
    assert page.heading.strip()
    assert (
        page.heading.split()
        == letter.text.partition("\n\n")[0].replace("-- Reply above this line --", "").split()
    )
    for mark in "\u202e\u2066\u200f":  # what turns the line around stays in a block of its own
        shown, quoted = ("".join(words).count(mark) for words in (page.words, page.quoted))
        assert shown == quoted or letter.kind in {"refusal", "reset-sent"}
    return page.text


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_chat_arrives_as_mere_words(server: Indoors, hostile: str) -> None:
    letters = send_mail(server, ALICE, f"blackbox chat 1 alice {PASSWORD}", hostile)
    assert {letter.recipient for letter in letters} == {ALICE, BOB}
    for letter in letters:
        assert letter.kind in {"chat", "chat-sent", "refusal"}
        shown = harmless(letter)
        if letter.kind == "chat":
            assert "{{ 7*7 }}" not in hostile or "{{ 7*7 }}" in shown
            assert hostile.split(maxsplit=1)[0].strip("\u202e")[:12] in shown


@pytest.mark.slow
@given(words)
@example("\r\n.\r\n")
@example("{{ house }}")
@few
def test_any_words_keep_the_form_of_letters(server: Indoors, text: str) -> None:
    for letter in send_mail(server, ALICE, f"message alice {PASSWORD} bob", text):
        harmless(letter)


@given(words)
@example("blackbox chat 1 <b>{{ 7*7 }}</b>")
@example("signup <script> secret")
@example("forgot \u202eecila")
@example("blackbox challenge alice bob -size=<b>")
@example("blackbox move 1 alice wrong \u202e?")
@example("help </pre><script>")
@few
def test_any_subject_is_answered_by_a_harmless_letter(server: Indoors, subject: str) -> None:
    line = " ".join(subject.split()) or "x"
    for letter in send_mail(server, BOB, line, subject):
        harmless(letter)


def test_an_address_with_an_odd_name_gets_its_letter_and_nobody_else(server: Indoors) -> None:
    for sender in ("o'brien+x@players.example", "a=b@players.example", "{{7*7}}@players.example"):
        for letter in send_mail(server, sender, "list", ""):
            assert letter.recipient == sender
            harmless(letter)


def test_words_that_are_read_from_the_right_say_so_for_themselves(server: Indoors) -> None:
    hebrew = "\u05e9\u05dc\u05d5\u05dd, 12!"
    for letter in send_mail(server, ALICE, f"blackbox chat 1 alice {PASSWORD}", hebrew):
        assert 'dir="auto"' in letter.html.partition(hebrew)[0].rpartition("<")[2], letter.kind
    board = server.send(ALICE, f"blackbox showas alice {PASSWORD} 1")[-1]
    (refused,) = server.reply(board, hebrew)
    echo = refused.html.partition("You wrote")[2]
    assert 'dir="auto"' in echo.partition(hebrew)[0].rpartition("<")[2]


def test_a_plain_piece_of_an_html_letter_is_escaped() -> None:
    """No letter of today has a player's words in such a piece; one of tomorrow may."""
    template = template_of("letters/begin-asked.html.j2")
    words = {"userid": "<b>&amp;", "replay": 0, "others": [], "options": ["<i>"], "days": 7}
    values = {"words": words, "mailto": str}
    page = "".join(template.blocks["html"](template.new_context(values)))
    assert "You, &lt;b&gt;&amp;amp;, or somebody" in page
    assert "(&lt;i&gt;)" in page
