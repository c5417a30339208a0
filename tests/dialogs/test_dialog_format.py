"""A wrong dialog fails, and the message says where and why."""

from __future__ import annotations

from pathlib import Path

import pytest
from dialog_play import DialogFailed, Play
from dialog_reader import DialogError, read_dialog
from rows import rows
from running import Correspondence

ASK = "bob writes\n    Subject: list\n\n"
STORY = "# A story.\n\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "a.dialog"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (STORY + "bob got a letter\n", "a.dialog:3: .* is nothing that can happen"),
        (STORY + "bob writes\n  Subject: list\n", "a.dialog:4: text is indented by 4"),
        (STORY + ASK + ASK, "a.dialog:3: what comes of this mail"),
        (STORY + ASK + "bob replies to the list\n    a\n", "a.dialog:6: nobody has got a letter"),
        (STORY + ASK + "player: bob toolbelt\n", "a.dialog:6: player stands alone, above"),
    ],
)
def test_unknown_lines_of_a_dialog_are_errors(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(DialogError, match=why):
        read_dialog(written(tmp_path, text))


@pytest.mark.slow
@rows(
    ("text", "why"),
    [
        ("nobody gets a letter\n", "a.dialog:6: before this, a letter came that is not mentioned"),
        ("alice gets a letter\n", "a.dialog:6: no letter came to alice"),
        ("bob gets a letter\nbob gets a letter\n", "a.dialog:7: no letter came to bob"),
        ("bob gets a letter\n    Subject: Lists\n", "a.dialog:7: the subject is not 'Lists'"),
        ("bob gets a letter\n    Chess\n", "a.dialog:7: this is not in the letter:\n\n    Chess\n"),
        ("bob gets a letter\n    Blackbox\n    to play here\n", "8: this is not .* but further up"),
        ("bob gets a letter\n        Black\n", "a.dialog:7: this is not in the letter"),
        ("bob gets a letter\n    without: Blackbox\n", "a.dialog:7: this must not be in"),
        ("the mail is turned away: 550 5.1.1\n", "a.dialog:6: the server replied: 250"),
    ],
)
def test_a_failure_shows_the_letter_that_differs_from_the_dialog(
    handed_in: Correspondence, tmp_path: Path, text: str, why: str
) -> None:
    dialog = read_dialog(written(tmp_path, STORY + ASK + text))
    with pytest.raises(DialogFailed, match=why) as failed:
        Play(dialog, handed_in).play()
    nothing_to_show = ("250", "No letter came to anybody")
    if not any(words in str(failed.value) for words in nothing_to_show):
        assert "The letter that came:" in str(failed.value)
        assert "Subject: Games you can play here" in str(failed.value)


def test_passwords_are_declared_and_looked_for(handed_in: Correspondence, tmp_path: Path) -> None:
    signup = STORY + "bob writes\n    Subject: signup bob toolbelt\n\nbob gets a letter\n"
    shown = STORY + "password: blackbox\n\n" + ASK + "bob gets a letter\n"
    wrong = ((signup, 'say at the top: "password: toolbelt"'), (shown, "shows the password"))
    for text, why in wrong:
        with pytest.raises(DialogFailed, match=why):
            Play(read_dialog(written(tmp_path, text)), handed_in).play()
