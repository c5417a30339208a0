"""Answers the requests of the players' and the public pages."""
