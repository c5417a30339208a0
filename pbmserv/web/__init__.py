"""The web pages: a few plain ones, for what a mail cannot do as well."""
