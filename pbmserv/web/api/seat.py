"""The API's seat: a board by the token of its player's page, and moves there.

The token is sent in a header, never in an address, and cookies are ignored. A page of another site
can make a browser send neither a token nor JSON, so it can make nobody play.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from pbmserv.errors import StillWorking
from pbmserv.service.boards.board_page import BoardPage, Look
from pbmserv.service.pages.board_presses import Press
from pbmserv.service.pages.web_requests import WebRequests
from pbmserv.web.api.conversions import seat_of
from pbmserv.web.api.endpoint import Endpoint
from pbmserv.web.api.problems import problem_response
from pbmserv.web.api.requests import bad_token, posted, token_of
from pbmserv.web.api.responses import json_response
from pbmserv.web.api.shapes import Move, Seat
from pbmserv.web.http.responses import PRIVATE, RETRY_AFTER_S

_PROBLEMS_OF_A_MOVE = (400, 401, 409, 413, 415, 422)


class SeatHandlers:
    """The handlers. The first line of a handler's docstring is the summary in the document.

    Attributes:
        endpoints: the addresses of the handlers.
    """

    def __init__(self, web_requests: WebRequests) -> None:
        self._web_requests = web_requests
        self.endpoints = [
            Endpoint("/seat", self.seat, Seat, (401,)),
            Endpoint("/seat/moves", self.move, Seat, _PROBLEMS_OF_A_MOVE, takes=Move),
        ]

    async def seat(self, request: Request) -> Response:
        """The board of a token, as its player sees it."""
        page = await self._web_requests.boards.page_for_program(token_of(request))
        return _seat_response(request, page)

    async def move(self, request: Request) -> Response:
        """Play a move, as a reply to the letter does; the answer is the seat after it."""
        token = token_of(request)
        move = await posted(request, Move)
        press = Press(move.turn, move.key, move.move, move.words)
        try:
            pressed = await self._web_requests.presses.press(token, press)
        except StillWorking:
            answer = _seat_response(request, await self._web_requests.boards.page(token, Look()))
            if answer.status_code == 200:
                answer.status_code = 202
                answer.headers["Retry-After"] = str(RETRY_AFTER_S)
            return answer
        if pressed is None:
            raise bad_token()
        if pressed.refused is not None:
            status = 409 if pressed.code == "stale" else 422
            page = pressed.refused
            return problem_response(status, pressed.code, page.trouble, page.example)
        return _seat_response(request, await self._web_requests.boards.page(token, Look()))


def _seat_response(request: Request, page: BoardPage | None) -> Response:
    """Return the response with a seat.

    Raises:
        ApiProblem: the token opens no page.
    """
    if page is None:
        raise bad_token()
    return json_response(request, seat_of(page), Seat, PRIVATE)
