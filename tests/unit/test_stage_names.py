"""Names and numbers of a server's processes."""

from __future__ import annotations

import os

import pytest
from rows import rows

from pbmserv.stages.stage_names import post_count


@rows(("cores", "posts"), [(None, 1), (1, 1), (4, 4), (64, 8)])
def test_each_core_has_a_post_up_to_eight(
    cores: int | None, posts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert post_count() == posts
