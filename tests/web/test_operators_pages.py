"""Operators' pages: who gets in, and that they show and do what the command line does."""

from __future__ import annotations

import http.client
import os
import re
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from html import unescape
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import typer
from asgi_client import ELSEWHERE
from failing_handlers import failing_handler
from limits import parse
from processes import wait_until
from running import PATIENCE_S, MovableClock, Running, start
from seating import seat_pairs
from sqlalchemy import func, select

from pbmserv.cli.main import app
from pbmserv.commands.table.playing import MakeMove
from pbmserv.config.settings import load
from pbmserv.errors import ConfigError
from pbmserv.service.operators import pages, people
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.form_actions import ACTIONS
from pbmserv.stages.ports import bind
from pbmserv.store import audit
from pbmserv.store.boards.game_pauses import Stop
from pbmserv.store.tables.columns import metadata
from pbmserv.store.tables.mail import LetterState
from pbmserv.web.operators import gate
from pbmserv.web.operators.gate import COOKIE
from pbmserv.web.operators.sessions import LIFETIME
from pbmserv.web.operators.token import new_token, read_token

WHY = "asked for by telephone"
CONFIRMS = {"Content-Type": "application/x-www-form-urlencoded"}
LINK = re.compile(r'href="(/[^"]*)"')
FORM = re.compile(r'<form method="post" action="([^"]*)"[^>]*>(.*?)</form>', re.DOTALL)
FIELD = re.compile(r'<(?:input|select|textarea)[^>]* name="(\w+)"(?:[^>]* value="([^"]*)")?')


