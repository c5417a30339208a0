"""Each process may open as many files as its ports have connections."""

from __future__ import annotations

from rows import rows

from pbmserv.stages.descriptors import needed_descriptors


@rows("mail_ports", [1, 2, 3])
def test_a_usual_limit_is_enough_for_the_usual_settings(mail_ports: int) -> None:
    assert needed_descriptors(100, mail_ports, has_pages=True) <= 1024
