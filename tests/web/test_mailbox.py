"""The local mailbox: a mail program in the browser, for one machine alone."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from asgi_client import ELSEWHERE
from rows import rows
from running import Running, start

from pbmserv.config.listen import Listen
from pbmserv.config.settings import load
from pbmserv.errors import ConfigError
from pbmserv.mail.key_ring import mailbox_secret
from pbmserv.outbound.maildir import MaildirRelay
from pbmserv.outbound.relay import OutgoingLetter
from pbmserv.stages.ports import bind
from pbmserv.web.mailbox.mail_program import MailProgram, draft_of_mailto

ALICE, BOB = "alice@games.example", "bob@games.example"
BOTH = {"name1": "alice", "password1": "wonder-land", "name2": "bob", "password2": "the-builder"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("mailbox")
    with start(folder, mailbox="127.0.0.1:0", web_url="") as running:
        yield running


@dataclass
class Browser:
    """A browser at the mailbox; *headers* are sent with each request."""

    server: Running
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 0
    html: str = ""
    got: dict[str, str] = field(default_factory=dict)
    path: str = ""

    @property
    def top(self) -> str:
        return f"/{mailbox_secret(self.server.server.mail_domain.ring)}/"

    def ask(self, method: str, path: str, body: str = "", **headers: str) -> Browser:
        """Ask, and go where it leads."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.mailbox_port, timeout=60)
        all_headers = {
            name.replace("_", "-"): value for name, value in (self.headers | headers).items()
        }
        connection.request(method, path, body.encode() or None, all_headers)
        answer = connection.getresponse()
        self.status, self.html = answer.status, answer.read().decode()
        self.got, self.path = {k.lower(): v for k, v in answer.getheaders()}, path
        connection.close()
        if self.status == 303:
            return self.ask("GET", self.got["location"])
        return self

    def open(self, path: str = "", **headers: str) -> Browser:
        return self.ask("GET", self.top + path, **headers)

    def send(self, path: str, fields: dict[str, str], **headers: str) -> Browser:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.ask("POST", self.top + path, urlencode(fields), **kind, **headers)

    def links(self) -> list[str]:
        return [unescape(link) for link in re.findall(r'href="([^"]+)"', self.html)]

    def fields(self) -> dict[str, str]:
        """The fields of the mail that is being written."""
        values = dict(re.findall(r'name="(\w+)" value="([^"]*)"', self.html))
        area = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", self.html, re.DOTALL)
        values["body"] = area[1] if area else ""
        return {name: unescape(value) for name, value in values.items()}

    def newest(self, address: str) -> Browser:
        """Open somebody's newest letter."""
        self.server.settle()
        self.open(f"{address}/")
        return self.ask("GET", next(link for link in self.links() if link.endswith(".pbmserv")))


