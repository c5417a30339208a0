"""The service behind the pages: forms and moves go through the door, and results are read."""

from __future__ import annotations

from pbmserv.service.core.page_contexts import PageContexts
from pbmserv.service.core.services import Services
from pbmserv.service.operators.pages import OperatorPages, OrderTaker
from pbmserv.service.operators.server_status import ServerStatus
from pbmserv.service.pages.web_requests import WebRequests
from pbmserv.stages.base import Base
from pbmserv.stages.play_of_pages import PagesDoor, PlayOfPages
from pbmserv.stages.status import status_of


class WebStage:
    """The service behind the pages.

    Args:
        base: settings and databases.
        door: stores forms and commands of pages.
        orders: carries out the changes of operators' pages.

    Attributes:
        play: carries out forms and commands.
        web_requests: the pages of players and the public.
        operators: the pages of operators.
    """

    def __init__(self, base: Base, door: PagesDoor, orders: OrderTaker) -> None:
        self.play = PlayOfPages(base, door)
        services = base.services_beside_play()
        self.web_requests = WebRequests(PageContexts(services, base.game, base.clock), self.play)
        self.operators = _operator_pages(base, services, orders)


def _operator_pages(base: Base, services: Services, orders: OrderTaker) -> OperatorPages:
    """Return the service behind the operators' pages.

    Args:
        base: databases and games.
        services: shared by the pages of this process.
        orders: carries out the changes.
    """
    read = base.parser().parse

    def status() -> ServerStatus:
        return status_of(base.game, base.mail, base.settings.data_dir, base.clock.now())

    return OperatorPages(services, base.game, base.clock, read, orders, status, base.mail)
