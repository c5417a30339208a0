"""The local mailbox: a mail program in the browser, for people who try the server."""
