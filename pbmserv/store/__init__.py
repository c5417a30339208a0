"""The store: what the server remembers, in one SQL database.

Used by `service` and `send` only. Statements are SQLAlchemy Core, built once.
"""
