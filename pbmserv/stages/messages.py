"""The requests that stages send each other, their answers, and both as lines of text.

A line is a word, a space and a JSON text. The word of a request is the name of its class; that of
an answer is ``ok`` or a kind of error, whose JSON text is one sentence. Values are checked against
their types when a line is written and when it is read.

A new request is a class here, its line in `REQUESTS`, and a function among the answers of its
stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Generic, TypeAlias, TypeVar, get_args

from pydantic import ConfigDict, TypeAdapter, ValidationError

from pbmserv.errors import OperatorError, PbmError, ServerFault, StoreAway
from pbmserv.log import reason
from pbmserv.monitoring.vitals import Vital
from pbmserv.outbound.results import Result
from pbmserv.service.bots.bot_moves import Thought
from pbmserv.service.limits.rates import Over
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.health import RelayState, Slots
from pbmserv.service.operators.orders import Order
from pbmserv.service.pages.page_requests import PageRequest
from pbmserv.store.boards.game_pauses import Stop
from pbmserv.store.bots import ReportRequest
from pbmserv.store.core.writer import UNAVAILABLE
from pbmserv.store.delivery.letter_claims import ClaimedLetter

A = TypeVar("A")
T = TypeVar("T")


class Request(Generic[A]):
    """A request to another stage; *A* is the type of its answer, which `answer_type` returns."""

    __slots__ = ()


def answer_type(kind: type[Request[A]]) -> Any:
    """Return the type of the answers to a type of request."""
    (base,) = kind.__dict__["__orig_bases__"]
    return get_args(base)[0]


# -- to every stage ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StageState:
    """The state of one stage.

    Attributes:
        vitals: its threads.
        slots: connections by listener.
        relay: the state of the relay, if the stage sends letters.
        texts: octets that texts of mails take, and may take; `None` if the stage does not know.
        counted: its numbers in the format of Prometheus.
        doing: the work in hand, for people; ``""`` if there is none of interest.
        certificate_ends: end of the certificate of the stage's ports; `None` if there is none.
        damage: the first damaged page of the database; ``""`` if none is known.
        since: when its server started; `None` if it does not answer.
    """

    vitals: tuple[Vital, ...]
    slots: Mapping[str, Slots] = field(default_factory=dict)
    relay: RelayState | None = None
    texts: tuple[int, int] | None = None
    counted: bytes = b""
    doing: str = ""
    certificate_ends: datetime | None = None
    damage: str = ""
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class AskState(Request[StageState]):
    """Asks a stage for its state."""


@dataclass(frozen=True, slots=True)
class ProbeWrite(Request[None]):
    """Asks the door or play to write and remove a row, so that a full disk is noticed."""


# -- of post to play ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClaimLetters(Request[list[ClaimedLetter]]):
    """See `OutboxWriter.claim`."""

    by: str
    most: int


@dataclass(frozen=True, slots=True)
class ReleaseLostLetters(Request[None]):
    """See `OutboxWriter.release_lost`."""

    by: str
    in_hand: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RenewLetters(Request[None]):
    """See `OutboxWriter.renew`."""

    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SettleLetters(Request[None]):
    """See `OutboxWriter.settle`."""

    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class NoteStops(Request[None]):
    """Tells play, from post or web, that processes hung or died in the rules of games."""

    stops: tuple[Stop, ...]


# -- of the bots to play -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ActForBot(Request[None]):
    """See `Moves.act`."""

    board_id: int
    thought: Thought | None


@dataclass(frozen=True, slots=True)
class PutOffBot(Request[None]):
    """See `Moves.put_off`."""

    board_id: int


@dataclass(frozen=True, slots=True)
class KeepReport(Request[None]):
    """See `Moves.keep_report`."""

    asked: ReportRequest
    words: Mapping[str, Any]


# -- of operators to play ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CarryOutOrder(Request[str]):
    """Asks for an order of an operator; the answer is a sentence for the operator."""

    by: Signature
    order: Order


@dataclass(frozen=True, slots=True)
class RetryKeptMail(Request[str]):
    """Asks to carry a kept mail out again; the answer is a sentence for the operator."""

    number: int
    by: Signature


@dataclass(frozen=True, slots=True)
class LookAgain(Request[None]):
    """Tells play that a command has changed the database: mails and letters may wait no longer."""


# -- of web to the door ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StoreForm(Request[int]):
    """Asks to store a form of a page (`PageForm.as_json`); the answer is its arrival's number."""

    body: bytes


