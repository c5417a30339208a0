"""Reads the commands of whole mails, each in the form in which people answer that letter.

* `mail` reads mails to the server's own address: a command in the subject, or one in each line of
  the body (`bodies`). It also reads replies to messages of players.
* `board_lines` reads replies to our other letters. A reply to a digest names boards; one to a
  letter about a board goes to `replies`, which looks for a command in its first line
  (`reply_commands`) and for a move in the first lines (`reply_moves`).
* `lines_below` finds words for others below the commands, and `quoted_lines` finds our own letters
  in such words.

docs/reading.md leads one mail through all of it.
"""
