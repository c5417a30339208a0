"""The store: tables, rows and writers of the SQL databases.

Statements are SQLAlchemy Core, and most of them are built once.
"""
