"""One letter of each kind: plain, narrow, well-formed, and the same in text and HTML."""

from __future__ import annotations

import re
from base64 import b64decode
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from examples import DEEP
from headers import read_by_library
from indoors import PASSWORD, Posted, indoors
from letter_reading import check_form, facts, page_of
from letter_words import Letter, letters_within, words_named
from mailto_links import ANY, drafted
from stories import BOB, STORIES

from pbmserv.commands.grammar.readings import Reading
from pbmserv.commands.reading.mail import read_new_mail
from pbmserv.commands.table.looking import Games, Help
from pbmserv.errors import PlayerError, is_form
from pbmserv.inbound.headers import read_headers, split_block
from pbmserv.inbound.robots import automatic
from pbmserv.letters.template_values import DEFAULT_WORDS
from pbmserv.mail.key_ring import KeyRing
from pbmserv.mail.letter_kinds import KINDS
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.service.boards import player_boards, showing
from pbmserv.views.environment import template_of, templates_root

pytestmark = pytest.mark.slow

DARK = re.compile(r"@media \(prefers-color-scheme:dark\)\{\n(.*?)^\}\n", re.DOTALL | re.MULTILINE)
MARKS = ("Auto-Submitted", "X-Auto-Response-Suppress", "X-Loop", "List-Id")


MOST_ALIKE = 1_000 if DEEP else 1
"""Letters of a kind that are made; the stories have five, which are much alike."""


@dataclass
class Told:
    """The letters of all stories, in the order of their stories.

    Attributes:
        words: kind and words of each letter, and of each letter inside another one.
        made: the letters that are made: the first ones of each kind.
    """

    words: list[Letter] = field(default_factory=list)
    made: list[Posted] = field(default_factory=list)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    all_letters = Told()
    alike: Counter[tuple[str, ...]] = Counter()
    for story in (*STORIES, _a_fault_of_our_own):
        # Letters that are not kept are not made either, so look at each as soon as it is queued.
        for letter in story(tmp_path_factory.mktemp("story")):
            all_letters.words += letters_within(letter.kind, letter.queued.words)
            alike[letter.kind, *letter.inside] += 1
            if alike[letter.kind, *letter.inside] <= MOST_ALIKE:
                all_letters.made.append(letter)
    return all_letters


@pytest.fixture
def letters(told: Told) -> list[Posted]:
    """Letters of every kind."""
    return told.made


def _a_fault_of_our_own(folder: Path) -> Iterator[Posted]:
    with indoors(folder) as server, pytest.MonkeyPatch.context() as patch:
        server.sign_up("bob")
        yield from server.send(BOB, f"blackbox challenge bob {PASSWORD} house")
        with patch.context() as patched:
            patched.setattr(showing, "spoils", lambda *_: 1 / 0)
            yield from server.send(BOB, "blackbox show 1")
        patch.setattr(player_boards, "STATUSES", {})
        yield from server.send(BOB, "blackbox show bob")


TEMPLATES = {path.stem: path for path in (templates_root() / "letters").glob("*.j2")}
"""The templates of letters by kind."""


def test_the_stories_have_a_letter_of_every_kind(told: Told) -> None:
    assert {kind for kind, _ in told.words} == set(TEMPLATES)


def test_every_kind_in_the_table_has_a_template_with_all_blocks() -> None:
    assert set(KINDS) < set(TEMPLATES)
    for path in TEMPLATES.values():
        named = re.findall(r"{% block (\w+) %}", path.read_text("utf-8"))
        assert named == ["subject", "headline", "text", "html"], path


def test_somebody_gives_each_word_that_a_template_names(told: Told) -> None:
    """A misspelt word would only show where a letter is rare enough."""
    given = set(DEFAULT_WORDS).union(*(words for _, words in told.words))
    unknown = {kind: sorted(words_named(kind) - given) for kind in TEMPLATES}
    assert {kind: words for kind, words in unknown.items() if words} == {}


def test_every_letter_keeps_the_form(letters: list[Posted]) -> None:
    for letter in letters:
        check_form(letter, own_words=not letter.inside)


