"""Out-of-office notes in many languages lead to one kind question a week, and to players only."""
# ruff: noqa: RUF001 - letters of other alphabets are meant

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from own_domain import HOUSE
from rows import rows
from sqlalchemy import select

from pbmserv.inbound.robots import Automatic, automatic
from pbmserv.mail.envelope import Envelope
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.store.tables.accounts import notices, players

pytestmark = pytest.mark.slow

ALICE, BOB = address_of("alice"), address_of("bob")

EXCHANGE = {"Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All"}
GMAIL = {"Auto-Submitted": "auto-replied", "Precedence": "bulk", "X-Autoreply": "yes"}
SIEVE = {"Auto-Submitted": "auto-replied (vacation)", "Precedence": "bulk"}
NOTES = {"Auto-Submitted": "auto-generated"}
PLAIN: dict[str, str] = {}

LETTERS = (
    (
        "en",
        EXCHANGE,
        "Automatic reply: Your move: Blackbox 1 against bob",
        "I am out of the office.",
    ),
    ("en", SIEVE, "Auto: Your move: Blackbox 1 against bob", "I will read your mail next week."),
    ("en", GMAIL, "Gone fishing Re: Your move: Blackbox 1 against bob", "Back in two weeks."),
    ("en", PLAIN, "Out of Office: Blackbox 1", "I have no access to mail."),
    ("de", EXCHANGE, "Automatische Antwort: Blackbox 1", "Ich bin bis 14.03. nicht im Büro."),
    ("de", PLAIN, "Abwesenheitsnotiz: Blackbox 1", "Ich bin im Urlaub."),
    ("fr", EXCHANGE, "Réponse automatique : Blackbox 1", "Je suis absente jusqu’au 14 mars."),
    ("fr", PLAIN, "Absence du bureau : Blackbox 1", "Je suis en congé."),
    ("es", EXCHANGE, "Respuesta automática: Blackbox 1", "Estoy fuera de la oficina."),
    ("es", PLAIN, "Fuera de la oficina: Blackbox 1", "Estaré de vacaciones."),
    ("it", EXCHANGE, "Risposta automatica: Blackbox 1", "Sono fuori ufficio."),
    ("it", PLAIN, "Fuori sede: Blackbox 1", "Sarò assente fino al 14 marzo."),
    ("nl", EXCHANGE, "Automatisch antwoord: Blackbox 1", "Ik ben afwezig."),
    ("nl", PLAIN, "Afwezigheidsbericht: Blackbox 1", "Ik ben er even niet."),
    ("pl", EXCHANGE, "Odpowiedź automatyczna: Blackbox 1", "Jestem poza biurem."),
    ("pl", PLAIN, "Automatyczna odpowiedź: Blackbox 1", "Jestem na urlopie."),
    ("pt", EXCHANGE, "Resposta automática: Blackbox 1", "Estou de férias."),
    ("pt", PLAIN, "Ausência temporária: Blackbox 1", "Volto no dia 14."),
    ("sv", EXCHANGE, "Autosvar: Blackbox 1", "Jag är inte på kontoret."),
    ("sv", PLAIN, "Frånvarande: Blackbox 1", "Jag har semester."),
    ("da", EXCHANGE, "Automatisk svar: Blackbox 1", "Jeg er på ferie."),
    ("fi", EXCHANGE, "Automaattinen vastaus: Blackbox 1", "Olen lomalla."),
    ("ru", EXCHANGE, "Автоматический ответ: Blackbox 1", "Я в отпуске."),
    ("ja", EXCHANGE, "自動応答: Blackbox 1", "休暇をいただいております。"),
    ("ja", PLAIN, "【自動返信】Blackbox 1", "不在にしております。"),
    ("zh", EXCHANGE, "自动答复: Blackbox 1", "我正在休假。"),
    # Notes names the person first; others put theirs behind our subject, or tags in front.
    ("en", PLAIN, "Alice Smith is out of the office.", "I will respond when I return."),
    ("en", NOTES, "Alice Smith/Berlin/ACME is out of the office (returning 03/12/2026)", "x"),
    ("en", PLAIN, "I'm out of the office", "Back on Monday."),
    ("en", PLAIN, "[EXTERN] Automatic reply: Your move: Blackbox 1 against bob", "I am away."),
    ("en", PLAIN, "Re: Automatic reply: Your move: Blackbox 1 against bob", "I am away."),
    ("en", PLAIN, "Re: Your move: Blackbox 1 against bob (Out of office)", "I am away."),
    ("de", PLAIN, "Alice Schmidt ist außer Haus.", "Ich kehre zurück am 14.03.2026."),
    ("de", PLAIN, "Urlaub", "Ich bin erst am Montag wieder da."),
    ("fr", NOTES, "Alice Dupont est absent(e).", "Je serai absent(e) du 01/03 au 14/03."),
    ("es", PLAIN, "Alicia está fuera de la oficina", "Volveré el lunes."),
    ("et", PLAIN, "Automaatvastus: Blackbox 1", "Olen puhkusel."),
    ("lt", PLAIN, "Automatinis atsakymas: Blackbox 1", "Atostogauju."),
    ("hr", PLAIN, "Automatski odgovor: Blackbox 1", "Na godišnjem sam."),
    ("bg", PLAIN, "Автоматичен отговор: Blackbox 1", "В отпуск съм."),
    ("vi", PLAIN, "Trả lời tự động: Blackbox 1", "Tôi đang nghỉ phép."),
    ("ko", PLAIN, "자동 응답: Blackbox 1", "휴가 중입니다."),
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indoors]:
    with indoors(tmp_path_factory.mktemp("office")) as opened:
        opened.sign_up("alice", "bob")
        yield opened


