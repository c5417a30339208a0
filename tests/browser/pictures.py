"""Pictures of every page: a phone and a desktop, by day and in the dark.

`make screenshots` plays games on a real server, mostly by its pages, and photographs what Chromium
shows. `tests/web/test_pictures.py` holds the table of pages against the routes there are.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote, urlencode

from browser_tab import Tab, page_of
from chromium import chromium, follow
from photographed_pages import PAGES
from playwright.sync_api import Browser, BrowserContext
from running import Running, start
from sqlalchemy import func, select

from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.game_ids import atoms_of, read_id
from pbmserv.mail.key_ring import mailbox_secret
from pbmserv.store.shared_boxes import daily_boxes, day_numbers
from pbmserv.store.tables.mail import outbox
from pbmserv.web.operators.token import new_token

WIDTHS, SCHEMES = (375, 1280), ("light", "dark")
TALL = 740

ALICE, BOB = "alice@localhost", "bob@localhost"
PASSWORD = "wonder-land"


class World:
    """A server with players, games and letters.

    Attributes:
        urls: what is to be photographed, by its name.
    """

    def __init__(self, server: Running) -> None:
        self.server = server
        self.site = f"http://127.0.0.1:{server.web_port}"
        self.urls: dict[str, str] = {}

    def tab(self, address: str) -> Tab:
        """The page of the board that somebody's newest letter is about."""
        boards = [letter for letter in self.server.letters(address) if "/b/" in letter.text]
        return Tab(self.server.web_port, page_of(boards[-1])).load()

    def shows(self, name: str, path: str) -> None:
        self.urls[name] = self.site + path

    def says(self, who: str, words: str) -> None:
        """A command by mail."""
        self.server.send(who, words)

    def begun(self, options: str = "", *, hidden: bool = True) -> tuple[Tab, Tab]:
        """A new board of alice and bob."""
        self.says(ALICE, f"blackbox challenge alice {PASSWORD} bob {options}".strip())
        alice, bob = self.tab(ALICE), self.tab(BOB)
        if hidden:
            bob.press("b3,d3,f6,g7")
            alice.load().press("a1,c4,e5,g2")
        return alice, bob

    def volley(self, alice: Tab, bob: Tab, *ports: str) -> None:
        for port in ports:
            alice.load().press(port)
            bob.load().press(port)


def played(world: World) -> None:
    """Some months of play."""
    for name, address in (("alice", ALICE), ("bob", BOB), ("carol", "carol@localhost")):
        world.says(address, f"signup {name} {PASSWORD}")
        letter = world.server.letters(address)[-1]
        if name == "carol":
            world.shows("confirm", path_in(letter.text, "/confirm/"))
            world.shows("confirm-expired", "/confirm/unknown")
        else:
            world.server.reply(letter, "yes")
    world.server.letters(BOB)
    for number in range(5):
        alice, bob = world.begun()
        world.volley(alice, bob, "1", "2,+b3", "k", "d,+c4")
        (alice, bob)[number % 2].load().press("resign")
        world.server.live(days=2)
    alice, bob = world.begun()
    world.volley(alice, bob, "4", "b,+a1", "c", "11", "m,+e5")
    alice.load().press("/a1,/e5,+b3,+d3,+f6,+g7,?", "Well hidden!")
    bob.load().press("+a1,+c4,+e5,+g2,?")
    world.shows("board-over", alice.link or alice.path)
    world.shows("game-over", "/game/6")
    world.shows("game-turn", "/game/6?turn=9")
    world.shows("player", "/players/alice")
    world.shows("standings", "/standings")


def events(world: World) -> None:
    """Play a cup of three to its end, enter a league, and climb a ladder."""
    world.says("dora@localhost", f"signup dora {PASSWORD}")
    world.server.reply(world.server.letters("dora@localhost")[-1], "yes")
    world.says(ALICE, f'event alice {PASSWORD} create blackbox cup "Office cup" -entries=3')
    for name in ("bob", "dora"):
        world.says(f"{name}@localhost", f"event {name} {PASSWORD} join 1")
    for name in ("alice", "bob", "dora"):
        world.says(f"{name}@localhost", f"ladder join {name} {PASSWORD} blackbox")
    for name in ("alice", "bob"):
        world.says(f"{name}@localhost", f"league {name} {PASSWORD} join blackbox")
        world.says(f"{name}@localhost", f"prefs {name} {PASSWORD} digest=off")
    world.says(ALICE, f"team alice {PASSWORD} create Red Rooks")
    world.server.live(days=1)  # the cup begins
    world.server.live(days=25)
    world.says(ALICE, f"whoami alice {PASSWORD}")
    texts = [letter.text for letter in world.server.letters(ALICE)]
    newest = next(text for text in reversed(texts) if "/mine/" in text)
    world.shows("mine", path_in(newest, "/mine/"))
    world.shows("events", "/events")
    world.shows("event-over", "/events/1")
    world.shows("event-open", "/events/2")
    world.shows("ladders", "/ladder")
    world.shows("ladder", "/ladder/blackbox")
    world.shows("teams", "/teams")
    world.shows("team", "/teams/red-rooks")


