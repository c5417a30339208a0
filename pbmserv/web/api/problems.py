"""The API's responses to requests that are refused or failed: problems as in RFC 9457."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from pbmserv.errors import NotDone
from pbmserv.service.limits.rates import TooMany
from pbmserv.web.api.shapes import Problem, adapter
from pbmserv.web.http.responses import PRIVATE, RETRY_AFTER_S, seconds_until
from pbmserv.web.limits.allowance import Exhausted
from pbmserv.web.limits.post_limits import WITH_TOKEN
from pbmserv.web.rendering.printer import Printer

PROBLEM = "application/problem+json"
TITLES = {413: "Content Too Large", 422: "Unprocessable Content"}
"""Reason phrases of RFC 9110; Python before 3.13 has older ones."""

log = logging.getLogger("pbmserv.web")


class ApiProblem(Exception):
    """The reason why a request is refused or cannot be answered.

    Attributes:
        status: the HTTP status.
        code: the reason for programs; with ``_`` for ``-`` the name of a block in
            ``web/problems.j2``.
        headers: headers of the answer.
        words: values for that block.
    """

    def __init__(
        self, status: int, code: str, headers: Mapping[str, str] | None = None, **words: Any
    ) -> None:
        super().__init__(code)
        self.status, self.code, self.headers, self.words = status, code, headers or {}, words


class ProblemResponses:
    """The responses to requests that are refused or failed (RFC 9457)."""

    def __init__(self, printer: Printer) -> None:
        self._printer = printer

    async def problem(self, _request: Request, error: Exception) -> Response:
        """Answer with the problem that a handler raised."""
        assert isinstance(error, ApiProblem)
        return self._response(error)

    async def no_such_address(self, request: Request, error: Exception) -> Response:
        """Return 404 or 405 for an address or method that no route has."""
        assert isinstance(error, HTTPException)
        if error.status_code != 405:
            home = self._printer.url("/api/")
            return self._response(ApiProblem(404, "no-such-address", home=home))
        headers = dict(error.headers or {})
        allowed = " or ".join(sorted(headers.get("Allow", "").split(", ")))
        words = {"method": request.method[:20], "allowed": allowed}
        return self._response(ApiProblem(405, "method", headers, **words))

    async def too_many(self, _request: Request, error: Exception) -> Response:
        """Return 429: the player has sent as much as the server accepts."""
        assert isinstance(error, TooMany)
        over, seconds = error.over, seconds_until(error.over.again)
        words = {"most": over.most, "span": over.span, "seconds": seconds}
        return self._response(ApiProblem(429, "too-many", {"Retry-After": str(seconds)}, **words))

    async def too_busy(self, _request: Request, error: Exception) -> Response:
        """Return 429 if the client's network has used its share up, 503 if all readers have."""
        assert isinstance(error, Exhausted)
        headers = {"Retry-After": str(error.seconds)}
        words = {"is_own": error.is_own, "seconds": error.seconds}
        return self._response(ApiProblem(429 if error.is_own else 503, "busy", headers, **words))

    async def too_large(self, _request: Request, _error: Exception) -> Response:
        """Return 503: the answer would take more work than one may."""
        return self._response(ApiProblem(503, "too-large"))

    def too_many_posts(self, seconds: int) -> Response:
        """Return 429: the client's network has sent too many POSTs."""
        most = WITH_TOKEN.amount
        problem = ApiProblem(429, "too-many", most=most, span="minute", seconds=seconds)
        return self._response(problem)

    async def away(self, _request: Request, error: Exception) -> Response:
        """Return 503: a stage or a database does not answer."""
        log.warning("the API could not answer", exc_info=error)
        return self._response(ApiProblem(503, "away", {"Retry-After": str(RETRY_AFTER_S)}))

    def fault(self, error: BaseException) -> Response:
        """Return 500; the log names the fault, the answer does not."""
        log.error("the API failed", exc_info=error)
        return self._response(
            ApiProblem(500, "not-done" if isinstance(error, NotDone) else "fault")
        )

    def _response(self, problem: ApiProblem) -> Response:
        template = self._printer.templates.get_template("web/problems.j2")
        context = template.new_context({"words": problem.words})
        sentence = "".join(template.blocks[problem.code.replace("-", "_")](context))
        detail = " ".join(sentence.split())
        return problem_response(problem.status, problem.code, detail, headers=problem.headers)


def problem_response(
    status: int,
    code: str,
    detail: str,
    example: str = "",
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return a problem as JSON.

    Args:
        code: the reason for programs.
        detail: the reason for people.
        example: a request that would be accepted; ``""`` for none.
    """
    title = TITLES.get(status) or HTTPStatus(status).phrase
    problem = Problem(title, status, detail, code, example)
    body = adapter(Problem).dump_json(problem)
    return Response(body, status, {**PRIVATE, **(headers or {})}, PROBLEM)
