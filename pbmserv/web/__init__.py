"""Web pages, the API for programs, and the pages of operators."""
