"""Mail and pages share the files that a process may open."""

from __future__ import annotations

import resource

import pytest
from rows import rows

from pbmserv.errors import ConfigError
from pbmserv.stages import descriptors
from pbmserv.stages.descriptors import raise_limit, share_out, wanted


@rows(("mail_ports", "web_ports"), [(1, 1), (2, 1), (2, 0), (3, 0)])
def test_a_usual_limit_is_enough_for_the_usual_settings(mail_ports: int, web_ports: int) -> None:
    divided = share_out(1024, 100, mail_ports, web_ports)
    assert (divided.sessions, divided.web, divided.warning) == (100, 200, "")


@rows("limit", [450, 500, 700, 1000])
def test_too_few_are_shared_and_told(limit: int) -> None:
    divided = share_out(limit, 200, 2, 1)
    assert 10 <= divided.sessions < 200
    assert 10 <= divided.web < 200
    assert wanted(divided.sessions, 2, 0) + divided.web + divided.web_own <= limit
    assert f"may open {limit} files" in divided.warning
    assert divided.warning.count(".") == 0


def test_hardly_any_are_no_service() -> None:
    with pytest.raises(ConfigError, match=r"may open 300 files .* need 1004; raise the limit"):
        share_out(300, 100, 2, 1)


@rows(
    ("soft", "hard", "most", "granted"),
    [
        (256, 4096, None, 1000),
        (256, 800, None, 800),
        (2000, 4096, None, 2000),
        (256, -1, None, 1000),
        (-1, -1, None, 1000),
        (256, -1, 512, 256),
    ],
)
def test_the_limit_is_raised_as_far_as_it_may_be(
    soft: int, hard: int, most: int | None, granted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert resource.RLIM_INFINITY == -1
    limits = [(soft, hard)]

    def limit(_: int, to: tuple[int, int]) -> None:
        if most is not None and to[0] > most:
            raise ValueError("current limit exceeds maximum limit")
        limits.append(to)

    monkeypatch.setattr(descriptors.resource, "getrlimit", lambda _: limits[-1])
    monkeypatch.setattr(descriptors.resource, "setrlimit", limit)
    assert raise_limit(1000) == granted
    assert limits[-1] in {(soft, hard), (granted, hard)}
