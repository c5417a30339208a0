"""People and their accounts: tables and rows."""