def test_letters_are_short_and_their_links_harmless_and_complete(letters: list[Posted]) -> None:
    """No link begins a mail with a word such as FRIEND or PASSWORD in it."""
    for letter in letters:
        if letter.has_html:
            assert len(letter.html.encode()) < 60_000, letter.kind
            for draft in map(drafted, ANY.findall(letter.html)):
                assert not is_form(f"{draft.subject}\n{draft.body}"), (letter.kind, draft)
                if draft.body:
                    assert draft.to.startswith("pbmserv+")
                    assert re.match(r"Re: |Board\d+$", draft.subject), draft
                    assert not draft.body.startswith(("resign", "delete", "signoff"))


def rules_by_selector(sheet: str) -> set[tuple[str, str]]:
    """Return each selector of a stylesheet with the declarations of its rule."""
    rules = [line.partition("{") for line in sheet.splitlines()]
    return {(selector, rule) for selectors, _, rule in rules for selector in selectors.split(",")}


def test_pages_are_such_as_all_mail_programs_show(letters: list[Posted]) -> None:
    """Outlook's engine is Word's: tables with widths as attributes, no boxes of newer kinds.

    The style block has the rules of boards and dark colours alone, and nothing is fetched.
    """
    boards = rules_by_selector(
        template_of("games/blackbox/head.css").render().partition("@media")[0]
    )
    for page in (letter.html for letter in letters if letter.has_html):
        block = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
        assert block is not None
        rules = block[1].replace("\r", "")
        frame = ":root{color-scheme:light dark}\na{color:#1f4e4e}\n"
        outside = DARK.sub("", rules).strip("\n") + "\n"
        assert outside.startswith(frame)
        assert rules_by_selector(outside.removeprefix(frame)) <= boards
        inside = "".join(DARK.findall(rules))
        assert set(re.findall(r"([a-z-]+):", re.sub(r"[^{}]*\{", "{", inside))) <= {
            "background", "color", "border-color",
        }  # fmt: skip
        body = page.partition("<body")[2]
        assert body.count("<!--[if mso]>") == body.count("<![endif]-->") > 0
        for style in re.findall(r'style="([^"]*)"', body):
            rules = dict(rule.split(":", 1) for rule in style.split(";"))
            assert rules.get("display", "block") in {"block", "inline-block"}, style
            assert not rules.keys() & {"position", "float", "gap", "transform", "opacity"}, style
            assert "url(" not in style
            assert "var(" not in style
            assert not any("-" in v for k, v in rules.items() if k.startswith("margin")), style
        for attributes in re.findall(
            r"<table([^>]*)>(?=(?:(?!</table>).)*<table)", body, re.DOTALL
        ):
            assert 'role="presentation"' in attributes


def test_letters_are_well_formed_for_a_reader_that_looks_at_each_line(
    letters: list[Posted],
) -> None:
    """The other tests read them quicker (`headers.py`)."""
    for letter in letters:
        their_parts = list(read_by_library(letter.raw).walk())
        assert not any(part.defects for part in their_parts)
        our_parts = list(letter.message.walk())
        for our_part, their_part in zip(our_parts, their_parts, strict=True):
            assert list(our_part.raw_items()) == list(their_part.raw_items())
            assert our_part.is_multipart() or our_part.get_payload() == their_part.get_payload()
            assert (our_part.preamble, our_part.epilogue) == (
                their_part.preamble,
                their_part.epilogue,
            )


def test_text_and_page_have_the_same_headline(letters: list[Posted]) -> None:
    for letter in letters:
        headline = letter.text.partition("\n\n")[0].replace("-- Reply above this line --", "")
        assert not letter.has_html or headline.split() == page_of(letter.html).heading.split()


def test_text_and_page_tell_the_same(letters: list[Posted]) -> None:
    userids = {letter.recipient.partition("@")[0] for letter in letters}
    for letter in letters:
        if letter.has_html:
            page = page_of(letter.html)
            inside, outside = facts(letter.text, userids), facts(page.prose, userids)
            assert outside <= inside, letter.text
            if letter.board is None and "|==" not in letter.text:  # else a board says some of it
                assert outside == inside, letter.text