@pytest.fixture(scope="module")
def first_letter(server: Indoors) -> Posted:
    letters = server.send(BOB, "blackbox challenge bob alice")
    return next(letter for letter in letters if letter.recipient == ALICE)


@pytest.fixture
def board(server: Indoors, first_letter: Posted) -> Posted:
    """A letter to alice about a board, when nothing was asked for eight days."""
    server.live(days=8)
    return first_letter


def note(
    server: Indoors,
    to: str,
    subject: str,
    body: str,
    headers: dict[str, str],
    *,
    sender: str = ALICE,
    envelope: str | None = "",
) -> list[Posted]:
    """An out-of-office note as mail servers send it: mostly with the null sender."""
    server.mails += 1
    lines = [f"From: {sender}", f"To: {to}", f"Subject: {subject}"]
    lines += [f"Message-ID: <note.{server.mails}@players.example>", "MIME-Version: 1.0"]
    headers = {"Content-Type": "text/plain; charset=utf-8"} | headers
    lines += [f"{name}: {value}" for name, value in headers.items()]
    raw = "\r\n".join([*lines, "", *body.split("\n"), ""]).encode()
    came_from = sender if envelope is None else envelope
    answer = server.hand_in(Envelope(came_from, to, raw))
    assert answer.startswith("250")
    return server.letters()


@rows(("language", "headers", "subject", "body"), LETTERS)
def test_a_note_in_any_language_is_one(
    language: str, headers: dict[str, str], subject: str, body: str
) -> None:
    fields = {name.lower(): [value] for name, value in headers.items()}
    assert verdict_of(subject, fields, envelope="").away, (language, subject)


def verdict_of(
    subject: str, headers: dict[str, list[str]] | None = None, envelope: str = ALICE
) -> Automatic:
    return automatic(headers or {}, HOUSE, envelope, ALICE, subject)


@rows(("language", "headers", "subject", "body"), [LETTERS[0], LETTERS[2], LETTERS[24]])
def test_a_note_leads_to_a_question(
    server: Indoors,
    first_letter: Posted,
    language: str,
    headers: dict[str, str],
    subject: str,
    body: str,
) -> None:
    server.live(days=8)
    (question,) = note(server, first_letter.reply_to, subject, body, headers)
    assert (question.recipient, question.kind) == (ALICE, "away-asked"), language
    assert question.subject == "Are you away, alice?"
    assert "away until 20" in question.text
    assert question.message["Auto-Submitted"] == "auto-generated"
    again = note(server, first_letter.reply_to, subject, f"{body} (again)", headers)
    assert again == []  # at most once a week