@pytest.fixture(scope="module")
def token(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("token") / "token"
    keep(file, new_token())
    return file


@pytest.fixture(scope="module")
def server(token: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("operators")
    named = {"operator_pages": "127.0.0.1:0", "operator_token": str(token)}
    with start(folder, **named) as running:
        yield running


@pytest.fixture
def operator(server: Running, token: Path) -> Operator:
    return Operator(server).sign_in(read_token(token))


def keep(file: Path, text: str) -> Path:
    file.write_text(text)
    file.chmod(0o600)
    return file


@dataclass
class Operator:
    """A browser at the operators' pages."""

    server: Running
    cookie: str = ""
    status: int = 0
    html: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    def ask(self, method: str, path: str, body: str = "", **headers: str) -> Operator:
        """Ask once; where it leads stands in `place`."""
        port = self.server.operators_port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        all_headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookie:
            all_headers.setdefault("Cookie", f"{COOKIE}={self.cookie}")
        connection.request(method, path, body.encode() or None, all_headers)
        answer = connection.getresponse()
        self.status, self.html = answer.status, answer.read().decode()
        self.headers = tuple((name.lower(), value) for name, value in answer.getheaders())
        connection.close()
        return self

    @property
    def place(self) -> str:
        return dict(self.headers).get("location", "")

    def open(self, path: str) -> Operator:
        return self.ask("GET", path)

    def post(self, path: str, fields: dict[str, str], **headers: str) -> Operator:
        return self.ask("POST", path, urlencode(fields), **CONFIRMS, **headers)

    def sign_in(self, token: str, by: str = "olga") -> Operator:
        self.post("/sign-in", {"by": by, "token": token})
        self.cookie = dict(self.headers).get("set-cookie", "=").partition("=")[2].partition(";")[0]
        return self

    @property
    def key(self) -> str:
        """The word of this session's forms."""
        return re.findall(r'name="key" value="(\w+)"', self.open("/").html)[0]

    def do(self, path: str, command: str, **fields: str) -> Operator:
        """Send a form, and read the page to which it leads."""
        values = {"key": self.key, "do": command, "why": WHY} | fields
        self.post(path, values)
        return self.open(self.place) if self.status == 303 else self

    def crawl(self, *first: str, most_of_kind: int = 12) -> dict[str, str]:
        """Pages to which links lead, and what they say.

        Args:
            first: pages that are opened in any case.
            most_of_kind: how many pages are opened of each kind, such as those of single players.
        """
        visited: dict[str, str] = {}
        kinds = Counter[str]()
        waiting = ["/", *first]
        while waiting:
            path = waiting.pop()
            kind = re.sub(r"(?<=.)/[^/]*$", "/", path.partition("?")[0])
            if path in visited or (kinds[kind] >= most_of_kind and path not in first):
                continue
            kinds[kind] += 1
            self.open(path)
            assert self.status == 200, path
            visited[path] = self.html
            waiting += map(unescape, LINK.findall(self.html))
        return visited


def entry(server: Running) -> audit.Entry:
    """The newest of the audit."""
    return server.server.read(audit.entries, None, 1)[0]


CHANGED = ("audit", "players", "addresses", "boards", "seats", "closed_games", "ratings", "outbox")
"""Tables in which operators' deeds leave rows."""


def contents(server: Running) -> dict[str, int]:
    """Return the number of rows of each kind that operators change."""
    return {name: server.server.count(metadata.tables[name]) for name in CHANGED}


def come_to_rest(server: Running) -> None:
    """Wait until every letter was sent, and is known to be."""
    server.settle()
    outbox = metadata.tables["outbox"]
    waits = select(func.count()).where(outbox.c.state == LetterState.QUEUED)

    def is_done() -> bool:
        return server.server.value(waits) == 0

    wait_until(is_done, "letters to be sent")


def kept(server: Running, monkeypatch: pytest.MonkeyPatch, tag: str) -> tuple[int, str]:
    """A mail on which our own code has failed: its number, and who wrote it."""
    table = seat_pairs(server.server, 1, tag)[0]
    player = table.players[0]
    with failing_handler(monkeypatch, MakeMove, "it failed on 'secret'"):
        server.send(
            player.address, f"blackbox move {table.board} {player.userid} secret b3,d3,a1,f2"
        )
    inbox = metadata.tables["inbox"]
    return server.server.value(select(func.max(inbox.c.id))), player.userid


# -- the same as the command line --------------------------------------------------------------


def commands() -> dict[str, set[str]]:
    """Return the parameters of every command by the words that call it."""
    top: Any = typer.main.get_command(app)
    by_words = {}
    for name, command in top.commands.items():
        within = getattr(command, "commands", {}) if not command.hidden else {}
        by_words |= {f"{name} {inner}": command for inner, command in within.items()} or {
            name: command
        }
    return {words: {param.name for param in command.params} for words, command in by_words.items()}


def test_every_change_has_its_twin_at_the_command_line() -> None:
    by_words = commands()
    for words, action in ACTIONS.items():
        assert words in by_words, words
        fields = set(action.fields) - ({"title", "text"} if words == "announce" else set())
        assert fields <= by_words[words], words  # the command reads these two from a file
    signed = {words for words, takes in by_words.items() if "why" in takes}
    assert signed == set(ACTIONS), "what is signed at the command line can be done on a page"


@pytest.mark.slow
def test_every_form_is_a_change_and_every_change_has_a_form(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = operator.server
    kept(server, monkeypatch, "form")
    rated = seat_pairs(server.server, 1, "rated")[0].board
    server.sign_up("barred")
    server.sign_up("resets")
    operator.do("/players/barred", "user suspend")
    operator.do("/players/resets", "user reset")
    come_to_rest(server)
    operator.do("/games/blackbox", "game suspend")
    with server.server.database.writing.begin() as connection:
        outbox = metadata.tables["outbox"]
        connection.execute(outbox.update().where(outbox.c.id == 1).values(state="failed"))
        boards = metadata.tables["boards"]
        connection.execute(boards.update().where(boards.c.id < rated).values(rated=False))
    crawled = chain(operator.crawl().values(), [operator.open("/letters?state=all").html])
    # Letters that are sent, and a game that is open again, have other forms.
    operator.do("/games/blackbox", "game restore")
    crawled = [*crawled, operator.open("/games/blackbox").html, operator.open("/letters/1").html]
    stops = [Stop(str(n), "blackbox", datetime.now(UTC), "play", "") for n in range(2)]
    server.server.play_stage.note_stops(stops)
    crawled.append(operator.open("/games/blackbox").html)
    assert "blackbox goes on" in operator.do("/games/blackbox", "game resume").html
    by_path: dict[str, set[str]] = {}
    for page in crawled:
        for path, form in FORM.findall(page):
            fields = dict(FIELD.findall(form))
            if path == "/sign-out":
                continue
            assert fields["key"] == operator.key
            words = fields.pop("do")
            by_path.setdefault(words, set()).update(fields)
    of_path = {"userid", "number", "numbers", "letter", "named", "board", "game", "failed"}
    asked = {
        **dict.fromkeys(("event decide", "ladder settle", "ladder annul"), "board"),
        **dict.fromkeys(("event create", "ladder remove"), "game"),
    }
    assert by_path == {
        words: {"key", "why"} | set(action.fields) - (of_path - {asked.get(words)})
        for words, action in ACTIONS.items()
    } | {"outbox retry": {"key", "why", "since"}}


def test_a_change_that_takes_long_goes_on_behind_the_page(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on = threading.Event()
    writer = operator.server.server.play_stage.writer
    writer.submit(lambda _: may_go_on.wait(PATIENCE_S))  # the change waits behind this job
    with monkeypatch.context() as impatient:
        impatient.setattr(pages, "ANSWER_S", 0.0)
        operator.do("/server", "block", sender="slow.example", until="")
    may_go_on.set()
    assert operator.status == 202
    assert "has stored your change" in operator.html
    wait_until(lambda: "slow.example" in operator.open("/audit").html, "the block in the audit")


def test_a_change_is_signed_and_audited_as_a_command_is(operator: Operator) -> None:
    server = operator.server
    server.sign_up("carla")
    server.sign_up("dora")
    server.settle()
    operator.do("/players/carla", "user suspend", end_games="yes")
    assert "carla is suspended; 0 boards ended." in operator.html
    by_page = entry(server)
    command = partial(people.suspend, userid="dora", end_games=True)
    server.server.play_stage.operators.do(Signature("olga", WHY), command)
    by_command = entry(server)
    assert (by_page.operator, by_page.action, by_page.target) == ("olga", "suspend", "user carla")
    assert (by_page.why, by_page.facts) == (by_command.why, by_command.facts)
    assert WHY in server.letter("carla@players.example").text
    assert "<b>olga</b>: suspend user carla" in operator.html
    assert "A server runs, " in operator.open("/").html
    assert "dora" in operator.open("/audit?target=user+DORA").html
    slip = operator.open("/audit?target=usr+dora")
    assert (slip.status, "try `pbmserv audit user dora`" in slip.html) == (404, True)

    operator.do("/players/carla", "user suspend")
    assert operator.status == 422
    assert "carla is suspended already" in operator.html
    assert operator.do("/players/carla", "user restore", why="").status == 422
    assert "give a reason" in operator.html
    assert "may play again" in operator.do("/players/carla", "user restore").html


def test_a_kept_mail_is_carried_out_or_dropped(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = operator.server
    number, userid = kept(server, monkeypatch, "kept")
    server.letters()
    assert f"{userid} ***" in operator.open("/mails").html
    operator.open(f"/mails/{number}")
    assert "ZeroDivisionError: it failed on &#39;***&#39;" in operator.html
    assert "secret" not in operator.html
    operator.do(f"/mails/{number}", "inbox retry")
    assert f"Mail {number} is carried out" in operator.html
    assert entry(server).target == f"mail {number}"
    assert "Carry it out again" not in operator.html
    assert operator.do(f"/mails/{number}", "inbox drop").status == 422
    assert server.letters()
    number, _ = kept(server, monkeypatch, "drop")
    assert "its text is gone" in operator.do(f"/mails/{number}", "inbox drop").html
    assert entry(server).action == "drop"


def test_boards_and_games_are_looked_after(operator: Operator) -> None:
    server = operator.server
    table = seat_pairs(server.server, 1, "deal")[0]
    userid = table.players[0].userid
    server.sign_up("heiress")
    path = f"/boards/{table.board}"
    assert (
        f">{table.board}: {userid}" in operator.open(f"/boards?player={userid}&status=active").html
    )
    assert "There is no player nobody" in operator.open("/boards?player=nobody").html
    assert "forfeit after 40" in operator.do(path, "board deadline", forfeittime="40").html
    assert operator.do(path, "board deadline", nagtime="soon").status == 422
    assert 'value="soon"' in operator.html
    assert "in place of" in operator.do(path, "board hand-over", old=userid, new="heiress").html
    assert "counts" in operator.do(path, "rating include").html
    assert "does not count" in operator.do(path, "rating exclude").html
    assert "has ended and counts for nothing" in operator.do(path, "board end").html
    assert "all correct" in operator.do("/games", "rating rebuild").html
    assert "nobody can begin" in operator.do("/games/blackbox", "game suspend").html
    assert "can begin boards" in operator.do("/games/blackbox", "game restore").html
    assert "blackbox is not stopped" in operator.do("/games/blackbox", "game resume").html


def test_a_page_tells_what_became_of_mails(operator: Operator) -> None:
    """The page of `pbmserv mails`: for a player or an address, and without a word of a mail."""
    server = operator.server
    (table,) = seat_pairs(server.server, 1, "whoever")
    writer = table.players[0]
    server.send(writer.address, f"blackbox move {table.board} {writer.userid} secret-word b99")
    come_to_rest(server)
    link = f"/correspondence?name={writer.userid}"
    assert f'href="{link}"' in operator.open(f"/players/{writer.userid}").html
    for name in (writer.userid, writer.address):
        page = operator.open(f"/correspondence?{urlencode({'name': name})}").html
        assert "plain address" in page
        assert re.search(r'<a href="/letters/\d+">\d+</a> .* UTC .*: sent ', page)
        assert "secret-word" not in page
    assert "There is no player nobody;" in operator.open("/correspondence?name=nobody").html
    assert (
        "No mail of a@b.example is known" in operator.open("/correspondence?name=a@b.example").html
    )
    assert operator.open("/correspondence").status == 200


# -- who gets in -------------------------------------------------------------------------------


def test_nobody_gets_in_without_the_token(
    server: Running, token: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stranger = Operator(server)
    for path in ("/", "/players", "/mails/1", "/audit"):
        assert stranger.open(path).place == "/sign-in"
        assert not stranger.html
    assert stranger.ask("POST", "/players/alice", "do=user+suspend").place in {"/sign-in", ""}
    for wrong in ("", "wrong", "ü", read_token(token)[:-1], read_token(token) + "x", "x" * 9000):
        assert stranger.sign_in(wrong).status in {403, 422}
        assert not stranger.cookie
    assert stranger.sign_in(read_token(token), by=" ").status == 422
    caplog.clear()
    with caplog.at_level("DEBUG", "pbmserv"):
        stranger.sign_in("a-wrong-token-that-nobody-should-read")
        stranger.sign_in(read_token(token))
    assert stranger.status == 303
    shown = [record for record in caplog.records if record.name == "pbmserv.web"]
    assert [record.message for record in shown] == [
        "wrong operator token",
        "an operator has signed in",
    ]
    for record in caplog.records:
        assert read_token(token) not in str(record.__dict__)
        assert "nobody-should-read" not in str(record.__dict__)
    cookie = dict(stranger.headers)["set-cookie"]
    assert read_token(token) not in cookie
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert dict(stranger.headers)["cache-control"] == "no-store"
    policy = dict(stranger.headers)["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert stranger.open("/audit").status == 200


def test_guessing_ends_and_a_right_token_is_then_not_called_wrong(
    server: Running, token: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(gate, "MOST_WRONG", parse("2/hour"))  # of its own, for this test alone
    operator = Operator(server)
    with caplog.at_level("DEBUG", "pbmserv.web"):
        assert [operator.sign_in("wrong").status for _ in range(2)] == [403, 403]
        assert operator.sign_in(read_token(token)).status == 429
    assert dict(operator.headers)["retry-after"] == "3600"
    assert not operator.cookie
    *wrong, last = [record.message for record in caplog.records if record.name == "pbmserv.web"]
    assert wrong == ["wrong operator token"] * 2
    assert last == "operator token not checked: too many were wrong"


def test_a_session_ends(operator: Operator, token: Path) -> None:
    good = operator.cookie
    ends, mark, name, mac = good.split(".")
    for forged in (
        f"{int(ends) + 9}.{mark}.{name}.{mac}",
        f"{ends}.{mark}.Ym9i.{mac}",
        f"{ends}.{mark}.{name}.{mac[:-1]}",
        f"x.{mark}.{name}.{mac}",
        "...",
        "ü",
        "",
    ):
        assert operator.ask("GET", "/", Cookie=f"{COOKIE}={forged}".encode().decode("latin-1"))
        assert operator.place == "/sign-in", forged
    assert operator.open("/").status == 200
    clock = operator.server.server.clock
    assert isinstance(clock, MovableClock)
    before = clock.moment
    clock.moment += LIFETIME - timedelta(seconds=1)
    assert operator.open("/").status == 200
    clock.moment += timedelta(seconds=1)
    assert operator.open("/").place == "/sign-in"
    clock.moment = before

    old = read_token(token)
    keep(token, new_token())
    assert operator.open("/").place == "/sign-in"
    keep(token, old)
    assert operator.post("/sign-out", {"key": operator.key}).place == "/sign-in"
    assert "Max-Age=0" in dict(operator.headers)["set-cookie"]
    operator.cookie = good
    assert operator.open("/").place == "/sign-in", "whoever has copied the cookie is out, too"


def test_without_its_token_nobody_is_let_in_and_the_log_says_why(
    operator: Operator, token: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old, key, cookie = read_token(token), operator.key, operator.cookie
    for spoil, why in (
        (
            token.unlink,
            f"{token}: No such file or directory; make one with `pbmserv operator-token",
        ),
        (lambda: keep(token, "short"), "holds no token of 32 characters or more"),
    ):
        spoil()
        for ask in (
            lambda: operator.open("/"),
            lambda: operator.open("/nowhere"),
            lambda: operator.post("/games", {"key": key}),
            lambda: operator.sign_in(old),
        ):
            caplog.clear()
            operator.cookie = cookie
            assert ask().status == 503
            assert "cannot read the operators' token" in operator.html
            assert str(token) not in operator.html
            (line,) = [record for record in caplog.records if record.name == "pbmserv.web"]
            assert (line.message, line.exc_info) == ("operators' pages let nobody in", None)
            assert why in line.why
    keep(token, old)
    operator.cookie = cookie
    assert operator.open("/").status == 200


def test_no_page_elsewhere_changes_anything(operator: Operator) -> None:
    fields = {"key": operator.key, "do": "rating rebuild", "why": WHY}
    come_to_rest(operator.server)
    before = contents(operator.server)
    for headers in (*ELSEWHERE, {"Host": "games.example"}, {"X-Forwarded-For": "192.0.2.1"}):
        assert operator.post("/games", fields, **headers).status == 403, headers
    for wrong in ({}, {"key": ""}, {"key": "0" * 64}, {"key": "ü"}):
        assert operator.post("/games", fields | {"key": ""} | wrong).status == 403
    assert contents(operator.server) == before


def test_another_sessions_word_is_no_good(operator: Operator, token: Path) -> None:
    other = Operator(operator.server).sign_in(read_token(token), by="oscar")
    fields = {"key": other.key, "do": "rating rebuild", "why": WHY}
    assert operator.post("/games", fields).status == 403
    assert other.post("/games", fields).status == 303
    assert entry(operator.server).operator == "oscar"


@pytest.mark.slow
def test_looking_changes_nothing(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(operator.server, monkeypatch, "look")
    come_to_rest(operator.server)
    before = contents(operator.server)
    paths = list(operator.crawl(most_of_kind=4))
    for path in paths[::2]:
        operator.open(f"{path}{'&' if '?' in path else '?'}do=rating+rebuild&why=x&key=x")
    for path in {path.partition("?")[0] for path in paths[::4]}:
        assert operator.ask("DELETE", path).status == 405
    assert contents(operator.server) == before


@pytest.mark.parametrize(
    ("text", "mode", "because"),
    [
        ("", 0o600, "no token"),
        ("short", 0o600, "no token"),
        ("two words " * 9, 0o600, "no token"),
        ("\0" * 40, 0o600, "no token"),
        ("ab" * 30, 0o600, "can be guessed"),
        ("abcdefgh" * 5, 0o644, "read by everybody"),
    ],
)
def test_a_token_that_is_none_is_refused(
    tmp_path: Path, text: str, mode: int, because: str
) -> None:
    file = keep(tmp_path / "token", text)
    file.chmod(mode)
    named = {
        "PBMSERV_OPERATOR_PAGES": "127.0.0.1:0",
        "PBMSERV_OPERATOR_TOKEN": str(file),
        "PBMSERV_SMTP": "",
        "PBMSERV_WEB": "",
    }
    with pytest.raises(ConfigError, match=because) as refused:
        bind(load(named, None).settings)
    assert not text or text not in str(refused.value)
    file.unlink()
    with pytest.raises(ConfigError, match="pbmserv operator-token"):
        bind(load(named, None).settings)


def test_it_is_off_and_cannot_be_opened_to_others_by_mistake(tmp_path: Path) -> None:
    assert load({}, None).settings.operator_pages is None
    token = keep(tmp_path / "token", new_token())
    named = {"PBMSERV_OPERATOR_PAGES": "127.0.0.1:8028", "PBMSERV_OPERATOR_TOKEN": str(token)}
    out = {"PBMSERV_OPERATOR_PAGES": "0.0.0.0:8028"}
    url = {"PBMSERV_OPERATOR_URL": "https://operators.example.org"}
    for wrong in (
        named | {"PBMSERV_OPERATOR_TOKEN": ""},
        named | out,
        named | out | {"PBMSERV_OPERATOR_URL": "http://operators.example.org"},
    ):
        with pytest.raises(ConfigError, match="PBMSERV_OPERATOR"):
            load(wrong, None)
    assert load(named | out | url, None).settings.operator_url == "https://operators.example.org"


def test_behind_a_proxy_it_answers_to_its_own_name_alone(tmp_path: Path) -> None:
    token = keep(tmp_path / "token", new_token())
    named = {
        "operator_pages": "127.0.0.1:0",
        "operator_token": str(token),
        "operator_url": "https://operators.example.org/desk",
        "smtp": "127.0.0.1:0",
    }
    own = {"Host": "operators.example.org", "X-Forwarded-For": "192.0.2.1"}
    with start(tmp_path, **named) as server:
        operator = Operator(server)
        assert operator.open("/").status == 403
        assert operator.ask("GET", "/", **own).place == "/desk/sign-in"
        form = urlencode({"by": "olga", "token": read_token(token)})
        for origin, status in (("http://operators.example.org", 403), (own_origin(), 303)):
            operator.ask("POST", "/sign-in", form, Origin=origin, **own)
            assert operator.status == status
        cookie_set = dict(operator.headers)["set-cookie"]
        assert cookie_set.startswith(f"__Secure-{COOKIE}=")
        assert {"Secure", "Path=/desk/"} <= set(cookie_set.split("; "))
        cookie = {"Cookie": cookie_set.partition(";")[0]}
        page = operator.ask("GET", "/players", **own, **cookie).html
        assert page.count('href="/desk/') >= 8
        assert 'href="/players' not in page


def own_origin() -> str:
    return "https://operators.example.org"


# -- what nobody may see -----------------------------------------------------------------------


@pytest.mark.slow
def test_no_page_shows_a_password_a_token_or_what_a_board_hides(
    operator: Operator, monkeypatch: pytest.MonkeyPatch, token: Path
) -> None:
    server = operator.server
    table = seat_pairs(server.server, 1, "veil")[0]
    first, second = table.players
    server.send(first.address, f"blackbox move {table.board} {first.userid} secret a7,c7,e7,g7")
    server.send(second.address, f"blackbox move {table.board} {second.userid} secret b7,d7,f7,a5")
    server.send(first.address, f"list {first.userid} secret")
    written = (*table.addresses, *(letter.reply_to for letter in server.letters()))
    tokens = {address.partition("+")[2].partition("@")[0] for address in written}
    with failing_handler(monkeypatch, MakeMove, "it failed"):
        subject = f"blackbox move {table.board} {first.userid} secret 4"
        server.send(first.address, subject, f"> {table.addresses[0]} wrote:")
    operator.do(f"/players/{first.userid}", "user reset")
    server.settle()
    own = [f"/players/{player.userid}" for player in table.players]
    crawled = operator.crawl(f"/boards/{table.board}", *own)
    outbox = metadata.tables["outbox"]
    addresses = [player.address for player in table.players]
    own_letters = select(outbox.c.id, outbox.c.letter).where(outbox.c.recipient.in_(addresses))
    kinds = dict(server.server.rows(own_letters))
    pages = {number: operator.open(f"/letters/{number}").html for number in kinds}
    crawled |= {f"/letters/{number}": page for number, page in pages.items()}
    closed = {kinds[n] for n, page in pages.items() if "stays closed until that is over" in page}
    assert (closed, set(kinds.values()) - closed) == ({"board"}, {"kept", "refusal", "reset"})
    assert any("--- why it was kept ---" in page for page in crawled.values())
    for path, page in crawled.items():
        assert "secret" not in page, path
        assert read_token(token) not in page, path
        assert not any(token and token in page for token in tokens), path
        shown = re.sub(r"Thread-Index: \S+", "", page)  # a random number in base 64
        for atoms in ("A7", "a7,c7,e7,g7", "b7,d7,f7,a5", "C7, E7 and G7", "D7, F7 and"):
            assert atoms not in shown, (path, atoms)


# -- nonsense ----------------------------------------------------------------------------------

NONSENSE = (
    *("", "0", "-1", "9" * 40, "1; DROP TABLE players", "\0", "<script>alert(1)</script>"),
    *("../../etc/passwd", "ünïcödé" * 50, "{{ 7 * 7 }}"),
    "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
)
PLACES = {"inbox": "/mails/9999", "outbox": "/letters/9999", "user": "/players/no-one"}


@pytest.mark.slow
def test_nonsense_in_forms_is_refused_and_never_fails(
    operator: Operator, caplog: pytest.LogCaptureFixture
) -> None:
    """`test_hostile_parameters.py` writes such words into paths and queries."""
    server = operator.server
    server.sign_up("solid")
    key = operator.key
    come_to_rest(server)
    before = contents(server)
    for turn, text in enumerate(NONSENSE):
        operator.open(f"/players?{urlencode({'like': text})}")
        assert "<script>" not in operator.html
        for words, action in list(ACTIONS.items())[turn::11]:  # forms are limited
            if words in {"announce", "outbox flush", "rotate-keys"}:  # nothing in them can be wrong
                continue
            place = PLACES.get(words.partition(" ")[0], "/boards/999999")
            fields: dict[str, Any] = dict.fromkeys(action.fields, text)
            operator.post(place, fields | {"key": key, "do": words, "why": text or "x"})
            allowed = {403, 404, 422} if words != "rating rebuild" else {303, 404, 422}
            assert operator.status in allowed, (words, text, operator.status)
        assert operator.post("/games", {"key": key, "do": text, "why": "x"}).status in {400, 403}
    assert operator.post("/games", {"key": key} | {f"f{n}": "" for n in range(50)}).status == 403
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    after = contents(server)
    assert {name for name in after if after[name] != before[name]} <= {"audit"}


def test_a_token_is_made_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pbmserv.cli.main import run

    file = tmp_path / "token"
    assert run(["operator-token", str(file)]) == 0
    assert len(read_token(file)) == 43
    assert read_token(file) not in capsys.readouterr().out
    assert file.stat().st_mode & 0o777 == 0o600
    assert run(["operator-token", str(file)]) == 1
    errors = capsys.readouterr().err
    assert "exists already" in errors
    assert "--overwrite" not in errors
    assert run(["operator-token", os.fspath(tmp_path / "none" / "token")]) == 1
