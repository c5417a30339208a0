"""Boards of games that use `pbmserv.game`, as text, HTML and sentences."""
