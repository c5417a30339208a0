"""The new text of a reply is kept, and quoted text is never returned."""
# ruff: noqa: RUF001 - letters of other alphabets are meant

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from mail_quotes import ATTRIBUTIONS, HEADER_BLOCKS, MARKS, ORIGINALS
from rows import rows

from pbmserv.inbound.quotes.line_signs import MARKER, unadorned
from pbmserv.inbound.quotes.reply import read_new_text

MAILMAN = """\
g,+b2

_______________________________________________
Players mailing list
Players@example.org
resign
"""
GROUPS = "g,+b2\n\n--~--~---------~--~----~------------~-------~--~----~\nresign\n"
GROUPS_NEW = "g,+b2\n\nYou received this message because you are subscribed\nresign\n"
SUPERCITE = "g,+b2\n\nBob> resign\nBob>> chat\n"


@rows(
    "text",
    [
        MAILMAN,
        GROUPS,
        GROUPS_NEW,
        SUPERCITE,
        f"g,+b2\n\n*** {MARKER.upper()} ***\nresign\n",
        "g,+b2\n\nSomebody in an unknown tongue, 3.3.2014:\n> resign\n",
        "g,+b2\n\nBlackbox <b@play.example.net> jotain kummaa\nklo 10.00 3.3.2014:\n> resign\n",
        "g,+b2\n-- \nAlice\nresign\n",
        "g,+b2\n—\nAlice\nresign\n",
        "g,+b2\n\nPlease excuse my brevity.\n",
        "\n\n  \ng,+b2\n\n\n",
        "g,+b2\n\u200f\u202b> resign\n",
        "g,+b2\n＞ resign\n",
        "g,+b2\n&gt; resign\n",
        "g,+b2\n| resign\n",
    ],
)
def test_each_client_s_reply_leaves_the_move(text):
    assert read_new_text(text).text == "g,+b2"


@rows("block", HEADER_BLOCKS.values(), ids=HEADER_BLOCKS)
def test_a_header_block_in_any_language_ends_the_new_text(block):
    assert read_new_text(f"g,+b2\n\n{block}\n\nresign\n").text == "g,+b2"
    bold = "\n".join(f"*{line.replace(':', ':*', 1)}" for line in block.split("\n"))
    assert read_new_text(f"g,+b2\n\n{bold}\n\nresign\n").text == "g,+b2"
    assert read_new_text(f"{block}\n\nresign\n").text == ""


@rows("line", ORIGINALS)
def test_the_original_message_line_ends_the_new_text(line):
    assert read_new_text(f"g,+b2\n\n{line}\nresign\n").text == "g,+b2"


def test_a_quote_on_the_attribution_s_own_line_is_left_out():
    head = "On Mon, Mar 3, 2014 at 10:00 AM, Blackbox<b+12@play.example.net> wrote:"
    assert read_new_text(f"g,+b2\n\n  {head}   resign\nblackbox resign 12\n").text == "g,+b2"
    assert read_new_text(f"g,+b2\n{head} {'resign ' * 200}\n").text == "g,+b2"


@rows("odd", [*"\u034f\u00ad\u115f\u200b\u2060\u3164\ufe0f\ufeff", "\U000e0020"])
def test_an_invisible_character_before_the_mark_hides_no_quote(odd):
    assert read_new_text(f"g,+b2\n\n{odd}> resign\n").text == "g,+b2"


def test_answers_between_quotes_are_new_if_nothing_stands_above():
    assert read_new_text("> one?\n\na\n\n> two?\nb\n> three?\n").text == "a\n\nb"


def test_the_marker_ends_reading_unless_it_is_marked_as_quoted():
    assert read_new_text(f"{MARKER}\n\ng,+b2\n").text == ""
    assert read_new_text("reply\u00a0above  this LINE:\n\ng,+b2\n").text == ""
    assert read_new_text(f"| {MARKER} |\n\ng,+b2\n").text == ""
    assert read_new_text(f"> {MARKER}\n> resign\n\ng,+b2\n").text == "g,+b2"
    assert read_new_text(f"> {MARKER}\n\nresign\n\n{MARKER}\ng").text == "resign"


def test_clear_signed_text_comes_without_its_armour():
    text = (
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\nCharset: utf-8\n\n"
        "g,+b2\n- -a1\n> resign\n"
        "-----BEGIN PGP SIGNATURE-----\n\niQEz\n-----END PGP SIGNATURE-----\n"
    )
    assert read_new_text(text).text == "g,+b2\n-a1"
    assert read_new_text("-----BEGIN PGP MESSAGE-----\n\nhQEMA\n").text == ""


# Lines of a quoted text; a client quotes each line of it.
LINES = st.lists(st.text(st.characters(blacklist_characters="\n"), max_size=30), max_size=12)
STYLES = st.sampled_from(MARKS)
DIVIDERS = st.sampled_from(
    [*ATTRIBUTIONS.values(), *HEADER_BLOCKS.values(), *ORIGINALS, "-- ", MARKER]
)


