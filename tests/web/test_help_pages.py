"""The help as web pages: every page is there, says what the mail says, and leads on."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pytest
from asgi_client import fetch, site_of
from indoors import PASSWORD, Indoors, address_of, indoors
from rows import rows
from starlette.applications import Starlette
from test_pages import MERELS, Links

from pbmserv.commands.help_topics import help_pages, topic
from pbmserv.commands.reading.board_lines import Answered, read_reply_to
from pbmserv.commands.reading.mail import read_new_mail
from pbmserv.commands.table.catalogue import ROWS
from pbmserv.errors import PlayerError, is_form
from pbmserv.games.blackbox.game import GAME
from pbmserv.views.environment import environment, templates_root
from pbmserv.web.pages.help import slug_of

GAMES = {"blackbox": "Blackbox"}


class Site(NamedTuple):
    """The pages, asked without a socket."""

    application: Starlette

    def page(self, path: str, status: int = 200) -> str:
        answer = asyncio.run(fetch(self.application, path))
        assert answer.status == status, path
        return answer.body.decode()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indoors]:
    with indoors(tmp_path_factory.mktemp("help")) as server:
        yield server


@pytest.fixture(scope="module")
def site(house: Indoors) -> Site:
    return Site(site_of(house.server))


def words(page: str) -> str:
    """Return the text of a page in one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_the_front_page_leads_to_the_help(site, house):
    assert 'href="/help"' in site.page("/")
    assert 'href="/games/help"' in Site(site_of(house.server, base="/games")).page("/")


def test_the_table_of_contents_names_every_command(site):
    text = words(site.page("/help"))
    for row in ROWS:
        assert row.form("blackbox") in text
        assert row.summary[1:] in text


def test_every_link_of_every_page_leads_somewhere(site):
    ahead, seen = ["/help"], set()
    while ahead:
        path = ahead.pop()
        seen.add(path)
        links = re.findall(r'href="(/help[^"]*)"', site.page(path))
        ahead += [link for link in links if link not in seen]
    assert seen >= {f"/help/{slug_of(topic.subject)}" for topic in help_pages(GAMES)[1:]}


@rows("topic", help_pages(GAMES)[1:], ids=lambda topic: topic.subject)
def test_a_page_says_what_the_mail_says(site, topic):
    page = site.page(f"/help/{slug_of(topic.subject)}")
    Links(page)
    values = {**topic.values, "info": GAME.info}
    mail = environment().get_template(topic.template).render(values)
    text = words(page).lower()
    for word in re.findall(r"[a-z]{4,}", mail.lower()):
        assert word in text


def test_long_lines_flow_and_columns_become_lists(site):
    page = site.page("/help/prefs")
    assert "<dt><code>digest=daily@07:30</code></dt>" in page
    lines = re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)
    assert lines == ["prefs digest=daily@07:30 tz=Europe/Berlin"]
    assert "<dt><code>detour</code></dt>" in site.page("/help/queue")
    # A drawing of a board is no list.
    assert "|a |  |b |" in site.page("/help/blackbox")


def test_lists_and_headings_stay_whole(site):
    item = "<li>The game begins at once; &#34;resign&#34; before your first move gives"
    assert item in site.page("/help/ladder")
    assert "<h2>What you can count on</h2>" in site.page("/help/times")
    assert "<dt><code>prefs digest=off</code></dt>" in site.page("/help/replies")


def test_a_paragraph_that_depends_on_the_games_ends_before_the_next_one(site):
    assert "<p>To check a game, keep the letters about it" in site.page("/help/proof")


def test_an_option_is_never_broken_at_its_hyphen(site):
    page = site.page("/help/event")
    assert 'With <span class="whole">-invited</span> only those' in page
    assert 'such as <span class="whole">-size=6x6</span>.' in page


def buttons(page: str) -> list[str]:
    """The subjects of the mails that the links of a page begin."""
    links = re.findall(r'href="mailto:[^"?]*\?subject=([^"]*)"', page)
    return [unquote(html.unescape(link)) for link in links]


def test_a_command_that_needs_no_words_can_be_written_with_one_touch(site):
    assert buttons(site.page("/help/list")) == ["list"]
    assert buttons(site.page("/help/solo")) == ["blackbox solo"]
    for name in ("yes", "challenge", "delete", "load", "change-password"):
        assert buttons(site.page(f"/help/{name}")) == []


def test_the_buttons_of_the_help_work_as_they_are(site, tmp_path):
    with indoors(tmp_path) as server:
        server.sign_up("alice")
        (letter,) = server.send(address_of("alice"), f"whoami alice {PASSWORD}")
        pages = [site.page(f"/help/{slug_of(row.name)}") for row in ROWS]
        lines = dict.fromkeys(line for page in pages for line in buttons(page))
        assert len(lines) >= 15
        for line in lines:
            kinds = {answer.kind for answer in server.reply(letter, line)}
            assert line == "back" or (kinds and "refusal" not in kinds), line


def test_no_link_of_a_page_has_a_word_to_replace():
    """A reader presses a button and sends: FRIEND, PASSWORD or NUMBER would go with it."""
    for template in sorted(Path(templates_root(), "web").rglob("*.j2")):
        text = template.read_text("utf-8")
        pressed = re.findall(r'(?:href|formaction|value)="[^"]*"|says\([^)]*\)', text)
        for link in pressed:
            assert not is_form(re.sub(r"\{\{.*?\}\}", "", link)), (template.name, link)


def test_no_link_of_any_page_has_a_placeholder(site):
    for path in ("/", "/signup", "/help", *(f"/help/{slug_of(row.name)}" for row in ROWS)):
        assert not [line for line in buttons(site.page(path)) if is_form(line)], path


@rows(
    ("path", "subject"),
    [
        ("/help/change-password", "change password"),
        ("/help/passwd", "change password"),
        ("/help/ADD", "signup"),
        ("/help/mvoe", "move"),
        ("/help/plans", "queue"),
        ("/help/rules", "blackbox"),
    ],
)
def test_other_names_lead_to_the_same_page(site, path, subject):
    assert site.page(path) == site.page(f"/help/{slug_of(subject)}")


@rows("path", ["/help/xyzzy", "/help/slve", "/help/" + "x" * 5000, "/help/a/b"])
def test_there_is_no_page_for_what_is_unknown(site, path):
    assert "xyzzy" not in site.page(path, 404)


def test_a_game_without_rules_of_its_own_and_no_game_at_all(house):
    several = Site(site_of(house.server, games=(GAME.info, MERELS)))
    several.page("/help/merels", 404)
    assert "Rules of Merels" not in several.page("/help")
    nothing = Site(site_of(house.server, games=()))
    assert "game move board userid password" in words(nothing.page("/help"))


def test_every_line_that_is_shown_as_a_command_is_one(site):
    """Lines of code in the pages about commands, but for those that a reply begins with."""
    commands = 0
    for row in ROWS:
        page = site.page(f"/help/{slug_of(topic(row.name, GAMES).subject)}")
        for code in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL):
            for line in html.unescape(code).splitlines():
                if "alice" in line:
                    reading = read_new_mail(line, "", GAMES)
                else:
                    reading = read_reply_to(Answered.QUESTION, line, GAMES)
                first = reading.lines[0]
                assert not isinstance(first.meaning, PlayerError), line
                commands += 1
    assert commands > 15
