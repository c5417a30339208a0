"""The full-screen game in a terminal; nothing else imports textual."""
