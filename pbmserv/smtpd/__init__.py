"""SMTP and LMTP sessions: `dialog` decides about mails, from EHLO to the reply to DATA."""