def test_a_week_is_a_week_and_the_database_remembers(server: Indoors, board: Posted) -> None:
    subject = "Automatic reply: hello"
    assert len(note(server, board.reply_to, subject, "x", EXCHANGE)) == 1
    kinds = server.server.rows(select(players.c.userid, notices.c.kind).join(notices))
    assert [tuple(row) for row in kinds] == [("alice", "away")]
    server.live(days=6, hours=23)
    assert note(server, board.reply_to, subject, "y", EXCHANGE) == []
    server.live(hours=1)
    assert len(note(server, board.reply_to, subject, "z", EXCHANGE)) == 1


@pytest.mark.parametrize(
    "reply",
    ["Away until {day}.", "I am away until {day}!"],
)
def test_a_reply_says_it_without_a_password(server: Indoors, board: Posted, reply: str) -> None:
    last = server.server.clock.now() + timedelta(days=5)
    day = f"{last:%Y-%m-%d}"
    (question,) = note(server, board.reply_to, "Out of office", "x", EXCHANGE)
    (done,) = server.reply(question, reply.format(day=day))
    assert done.kind == "away", done.text
    assert f"You are away until {last.day} " in done.text
    assert note(server, board.reply_to, "Out of office", "y", EXCHANGE) == []
    (back,) = server.reply(question, "back")
    assert back.kind == "back"


@pytest.mark.parametrize("reply", ["yes", "Thank you, I am here all the time."])
def test_a_reply_that_is_no_date_is_asked_back(server: Indoors, board: Posted, reply: str) -> None:
    (question,) = note(server, board.reply_to, "Out of office", "x", EXCHANGE)
    (answer,) = server.reply(question, reply)
    assert answer.kind == "refusal"
    assert "your last day away" in answer.one_line


def test_the_note_that_answers_the_question_is_left_alone(server: Indoors, board: Posted) -> None:
    (question,) = note(server, board.reply_to, "Out of office", "x", EXCHANGE)
    assert note(server, question.reply_to, f"Out of office: {question.subject}", "x 2", SIEVE) == []


def test_a_programs_move_is_played_and_asks_nothing(tmp_path: Path) -> None:
    with indoors(tmp_path) as server:
        server.sign_up("alice", "bob")
        letters = server.send(BOB, "blackbox challenge bob alice")
        question = next(letter for letter in letters if letter.recipient == ALICE)
        replied = {"Auto-Submitted": "auto-replied"}
        # A person's empty reply to a challenge accepts it; a machine's does not.
        answers = note(server, question.reply_to, "Re: you", "", replied, envelope=None)
        assert [letter.kind for letter in answers] == ["away-asked"]
        server.live(days=8)
        played = note(server, question.reply_to, "Re: you", "b3,d3,e5,g2", replied, envelope=None)
        assert [(letter.recipient, letter.kind) for letter in played] == [(BOB, "board")]
        (question,) = note(
            server, question.reply_to, "Re: you", "Till Monday.", replied, envelope=None
        )
        assert question.kind == "away-asked"


@rows(
    "headers",
    [
        {"Content-Type": 'multipart/report; report-type=delivery-status; boundary="x"'},
        {"X-Failed-Recipients": ALICE},
        {"List-Id": "<players.example>"},
        {"X-Loop": "pbmserv@games.example"},
    ],
)
def test_reports_lists_and_loops_are_no_notes(
    server: Indoors, board: Posted, headers: dict[str, str]
) -> None:
    assert note(server, board.reply_to, "Out of office", "x", {**GMAIL, **headers}) == []


@pytest.mark.parametrize(("kind", "envelope"), [("reply", None), ("bounce", "")])
def test_a_forwarded_letter_says_itself_whose_it_is(
    server: Indoors, board: Posted, kind: str, envelope: str | None
) -> None:
    """alice reads her mail elsewhere, and that mailbox writes the note; she is asked at home."""
    to = (
        board.reply_to
        if kind == "reply"
        else server.server.mail_domain.address_of(ReplyAddress(Purpose.BOUNCE, about=board.id))
    )
    corp = "alice.smith@corp.example"
    (question,) = note(server, to, "Out of office", kind, SIEVE, sender=corp, envelope=envelope)
    assert (question.recipient, question.kind) == (ALICE, "away-asked")
    assert (
        note(server, to, "Out of office", f"{kind} 2", SIEVE, sender=BOB, envelope=envelope) == []
    )