@given(LINES, STYLES)
def test_marked_quotes_never_come_through(lines, style):
    quoted = "\n".join(style + line for line in lines)
    assert read_new_text(quoted).text == ""
    assert read_new_text("g,+b2\n\n" + quoted).text == "g,+b2"


@given(LINES, DIVIDERS)
def test_unmarked_quotes_below_a_divider_never_come_through(lines, divider):
    unmarked = "\n".join(lines)
    assert read_new_text(f"g,+b2\n\n{divider}\n{unmarked}").text == "g,+b2"


@given(st.text(max_size=400))
@example("__0__")
def test_any_text_gives_some_of_its_own_lines(text):
    own = {line.rstrip() for line in text.split("\n")}
    plain = {unadorned(line).rstrip() for line in own}  # as in "*g,+b2*", which a program made bold
    assert set(read_new_text(text).text.split("\n")) <= own | plain | {""}


BLOCK = (
    "pbmserv <p@games.example>\n03/01/2026 12:00 PM\n\nTo\na@players.example\ncc\n\nSubject\nx\n"
)


@rows(
    "below",
    [
        f"{BLOCK}\nresign\n",
        f"{BLOCK}\n{MARKER}\nresign\n",
        "On Sunday, March 1, 2026, pbmserv <p@games.example> wrote\n\nresign\n",
        "From: pbmserv [mailto:p@games.example] On Behalf Of a@players.example\nresign\n",
        "Gesendet an A@Players.Example, 1. 3. 2026\nresign\n",
        "p@games.example\n\n*To*\nresign\n",
    ],
)
def test_no_header_block_is_passed_on_with_the_writer_s_address(below):
    assert (
        read_new_text(f"h\n\nGood luck!\n\n{below}", "a@players.example").text == "h\n\nGood luck!"
    )
    kept_text = read_new_text(below, "a@players.example")
    assert kept_text.text == "" or kept_text.text.startswith("Gesendet")
    assert kept_text.left_out or kept_text.text


@rows(
    "text",
    ["h\n\nto\nor not to", "a\nb", "an\nTo\n", "signup a secret a@players.example", "a@b.example"],
)
def test_labels_and_addresses_alone_are_words(text):
    assert read_new_text(text, "a@players.example").text == text.strip()


GREETED = [
    "Hi Bob!\n\nOn 1 March 2026, pbmserv wrote:\n> It is your turn.\n\nh\n",
    "Hello pbmserv,\n\nSunday, March 1, 2026, 12:00:00 PM, you wrote:\n\n> Your turn.\n\nh\n",
    "Quoting pbmserv <p@games.example>:\n\n> It is your turn.\n\nh\n",
    "Zitat von pbmserv <p@games.example>:\n\n> It is your turn.\n\nh\n",
    "Hallo!\n\nZitat von pbmserv:\n\n> It is your turn.\n\nh\n",
    "pbmserv <p@games.example>:\n\n> It is your turn.\n\nh\n",
    "\u041f\u0440\u0438\u0432\u0435\u0442!\n> It is your turn.\n\nh\n",
]


@rows("text", GREETED)
def test_an_answer_below_a_quote_is_found_under_a_greeting(text):
    assert read_new_text(text).text == "h"


@rows("text", GREETED)
def test_a_greeting_above_a_quote_is_all_if_nothing_is_below(text):
    greeting = text.partition("\n")[0]
    greets = not greeting.endswith(":")
    assert read_new_text(text.removesuffix("\nh\n")).text == (greeting if greets else "")


@rows("above", ["Hi Bob, no time today.", "g", "Dear me\ng", "hello 5"])
def test_words_above_a_quote_are_no_greeting(above):
    assert read_new_text(f"{above}\n\n> It is your turn.\n\nresign\n").text in {above, "Dear me\ng"}


@rows(
    ("line", "plain"),
    [
        ("*h,+b2*", "h,+b2"),
        ("**h,+b2**", "h,+b2"),
        ("_h_", "h"),
        ("- h", "h"),
        ("- h,+b2", "h,+b2"),
        ("- +b2", "+b2"),
        ("- resign", "resign"),
        ("* h", "h"),
        ("\u2022 b2", "b2"),
        ("\u2022 *h*", "h"),
        ("-a1", "-a1"),
        ("- a1", "- a1"),
        ("- 12", "- 12"),
        ("*a* or *b*", "*a* or *b*"),
        ("**", "**"),
        ("a*b", "a*b"),
        ("1. h", "1. h"),
    ],
)
def test_bold_letters_and_items_of_a_list_lose_their_marks(line, plain):
    assert read_new_text(line).text == plain
