"""The example of a refusal, sent back as a reply to it, works and costs only what was asked for.

Forms to fill in ("forgot USERID") are no examples. The refusals are those of all dialogs.
"""

from __future__ import annotations

import re
from pathlib import Path

import dialog_play
import pytest
from dialog_reader import read_dialog
from examples_tried import Tried, examples_of

FOLDER = Path(dialog_play.__file__).parent
WITH_EXAMPLES = sorted(
    path for path in FOLDER.glob("*.dialog") if "Try this" in path.read_text("utf-8")
)
BEGINS = re.compile(r"\b(challenge|challange|solo|rematch|replay|seek|play|daily)\b", re.IGNORECASE)
"""Words with which people ask for a board."""

FREE = re.compile(r"[+/!][^?]*")


def check(tried: Tried) -> None:
    assert not tried.again, f"the example is refused: {tried}"
    assert tried.letters, f"the example is answered by silence: {tried}"
    assert tried.begun == 0 or BEGINS.search(tried.wrote), f"nobody asked for a board: {tried}"
    if "resign" in tried.plies:
        assert "resign" in tried.wrote or "give up" in tried.wrote, (
            f"nobody wanted to give up: {tried}"
        )
    elif tried.code != "unsubscribe":
        assert not tried.costs, f"nobody wrote {tried.costs}: {tried}"


@pytest.mark.slow
@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.stem)
def test_examples_work_and_cost_nothing_that_was_not_asked_for(path: Path, tmp_path: Path) -> None:
    for tried in examples_of(read_dialog(path), tmp_path):
        check(tried)