@pytest.mark.parametrize("subject", ["Alice is out of the office"])
def test_a_command_counts_whatever_stands_above_it(tmp_path: Path, subject: str) -> None:
    with indoors(tmp_path) as server:
        server.sign_up("alice", "bob")
        letters = server.send(BOB, "blackbox challenge bob alice")
        question = next(letter for letter in letters if letter.recipient == ALICE)
        played = note(server, question.reply_to, subject, "b3,d3,e5,g2", PLAIN, envelope=None)
        assert (BOB, "board") in [(letter.recipient, letter.kind) for letter in played]
        line = f"away alice {PASSWORD} until tomorrow"
        assert (
            note(server, server.server.mail_domain.address, subject, line, PLAIN, envelope=None)
            == []
        )
        (away,) = server.send(ALICE, f"away alice {PASSWORD} until today")
        assert away.kind in {"away", "back", "refusal"}


@pytest.mark.parametrize(("subject", "body"), [("I'm on vacation", "yes"), ("Out of office", "")])
def test_a_note_never_says_yes(tmp_path: Path, subject: str, body: str) -> None:
    with indoors(tmp_path) as server:
        server.sign_up("alice", "bob")
        letters = server.send(BOB, "blackbox challenge bob alice")
        question = next(letter for letter in letters if letter.recipient == ALICE)
        answers = note(server, question.reply_to, subject, body, PLAIN, envelope=None)
        assert [letter.kind for letter in answers] == ["away-asked"]


def test_no_letter_of_ours_has_a_subject_that_a_note_could_have(server: Indoors) -> None:
    """Nor do names change that, and a reply to it is a person's."""
    names = (
        "vacaciones",
        "out-of-office - afwezig",
        "ooo, away and autoreply",
        "absent 12: urlaub",
    )
    folder = Path(__file__).parents[2] / "templates" / "letters"
    firsts = [
        template.read_text().partition("{% endblock %}")[0] for template in folder.glob("*.j2")
    ]
    written = [re.sub(r"{%.*?%}", "|", first) for first in firsts]
    shapes = [shape.strip() for text in written for shape in text.split("|") if shape.strip()]
    # What begins with a title or a name: the game's, or somebody's who cannot be reached.
    shapes = [shape for shape in shapes if not shape.removeprefix("Re: ").startswith("{{")]
    assert len(shapes) > 50
    subjects = {re.sub(r"{{.*?}}", name, shape) for shape in shapes for name in names}
    for name in names:
        subjects |= {f"Blackbox 12: {name}", f"Not done: message {name}: I am on vacation"}
    for subject in subjects:
        for shown in (subject, f"Re: {subject}", f"[club] AW: {subject}"):
            assert not verdict_of(shown).reason, shown


def test_nobody_else_is_asked(server: Indoors, board: Posted) -> None:
    for sender in ("stranger@players.example", "alice@players.example.evil.example"):
        assert (
            note(
                server,
                server.server.mail_domain.address,
                "Out of office",
                "x",
                GMAIL,
                sender=sender,
            )
            == []
        )
    server.send(ALICE, f"away alice {PASSWORD} until tomorrow")
    assert note(server, board.reply_to, "Out of office", "x", GMAIL) == []
    server.send(ALICE, f"back alice {PASSWORD}")


def test_a_player_who_left_is_not_asked(tmp_path: Path) -> None:
    with indoors(tmp_path) as server:
        server.sign_up("carol")
        (letter,) = server.send(address_of("carol"), f"signoff carol {PASSWORD}")
        server.reply(letter, "yes")
        carol = address_of("carol")
        assert note(server, letter.reply_to, "Out of office", "x", GMAIL, sender=carol) == []
