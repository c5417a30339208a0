"""Mail and pages share the files that a process may open."""

from __future__ import annotations

from rows import rows

from pbmserv.stages.descriptors import needed_descriptors, share_out


@rows(("mail_ports", "web_ports"), [(1, 1), (2, 1), (2, 0), (3, 0)])
def test_a_usual_limit_is_enough_for_the_usual_settings(mail_ports: int, web_ports: int) -> None:
    divided = share_out(1024, 100, mail_ports, web_ports)
    assert (divided.sessions, divided.web, divided.warning) == (100, 200, "")


@rows("limit", [450, 500, 700, 1000])
def test_too_few_are_shared_and_told(limit: int) -> None:
    divided = share_out(limit, 200, 2, 1)
    assert 10 <= divided.sessions < 200
    assert 10 <= divided.web < 200
    assert needed_descriptors(divided.sessions, 2, 0) + divided.web + divided.web_own <= limit
    assert f"may open {limit} files" in divided.warning
    assert divided.warning.count(".") == 0
