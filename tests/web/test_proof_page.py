"""The page that checks a finished game by uploaded letters."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

import pytest
from asgi_client import Answer, fetch, site_of
from indoors import Indoors, indoors
from mailboxes_of_games import as_mbox, begin_game
from starlette.applications import Starlette

from pbmserv.web.pages import proof

BOUNDARY = "----WebKitFormBoundaryAbCd"


@pytest.fixture(scope="module")
def mails(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Everything in a player's mailbox after a game."""
    with begin_game(
        tmp_path_factory.mktemp("game"),
        "blackbox challenge anna bela -size=4x4 -atoms=1",
        "anna",
        "bela",
    ) as game:
        game.play(["b2", "c3"])
        return game.mails["anna"]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indoors]:
    with indoors(tmp_path_factory.mktemp("house")) as opened:
        yield opened


@pytest.fixture
def site(house: Indoors) -> Starlette:
    return site_of(house.server)


def upload(site: Starlette, *files: bytes, text: bytes = b"") -> Answer:
    """Send the form as a browser does."""
    parts = [
        b'Content-Disposition: form-data; name="files"; filename="a.eml"\r\n'
        b"Content-Type: application/octet-stream\r\n\r\n" + file
        for file in files
    ]
    parts.append(b'Content-Disposition: form-data; name="text"\r\n\r\n' + text)
    mark = f"--{BOUNDARY}\r\n".encode()
    body = b"".join(mark + part + b"\r\n" for part in parts) + f"--{BOUNDARY}--\r\n".encode()
    kind = f"multipart/form-data; boundary={BOUNDARY}"
    return asyncio.run(fetch(site, "/proof", "POST", body, content_type=kind))


def words(answer: Answer) -> str:
    return " ".join(re.sub("<[^>]*>", " ", answer.body.decode()).split())


def test_a_mailbox_and_single_letters_prove_a_game(site: Starlette, mails: list[bytes]) -> None:
    for answer in (
        upload(site, as_mbox(mails)),
        upload(site, *mails),
        upload(site, as_mbox(mails[:-1]), text=mails[-1]),
    ):
        assert answer.status == 200
        assert "Board 1, Blackbox: anna - bela: proven" in words(answer)
        assert b"no-store" in dict(answer.headers)[b"cache-control"]


def test_a_letter_that_is_uploaded_twice_counts_once(site: Starlette, mails: list[bytes]) -> None:
    assert words(upload(site, *mails, mails[-1])) == words(upload(site, *mails))


def test_a_changed_letter_is_named(site: Starlette, mails: list[bytes]) -> None:
    other = re.sub(rb" record=[0-9a-f]{8}", b" record=00000000", mails[-1])
    assert "does not fit" in words(upload(site, *mails[:-1], other))


def test_a_form_without_letters_says_so(site: Starlette) -> None:
    for answer in (upload(site), upload(site, b"\x00\xff" * 100), upload(site, text=b"hello")):
        assert answer.status == 422
        assert "No letter about a board" in words(answer)
    kind = "application/x-www-form-urlencoded"
    assert asyncio.run(fetch(site, "/proof", "POST", b"x=1", content_type=kind)).status == 422
    assert asyncio.run(fetch(site, "/proof", "POST", b"x")).status == 422


def test_a_form_that_is_too_large_is_refused(site: Starlette) -> None:
    answer = upload(site, b"x" * (proof.LONGEST_FORM + 1))
    assert answer.status == 413
    assert "pbmserv verify" in words(answer)


def test_letters_that_take_too_long_are_refused(
    site: Starlette, mails: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "LONGEST_S", 0.0)
    answer = upload(site, *mails)
    assert answer.status == 413
    assert "takes too long" in words(answer)


def test_strangers_words_are_escaped(site: Starlette, mails: list[bytes]) -> None:
    letters = [mail for mail in mails if b"Pbmserv-Record" in mail]
    evil = letters[-2].replace(b"Subject: ", b"Subject: <script>alert(1)</script>")
    evil = re.sub(rb" record=[0-9a-f]{8}", b" record=00000000", evil)
    answer = upload(site, *letters, evil)
    assert "does not fit" in words(answer)
    assert b"<script>alert" not in answer.body


def test_only_some_forms_are_received_at_a_time(
    site: Starlette, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "MOST_AT_ONCE", 0)
    assert upload(site, b"x").status == 503


def test_the_page_and_the_help_lead_to_each_other(site: Starlette) -> None:
    page = asyncio.run(fetch(site, "/proof"))
    assert page.status == 200
    assert b"/help/proof" in page.body
    assert asyncio.run(fetch(site, "/help/proof")).status == 200
