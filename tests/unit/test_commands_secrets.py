"""Echoes and refusals never repeat a password, even if the command is garbled."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st
from rows import rows

from pbmserv.commands.grammar.readings import Reading
from pbmserv.commands.reading.mail import read_new_mail
from pbmserv.errors import PlayerError

GAMES = {"blackbox": "Blackbox", "ttt": "Tic-tac-toe"}
NAMES = {"blackbox", "Tic-tac-toe"}
"""Names of games in the forms."""

PASSWORDS = st.one_of(
    st.from_regex(r"[A-Za-z0-9_-]{3,16}", fullmatch=True),
    st.text(
        st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_characters="\x7f\xad'\""),
        min_size=3,
        max_size=16,
    ),
).map(lambda text: f"Zq{text}")
"""A text that no command contains by itself, as `Zq` begins none of its words."""

FORMS = [
    "blackbox move 12 alice {} g,+b2",
    "move 12 alice {} g#7",
    "blackbox move 12 alice {} resign",
    "Tic-tac-toe move 12 alice {} b2",
    "blackbox resign 12 alice {}",
    "accept 12 alice {}",
    "blackbox reject #12 alice {}",
    "blackbox chat 12 alice {}",
    "blackbox showas alice {} 12 next",
    "showas alice {}",
    "message alice {} bob carol",
    "signup alice {} alice@example.org",
    "add alice {}",
    "change password alice {} newer",
    "change password alice older {}",
    "password alice {} newer",
    "blackbox queue 12 alice {} g",
    "queue 12 alice {} g if a=# or not %: c,+b2; d else j",
    "blackbox submit 12 alice {} g,+b2",
    "confirm 12 alice {}",
    "undo 12 alice {}",
    "blackbox check 12 alice {}",
    "rematch 12 alice {}",
    "seek alice {}",
    "blackbox seek alice {} 2 -size=8x8",
    "seek alice {} off",
    "subscribe 12 alice {}",
    "unsubscribe 12 alice {}",
    "prefs alice {}",
    "prefs alice {} format=text digest=daily@07:30",
    "away alice {} until 24 Dec",
    "away alice {} friday",
    "back alice {}",
    "signoff alice {}",
    "delete alice {}",
    "export alice {}",
    "broadcast alice {}",
    "change address alice {} alice@example.org",
    "blackbox move alice 12 {} g",
    "blackbox record 12 alice {}",
    "report 12 alice {}",
    "blackbox show 12 alice {}",
]


def assert_silent(reading: Reading, secret: str) -> None:
    for line in reading.lines:
        assert secret not in line.echo
        assert secret.lower() not in line.echo.lower()
        if isinstance(line.meaning, PlayerError):
            refusal = line.meaning.refusal
            texts = [refusal.part, refusal.example, *map(str, refusal.values.values())]
            assert not [text for text in texts if secret.lower() in text.lower()]
            assert secret not in str(line.meaning)


@given(
    form=st.sampled_from(FORMS),
    secret=PASSWORDS,
    drop=st.integers(0, 6),
    junk=st.sampled_from(["", "x", "12", "al!ce", "please", "a b", "--", "-"]),
    at=st.integers(1, 7),
)
def test_a_command_with_a_word_missing_or_too_much(form, secret, drop, junk, at):
    words = form.split()
    # Without the words in front of it, a password is in the place of a command.
    start = 2 if words[0] in {*NAMES, "change"} else 1
    place = start + drop
    if place < len(words) and words[place] != "{}":
        del words[place]
    words.insert(max(start, min(at, len(words))), junk)
    reading = read_new_mail(" ".join(words).format(secret), "", GAMES)
    # With one word missing and another added, the line looks like a correct command.
    assume(not junk or not _taken_for_another_word(reading, secret))
    assert_silent(reading, secret)


@given(form=st.sampled_from(FORMS), secret=PASSWORDS, data=st.data())
def test_a_command_whose_name_is_misspelt(form, secret, data):
    words = form.split()
    place = 1 if words[0] in NAMES else 0
    name = words[place]
    at = data.draw(st.integers(0, len(name) - 1))
    words[place] = name[:at] + data.draw(st.sampled_from(["", "x", "ee", "#"])) + name[at + 1 :]
    assume(words[place])
    assert_silent(read_new_mail(" ".join(words).format(secret), "", GAMES), secret)


@given(form=st.sampled_from(FORMS), secret=PASSWORDS, data=st.data())
def test_a_command_that_the_mail_program_wrapped(form, secret, data):
    words = form.split()
    at = data.draw(st.integers(1, len(words) - 1))
    body = " ".join(words[:at]) + "\n" + " ".join(words[at:])
    assert_silent(read_new_mail("", body.format(secret), GAMES), secret)


@rows("secret", ["resing1", "helpp7", "challengers", "mvoed"])
def test_a_wrapped_password_that_is_like_the_name_of_a_command(secret: str) -> None:
    reading = read_new_mail("", f"blackbox show 1\nprefs alice\n{secret}", GAMES)
    assert len(reading.lines) == 3
    assert_silent(reading, secret)


def _taken_for_another_word(reading: Reading, secret: str) -> bool:
    meaning = reading.lines[0].meaning
    return not isinstance(meaning, PlayerError) and secret.lower() in repr(meaning).lower()