def running(world: World) -> None:
    """Boards at each of their stages, and the boxes of the day."""
    world.says(BOB, f"blackbox daily bob {PASSWORD} 07:30")
    box = world.tab(BOB)
    archive = Tab(world.server.web_port, "/daily").load()
    number = int(re.findall(r"Daily Box (\d+)", archive.text)[-1])
    box.press("+" + ",+".join(atoms_of_day(world, number)) + ",?")
    world.server.live(days=1)
    _, challenge = world.begun(hidden=False)
    world.shows("board-asked", challenge.path)
    alice, bob = world.begun(hidden=False)
    bob.press("b3,d3,f6,g7")
    world.shows("board-hide", alice.path + "?" + urlencode({"move": "A1,C4"}))
    alice, bob = world.begun()
    world.volley(alice, bob, "4", "c,+b3", "8,+d3", "m")
    world.shows("board-turn", alice.path)
    world.shows("board-draft", alice.path + "?" + urlencode({"move": "+F6,A", "words": "Hm"}))
    world.shows("board-trouble", alice.path + "?" + urlencode({"move": "4,zz"}))
    world.shows("board-ray", alice.path + "?" + urlencode({"move": "+F6,A", "check": "4"}))
    world.shows("board-checked", alice.path + "?check=all")
    world.shows("board-waits", bob.path)
    world.shows("game-running", "/game/12")
    wide, other = world.begun("-size=14x10 -atoms=6", hidden=False)
    other.press("b3,d3,f6,g7,k9,m2")
    wide.load().press("a1,c4,e5,g2,i8,n10")
    world.volley(wide, other, "4", "c,+b3", "8,+d3")
    world.shows("board-wide", wide.path)
    world.says(BOB, f"blackbox seek bob {PASSWORD} -size=8x8 -atoms=5")
    world.shows("seeks", "/seeks")
    world.shows("dailies", "/daily")
    world.shows("proof", "/proof")
    world.shows("daily-open", f"/daily/{number}")
    world.shows("daily-shut", f"/daily/{number + 1}")
    ways = [str(letter.message["List-Unsubscribe"]) for letter in world.server.letters()]
    matches = re.findall(r"\+([a-z2-7]+)@", " ".join(ways))
    world.shows("unsubscribe", f"/unsubscribe/{matches[0]}")


def atoms_of_day(world: World, number: int) -> list[str]:
    """Return the atoms of the box of the day."""
    box = world.server.server.read(
        daily_boxes.of_day, "blackbox", day_numbers.day_of_number(number)
    )
    assert box is not None
    options = GAME.options(box.options, 1)
    return [options.board.names[cell] for cell in sorted(atoms_of(read_id(options.id)))]


def guest(world: World) -> None:
    """Today's box as a guest plays it."""
    tab = Tab(world.server.web_port, "/today").load()
    world.shows("today", "/today")
    for name, taps in (
        ("today-marked", ("A", "5", "+B3", "+D4")),
        ("today-over", ("+F1", "+G7", "?")),
    ):
        for tap in taps:
            state = unescape(re.findall(r'name="state" value="([^"]*)"', tab.html)[0])
            query = "?" + urlencode({"state": state, "tap": tap})
            tab.load(query)
        world.shows(name, "/today" + query)


def hot_seat(world: World) -> None:
    """Boxes that somebody hides by hand, and another one plays."""
    world.shows("hide", "/hide")
    presses = [{"tap": cell} for cell in ("B3", "D3", "F6", "G7")]
    presses += [{"hide": "yes"}, *({"tap": spot} for spot in ("A", "5", "+B3", "!H1"))]
    for name, count in (("hide-open", 4), ("hide-shut", 5), ("hide-played", 9)):
        tab = Tab(world.server.web_port, "/hide")
        tab._ask("POST", "/hide", urlencode({"option-size": "-size=8x8"}))
        tab.path = tab.headers["location"]
        for press in presses[:count]:
            turn = re.findall(r'name="turn" value="([^"]*)"', tab.load().html)[0]
            tab.post(urlencode({"turn": turn, **press}))
        world.shows(name, tab.path)