@dataclass(frozen=True, slots=True)
class StorePress(Request[int | Over]):
    """Asks to store a player's command from a page; the answer is the number of its arrival, or the
    limit that the player has reached."""

    press: PageRequest


REQUESTS: Mapping[str, type[Request[Any]]] = {
    kind.__name__: kind
    for kind in (
        AskState,
        ProbeWrite,
        ClaimLetters,
        ReleaseLostLetters,
        RenewLetters,
        SettleLetters,
        NoteStops,
        ActForBot,
        PutOffBot,
        KeepReport,
        CarryOutOrder,
        RetryKeptMail,
        LookAgain,
        StoreForm,
        StorePress,
    )
}
"""The types of requests by their names in lines."""

_ERRORS: Mapping[str, type[PbmError]] = {
    "operator": OperatorError,
    "away": StoreAway,
    "fault": ServerFault,
}
_OK = "ok"
_CONFIG = ConfigDict(strict=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")
_Adapter: TypeAlias = TypeAdapter[tuple[Any]]


class Misread(ValueError):
    """A line is not a message of this version; its text quotes no values."""


def build_readers() -> None:
    """Build what reads and writes the messages, so that processes forked from this one share it.

    Otherwise each process builds it for a type at the first message of that type.
    """
    answers = map(answer_type, REQUESTS.values())
    types: Iterable[Any] = (*REQUESTS.values(), *answers)
    for kind in types:
        _adapter(kind)


def request_line(request: Request[Any]) -> bytes:
    """Return a request as a line."""
    return _line(type(request).__name__, _dumped(type(request), request))


def read_request(line: bytes) -> Request[Any]:
    """Return the request of a line.

    Raises:
        Misread: the line is not a request.
    """
    word, _, text = line.partition(b" ")
    kind = REQUESTS.get(word.decode("ascii", "replace"))
    if kind is None:
        raise Misread("there is no such request")
    request: Request[Any] = _read(kind, text)
    return request


def answer_line(request: Request[Any], answer: Any) -> bytes:
    """Return the answer to a request as a line."""
    return _line(_OK, _dumped(answer_type(type(request)), answer))


def error_line(error: Exception) -> bytes:
    """Return an error as a line: its kind and a sentence.

    An error of another library is sent by its name, unless its text may be logged: it may quote
    values.
    """
    if isinstance(error, OperatorError):
        return _line("operator", _dumped(str, str(error)))
    kind = "away" if isinstance(error, (StoreAway, *UNAVAILABLE)) else "fault"
    sentence = reason(error) or type(error).__name__
    return _line(kind, _dumped(str, sentence))


def read_answer(request: Request[A], line: bytes) -> A:
    """Return the answer of a line.

    Raises:
        OperatorError, StoreAway, ServerFault: the other stage raised such an error.
        Misread: the line is not an answer to this request.
    """
    word, _, text = line.partition(b" ")
    if word == _OK.encode():
        answer: A = _read(answer_type(type(request)), text)
        return answer
    error = _ERRORS.get(word.decode("ascii", "replace"))
    if error is None:
        raise Misread("there is no such error")
    raise error(_read(str, text))


def _line(word: str, text: bytes) -> bytes:
    return word.encode("ascii") + b" " + text + b"\n"


@cache
def _adapter(kind: Any) -> _Adapter:
    # A tuple of one value: a dataclass itself would not take the configuration.
    return TypeAdapter(tuple[kind], config=_CONFIG)


def _dumped(kind: Any, value: Any) -> bytes:
    return _adapter(kind).dump_json((value,), warnings="error")


def _read(kind: Any, text: bytes) -> Any:
    try:
        return _adapter(kind).validate_json(text)[0]
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)
        problems = {
            ".".join(map(str, detail["loc"][1:])) + ": " + detail["type"] for detail in details
        }
        raise Misread("; ".join(sorted(problems))) from None