def test_letters_about_a_board_are_one_thread(letters: list[Posted]) -> None:
    indices: dict[str, set[bytes]] = defaultdict(set)
    for letter in letters:
        if letter.board is not None and letter.seat is not None:
            references = str(letter.message["References"] or "").split()
            assert len(references) == len(set(references)) <= 2
            assert letter.message["In-Reply-To"] in {None, *references}
            root = f"<{letter.board}.0.{letter.seat}."
            ids = [*references, str(letter.message["Message-ID"])]
            first = next(message_id for message_id in ids if message_id.startswith(root))
            indices[first].add(b64decode(letter.message["Thread-Index"])[:22])
            topic = letter.message["Thread-Topic"]
            assert topic in {f"{title} {letter.board}" for title in ("Blackbox", "Liar's dice")}
            assert topic in letter.subject or "Daily Box" in letter.subject
        assert not letter.subject.startswith("Re:")
    assert {len(beginnings) for beginnings in indices.values()} == {1}


def test_every_letter_says_that_a_machine_has_written_it(letters: list[Posted]) -> None:
    """RFC 3834 section 5 and its older kin: nothing of ours may be answered by a machine."""
    for letter in letters:
        marks = {name: letter.message.get_all(name) for name in MARKS}
        submitted = "auto-replied" if letter.message["In-Reply-To"] else "auto-generated"
        if submitted == "auto-replied" and marks["Auto-Submitted"] == ["auto-generated"]:
            submitted = "auto-generated"  # it belongs to a thread, but nothing was asked
        assert marks == {
            "Auto-Submitted": [submitted],
            "X-Auto-Response-Suppress": ["All"],
            "X-Loop": ["pbmserv@games.example"],
            "List-Id": ["<pbmserv.games.example>"],
        }, letter.kind
        assert letter.message["Reply-To"]
        assert letter.message["Message-ID"]
        block, _ = split_block(letter.raw)
        # By this server, by another one of its kind, and by one that knows RFC 3834 only.
        verdicts = {
            domain: automatic(
                read_headers(block),
                MailDomain("pbmserv", domain, KeyRing({})),
                "someone@elsewhere.example",
                "bob@players.example",
                letter.subject,
            ).reason
            for domain in ("games.example", "another.example")
        }
        assert verdicts == {"games.example": "own-loop", "another.example": "mailing-list"}


def test_passwords_stand_in_no_letter(letters: list[Posted]) -> None:
    for letter in letters:
        html = letter.html if letter.has_html else ""
        for part in (letter.text, html, letter.subject, letter.raw.decode("ascii")):
            assert PASSWORD not in part
            assert "another-word" not in part
            assert "new-word" not in part


def subjects_but_daily(letters: list[Posted]) -> set[str]:
    """Return the subjects of all kinds of letters but those of boxes of the day.

    Their name is worth it: at worst somebody called "box" is asked for a password.
    """
    alike = {re.sub(r"\d+", "1", letter.subject): letter.subject for letter in letters}
    return {subject for kind, subject in alike.items() if kind != "Daily Box 1"}


def one_of(bodies: tuple[str, ...], number: int) -> tuple[str, ...]:
    """Return one of the texts, in a deep run all of them."""
    return bodies if DEEP else (bodies[number % len(bodies)],)


def test_the_subject_of_a_letter_asks_for_nothing(letters: list[Posted]) -> None:
    """Some programs write to From, where the subject of a reply is read as a command."""
    for number, subject in enumerate(sorted(subjects_but_daily(letters))):
        for body in one_of(("", "b3", "yes"), number):
            read_as = read_new_mail(f"Re: {subject}", body, {"blackbox": "Blackbox"})
            meanings = [line.meaning for line in read_as.lines]
            assert all(isinstance(meaning, PlayerError | Help | Games) for meaning in meanings), (
                subject
            )


def test_below_the_subject_of_a_letter_the_words_count(letters: list[Posted]) -> None:
    """Behind "Re:" it is what was answered, and nobody's command."""
    bodies = ("What a lovely game!", "blackbox show 1", "mvoe 1 bob")
    alone = {body: _echoes(read_new_mail("", body, {"blackbox": "Blackbox"})) for body in bodies}
    for number, subject in enumerate(sorted(subjects_but_daily(letters))):
        for body in one_of(bodies, number):
            below = read_new_mail(f"Re: {subject}", body, {"blackbox": "Blackbox"})
            assert _echoes(below) == alone[body], subject


def _echoes(reading: Reading) -> list[tuple[str, object]]:
    return [
        (line.echo, line.meaning.refusal if isinstance(line.meaning, PlayerError) else line.meaning)
        for line in reading.lines
    ]
