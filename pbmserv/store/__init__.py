"""The store: what the server remembers, in one SQL database.

Used by `service`, `letters`, `outbound` and `stages` only. Statements are SQLAlchemy Core, built
once.
"""
