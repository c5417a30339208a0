"""For authors of games: a check of the rules, and a server in the process of a test.

``from pbmserv.testing.server import server`` runs a server; it imports all of pbmserv.
"""

from pbmserv.testing.check import check_game
from pbmserv.testing.findings import Finding, Report

__all__ = ["Finding", "Report", "check_game"]
