"""How a whole mail is read: subject, body, replies."""
