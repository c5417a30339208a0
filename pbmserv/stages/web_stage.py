"""The service behind the pages: forms and moves go through the door, and results are read."""

from __future__ import annotations

from pbmserv.service.auth.passwords import Memo
from pbmserv.service.core.services import Services
from pbmserv.service.mails.incoming import MailParser
from pbmserv.service.operators.pages import OperatorPages, Queue, Side
from pbmserv.service.pages.web_requests import WebRequests
from pbmserv.stages.base import Base
from pbmserv.stages.play_of_pages import PagesDoor, PlayOfPages
from pbmserv.stages.run_folders import first_run_folder
from pbmserv.stages.state import started_at, states
from pbmserv.stages.status_lines import queue_rows, reports_line, running_line
from pbmserv.store.boards.positions import Positions
from pbmserv.store.delivery import reported_sources
from pbmserv.store.operators import health


class WebStage:
    """The service behind the pages.

    Args:
        base: settings and databases.
        door: stores forms and commands of pages.
        side: carries out the changes of operators' pages.

    Attributes:
        play: carries out forms and commands.
        web_requests: the pages of players and the public.
        operators: the pages of operators.
    """

    def __init__(self, base: Base, door: PagesDoor, side: Side) -> None:
        self.play = PlayOfPages(base, door)
        services = base.services(Positions(base.registry), Memo(), base.traffic())
        self.web_requests = WebRequests(services, base.game, base.clock, self.play)
        self.operators = _operator_pages(base, services, side)


def _operator_pages(base: Base, services: Services, side: Side) -> OperatorPages:
    """Return the service behind the operators' pages.

    Args:
        base: databases and games.
        services: shared by the pages of this process.
        side: carries out the changes.
    """
    games = tuple(game.info.key for game in base.registry)
    parser = MailParser(base.mail_domain, games, base.settings.mail_servers)

    def queue() -> Queue:
        with base.mail.reading.connect() as mail, base.game.reading.connect() as game:
            queues = health.queues(mail, game, base.clock.now())
            reports, sources = reports_line(game), reported_sources.worst(game, most=20)
        stages = states(first_run_folder(base.settings.data_dir))
        return Queue(
            running_line(queues, started_at(stages.values())),
            {name: state.doing for name, state in stages.items()},
            queues.newest_mail,
            queues.newest_letter,
            health.sizes(base.game),
            queue_rows(queues),
            reports,
            sources,
        )

    return OperatorPages(services, base.game, base.clock, parser.parse, side, queue, base.mail)