def test_two_people_sign_up_read_and_answer(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser(server)
    assert "Sign both up" in browser.open().html
    assert browser.send("", BOTH).status == 200
    assert browser.html.count("1 new letter<") == 2

    before = {}
    for address in (ALICE, BOB):
        browser.newest(address)
        assert "Confirm your signup" in browser.html
        assert browser.got["cache-control"] == "no-store"
        assert "script-src 'self'" in browser.got["content-security-policy"]
        browser.ask("GET", next(link for link in browser.links() if "answer=" in link))
        mail = browser.fields()
        assert mail["subject"].startswith("Re: Confirm your signup")
        assert "pbmserv wrote:\n> Are you" in mail["body"]
        browser.send(f"{address}/write", mail | {"body": "yes" + mail["body"]})
        assert "Sent. This is the answer:" in browser.html
        assert "Welcome" in browser.html
        before[address] = mail
    # The very same form once more is the same mail, which has no second answer.
    server.letters()
    monkeypatch.setattr("pbmserv.web.mailbox.pages.ANSWER_S", 0.1)
    mail = before[ALICE]
    browser.send(f"{ALICE}/write", mail | {"body": "yes" + mail["body"]})
    assert "Sent. The answer will appear here" in browser.html
    assert not server.letters()

    browser.newest(ALICE)
    letter = browser.path
    browser.ask("GET", f"{letter}/html")
    policy = browser.got["content-security-policy"]
    assert policy.startswith("sandbox allow-same-origin ")
    assert "default-src 'none'" in policy
    assert "allow-scripts" not in policy
    assert "allow-forms" not in policy
    assert "mailto:" not in browser.html
    challenge = next(link for link in browser.links() if "seek" in link)
    browser.ask("GET", challenge)
    mail = browser.fields()
    assert mail["to"].startswith("pbmserv+")
    assert mail["body"] == "seek"
    browser.send(f"{ALICE}/write", mail | {"body": "challenge bob"})
    browser.newest(BOB)
    assert "A challenge from alice: Blackbox 1" in browser.html
    browser.ask("GET", f"{browser.path}?as=text")
    assert "Reply with one of these words" in browser.html
    assert re.search(r'<a href="http://127\.0\.0\.1:\d+/b/[a-z2-7]+" target="_blank"', browser.html)
    assert browser.open("news").got["content-type"] == "application/json"


def test_a_refusal_of_the_door_is_shown_and_nothing_is_lost(server: Running) -> None:
    browser = Browser(server)
    browser.send("", {"name1": "carol", "password1": "secret-word"})
    mail = {"to": "somebody@elsewhere.example", "subject": "Hello", "body": "words", "key": "1"}
    browser.send("carol@games.example/write", mail)
    assert browser.status == 422
    assert "550" in browser.html
    assert browser.fields()["body"] == "words"
    no_addresses = ("nobody", "ü@games.example", "a@b\r\nBcc: c@d", "", "a@", "a@b.", '"@localhost')
    for to in no_addresses:
        assert browser.send("carol@games.example/write", mail | {"to": to}).status == 422, to
        assert browser.fields()["body"] == "words"
    assert browser.send("", {"name1": "x", "password1": "y"}).status == 422
    assert browser.send("", {"name1": "dave", "password1": "two words"}).status == 422
    for path in ("nobody@games.example/", "carol@games.example/no-such-letter", "x", "../"):
        assert browser.open(path).status == 404, path


@rows(
    "headers",
    [
        {"Host": "games.example"},
        {"Host": "localhost.evil.example"},
        {"Host": "10.1.2.3:8027"},
        {"X-Forwarded-For": "192.0.2.1"},
        {"Via": "1.1 proxy"},
    ],
)
def test_only_a_browser_that_asks_for_this_machine_is_answered(
    server: Running, headers: dict[str, str]
) -> None:
    refused = Browser(server, headers).open()
    assert refused.status == 403
    assert "Mailbox" not in refused.html
    for host in ("localhost", "127.0.0.1:9999", "[::1]:8027"):
        assert Browser(server, {"Host": host}).open().status == 200


@rows("headers", ELSEWHERE)
def test_no_page_elsewhere_sends_mail_through_it(server: Running, headers: dict[str, str]) -> None:
    server.letters()
    fields = {"name1": "mallory", "password1": "secret-word"}
    assert Browser(server).send("", fields, **headers).status == 403
    browser = Browser(server)
    browser.ask("POST", "/", urlencode(fields))
    assert browser.status == 404
    assert not server.letters()


def test_looking_sends_nothing(server: Running) -> None:
    browser = Browser(server)
    browser.send("", {"name1": "erin", "password1": "secret-word"})
    assert browser.status == 200
    assert browser.path.endswith("/erin@games.example/")  # one who signs up is led to the letter
    server.letters()
    browser.newest("erin@games.example")
    for _ in range(2):
        for link in [link for link in browser.links() if link.startswith("/")]:
            browser.ask("GET", link)
    assert not server.letters()


def test_it_is_there_only_for_maildirs_on_this_machine(tmp_path: Path) -> None:
    settings = load({}, None).settings
    assert settings.mailbox == Listen("127.0.0.1", 8027)
    for public in (
        {"PBMSERV_RELAY": "smtp://mx.example.org"},
        {"PBMSERV_WEB_URL": "https://games.example.org"},
        {"PBMSERV_WEB": "0.0.0.0:8025"},
        {"PBMSERV_WEB": ""},
        {"PBMSERV_SMTP": ""},
    ):
        assert load(public, None).settings.mailbox is None, public
    named = {"PBMSERV_MAILBOX": "127.0.0.1:8027"}
    for wrong in (
        {"PBMSERV_MAILBOX": "0.0.0.0:8027"},
        {"PBMSERV_MAILBOX": "192.0.2.1:8027"},
        {"PBMSERV_MAILBOX": "games.example:8027"},
        named | {"PBMSERV_RELAY": "smtp://mx.example.org"},
        named | {"PBMSERV_SMTP": ""},
    ):
        with pytest.raises(ConfigError, match="PBMSERV_MAILBOX"):
            load(wrong, None)
    bound = bind(
        load(
            {"PBMSERV_MAILBOX": "localhost:0", "PBMSERV_SMTP": "127.0.0.1:0", "PBMSERV_WEB": ""},
            None,
        ).settings
    )
    assert "mailbox" in bound.sockets
    bound.close()


def test_a_letter_keeps_its_looks_and_its_links(tmp_path: Path) -> None:
    raw = (
        "From: pbmserv <pbmserv@games.example>\r\nTo: a@b.example\r\nSubject: Re: Hello\r\n"
        "Reply-To: pbmserv+token@games.example\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
        '<html><head><title>x</title></head><body style="color: red">'
        '<a href="mailto:pbmserv+t@games.example?subject=a%20b&amp;body=%2BB2%0D%0A%22&quot;">m</a>'
        '<a href="https://games.example/b/x">page</a></body></html>\r\n'
    )
    relay = MaildirRelay(tmp_path)
    relay.deliver(OutgoingLetter(1, "<1@x>", "s@games.example", "a@b.example", raw.encode()))
    program = MailProgram(tmp_path, "smtp://127.0.0.1:1", "pbmserv@games.example")
    letter = program.letters("a@b.example")[0]
    page = letter.html("/top/a/write")
    assert '<head><base target="_blank"><title>' in page
    assert 'style="color: red"' in page
    assert 'href="https://games.example/b/x"' in page
    wanted = f"/top/a/write?to={quote('pbmserv+t@games.example', safe='')}&amp;subject=a%20b"
    assert f'href="{wanted}&amp;body=%2BB2%0A%22%22&amp;answers={letter.key}" target="_top"' in page
    assert letter.answer().subject == "Re: Hello"


def test_an_answer_names_the_letters_above_it(tmp_path: Path) -> None:
    raw = (
        "From: pbmserv@games.example\r\nSubject: Your move\r\nMessage-ID: <2@x>\r\n"
        "References: <0@x> <1@x>\r\n\r\nx\r\n"
    )
    relay = MaildirRelay(tmp_path / "letters")
    relay.deliver(OutgoingLetter(1, "<2@x>", "", "a@b.example", raw.encode()))
    program = MailProgram(tmp_path / "letters", f"maildir://{tmp_path}/sent", "p@games.example")
    program.send("a@b.example", program.letters("a@b.example")[0].answer())
    sent = MailProgram(tmp_path / "sent", "", "").letters("pbmserv@games.example")[0]
    assert sent.header("In-Reply-To") == "<2@x>"
    assert sent.header("References") == "<0@x> <1@x> <2@x>"


@rows("words", ["+B2,!c3", "50 % & more = ?", "Grüße\n\n> quoted", ""])
def test_a_mailto_fills_in_what_it_says(words: str) -> None:
    words_quoted = quote(words.replace("\n", "\r\n"), safe="")
    draft = draft_of_mailto(f"pbmserv%2Bt@games.example?subject={quote(words)}&body={words_quoted}")
    assert (draft.to, draft.subject) == ("pbmserv+t@games.example", words)
    assert draft.body == words
    assert draft_of_mailto("a@b.example").body == ""
    # RFC 6068 section 5: a plus that is not encoded is a plus, as in the move "+b2".
    assert draft_of_mailto("a@b.example?body=+b2").body == "+b2"