def mailbox(world: World) -> None:
    """Photograph the local mailbox."""
    world.server.settle()
    secret = mailbox_secret(world.server.server.mail_domain.ring)
    inbox = Tab(world.server.mailbox_port, f"/{secret}/{quote(ALICE)}/").load()
    letter = re.findall(
        r'href="([^"]+)">(?:<span class="new">new</span> )?<span class="subject">Your move',
        inbox.html,
    )[0]
    top = f"http://127.0.0.1:{world.server.mailbox_port}"
    world.urls |= {
        "mailbox": f"{top}/{secret}/",
        "mailbox-letters": top + inbox.path,
        "mailbox-write": f"{top}{inbox.path}write?answer={letter.rpartition('/')[2]}",
        "mailbox-letter": top + letter,
        "mailbox-text": f"{top}{letter}?as=text",
        "mailbox-frame": f"{top}{letter}/html",
    }


def operators(world: World) -> None:
    """Photograph the operators' pages, with a mail that waits for them."""
    world.server.send("carol@localhost", "Where is my board?", "x", to="postmaster@localhost")
    kept = world.server.server.web_stage.operators
    (mail,), _ = asyncio.run(kept.mails())
    top = f"http://127.0.0.1:{world.server.operators_port}"
    world.urls["operators"] = f"{top}/"
    for path in (
        *("sign-in", "mails", "letters?state=all", "players", "boards", "events", "games"),
        *("audit", "server", "correspondence?name=alice"),
    ):
        world.urls["operators-" + path.partition("?")[0]] = f"{top}/{path}"
    letter = world.server.server.value(select(func.max(outbox.c.id)))
    paths = {"mail": f"mails/{mail.id}", "letter": f"letters/{letter}", "player": "players/alice"}
    paths |= {"board": "boards/12", "game": "games/blackbox"}
    for name, path in paths.items():
        world.urls[f"operators-{name}"] = f"{top}/{path}"


def signed_in(context: BrowserContext, top: str, token: str) -> None:
    """Sign in to the operators' pages."""
    screen = context.new_page()
    screen.goto(f"{top}sign-in")
    screen.fill("#by", "olga")
    screen.fill("#token", token)
    follow(screen.get_by_role("button"))
    screen.close()


def path_in(text: str, begin: str) -> str:
    """The path that begins so, out of a letter."""
    match = re.search(
        re.escape(begin) + r"[A-Za-z0-9_-]+", text.replace("=\n", "").replace("=\r\n", "")
    )
    assert match is not None, begin
    return match[0]


def take(
    browser: Browser, urls: Mapping[str, str], folder: Path, top: str, token: str
) -> Iterator[Path]:
    """Photograph each, whole, at both widths and in both schemes.

    Args:
        top, token: where operators sign in, and with what.
    """
    for width in WIDTHS:
        for scheme in SCHEMES:
            context = browser.new_context(
                viewport={"width": width, "height": TALL}, color_scheme=scheme
            )
            signed_in(context, top, token)
            screen = context.new_page()
            for name, url in urls.items():
                answer = screen.goto(url)
                assert answer is not None
                assert answer.ok != (name in {"missing", "confirm-expired"}), (name, answer.status)
                path = folder / f"{name}-{width}-{scheme}.png"
                screen.screenshot(path=path, full_page=True)
                yield path
            context.close()


def main() -> None:
    """Play, and take them all, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    wanted = [name for names in PAGES.values() for name in names]
    settings = {"signup": "confirm", "address": "pbmserv@localhost", "mailbox": "127.0.0.1:0"}
    with TemporaryDirectory() as data:
        file = Path(data) / "token"
        file.touch(0o600)
        file.write_text(new_token())
        settings |= {"operator_pages": "127.0.0.1:0", "operator_token": str(file)}
        url = f"sqlite:///{data}/game.sqlite3"
        with start(Path(data), url, **settings) as server:
            world = World(server)
            for name in (
                *("front", "help", "help-tutorial", "help-blackbox", "help-prefs"),
                *("mine-link", "missing", "signup"),
            ):
                world.shows(name, "/" + name.replace("help-", "help/").replace("mine-link", "mine"))
            world.shows("front", "/")
            for act in (played, events, running, guest, hot_seat, mailbox, operators):
                act(world)
            assert sorted(world.urls) == sorted(wanted), set(wanted) ^ set(world.urls)
            urls = {name: world.urls[name] for name in chosen.names or wanted}
            with chromium() as browser:
                top = world.urls["operators"]
                taken = list(take(browser, urls, chosen.folder, top, file.read_text()))
    print(f"{len(taken)} pictures in {chosen.folder}")


if __name__ == "__main__":
    main()
