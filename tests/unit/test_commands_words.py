"""Words of a line, in which the effects of keyboards and mail programs are undone."""

# ruff: noqa: RUF001 - typographic characters are what is tested

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.commands.grammar.words import fold, split


@rows(
    ("typed", "plain"),
    [
        ("g,+b2", "g,+b2"),
        ("＋ｂ２", "+b2"),
        ("–a1", "-a1"),
        ("—a1", "-a1"),
        ("\u2212a1", "-a1"),
        ("\u2010a1", "-a1"),
        ("a\u00a0b", "a b"),
        ("a\u3000b\u2009c\td", "a b c d"),
        ("g\u200b,\ufeff+b2\u200e", "g,+b2"),
        ("mo\u00adve", "move"),
        ("“new pw”", '"new pw"'),
        ("„neues“ ‚Wort‘", "\"neues\" 'Wort'"),
        ("«mot» ‹mot›", "\"mot\" 'mot'"),
        ("x « mot d’or » y", 'x "mot d\'or" y'),
        ("x «\u202fmot\u00a0» ‹ mot ›", "x \"mot\" 'mot'"),
        ("x »Wort« y »Wort« z", 'x "Wort" y "Wort" z'),
        ("-size=8×8", "-size=8x8"),
        ("Jürgen José", "Jürgen José"),
        ("a\x00b\x7f", "ab"),
        ("a\ud800b", "ab"),
    ],
)
def test_odd_characters_become_the_plain_ones_they_stand_for(typed, plain):
    assert fold(typed) == plain


@rows(
    ("line", "words"),
    [
        ("", []),
        ("   ", []),
        ("move 12  alice", ["move", "12", "alice"]),
        ('a "b c" d', ["a", "b c", "d"]),
        ("a 'b c' d", ["a", "b c", "d"]),
        ("„b c“ «d e»", ["b c", "d e"]),
        ('a "b c', ["a", '"b', "c"]),
        ("it's fine 'quoted one'", ["it's", "fine", "quoted one"]),
        ("'it's mine' x", ["it's mine", "x"]),
        ('-seed="two words" x', ["-seed=two words", "x"]),
        ('a "" b', ["a", "", "b"]),
        ('pass"word', ['pass"word']),
    ],
)
def test_blanks_separate_and_quotes_join(line, words):
    assert [word.text for word in split(line)] == words


@given(st.text())
def test_folding_twice_changes_nothing_more(text):
    assert fold(fold(text)) == fold(text)


@given(st.lists(st.from_regex(r"[a-z0-9+,#=-]{1,8}", fullmatch=True)))
def test_plain_words_come_back_as_they_were(words):
    assert [word.text for word in split(" ".join(words))] == words
