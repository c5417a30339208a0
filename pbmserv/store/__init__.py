"""The store: tables, rows and writers of the SQL databases.

Only `service`, `letters`, `outbound` and `stages` use it. Statements are SQLAlchemy Core, built
once.
"""
