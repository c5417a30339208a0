"""Probes: answers whether the server is alive and ready, and serves numbers to Prometheus."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from pbmserv.service.operators.health import Health, Report
from pbmserv.web.http.safe_responses import SafeResponses

log = logging.getLogger("pbmserv.web")

_UNCACHED = {"Cache-Control": "no-store"}


def health_routes(health: Health, *, numbers: bool) -> list[Route]:
    """Return the routes ``/healthz``, ``/healthz/ready`` (the same) and ``/healthz/live``.

    Args:
        numbers: include measured values. They are hidden from strangers, who would otherwise learn
            how many sessions are free.
    """

    async def live(_request: Request) -> Response:
        return _answer(await health.live(), numbers=numbers)

    async def ready(_request: Request) -> Response:
        try:
            report = await health.ready()
        except Exception as fault:
            log.error("the health check failed", exc_info=fault)
            return JSONResponse({"status": "failing", "checks": {}}, 503, _UNCACHED)
        return _answer(report, numbers=numbers)

    return [
        Route("/healthz", ready),
        Route("/healthz/ready", ready),
        Route("/healthz/live", live),
    ]


def build_probes(health: Health, metrics: Callable[[], Awaitable[bytes]]) -> Starlette:
    """Return the application of the probes' own listener, which strangers cannot reach.

    Args:
        metrics: returns the numbers in Prometheus's format.
    """

    async def numbers(_request: Request) -> Response:
        return Response(await metrics(), 200, _UNCACHED, CONTENT_TYPE_PLAIN_0_0_4)

    def fault(error: BaseException) -> Response:
        log.error("the numbers could not be read", exc_info=error)
        return PlainTextResponse("a fault; the log says more\n", 500, _UNCACHED)

    application = Starlette(
        routes=[*health_routes(health, numbers=True), Route("/metrics", numbers)],
        middleware=[Middleware(SafeResponses, fault=fault)],
    )
    application.router.redirect_slashes = False
    return application


def _answer(report: Report, *, numbers: bool) -> Response:
    status = 503 if report.status == "failing" else 200
    return JSONResponse(report.as_json(numbers=numbers), status, _UNCACHED)
