"""Reads mails, carries them out and answers them.

* A mail: `incoming` reads it, `password_checks` its passwords, and `mail_service` is its job.
* Its commands: `executor` carries out each. `line_readings` chooses how to read a line in which a
  password may be missing, and `reply_meanings` tells what a line means in answer to a letter.
* Its answers: `answers` makes a letter for each reader. A refused line is explained by
  `refusal_letters` and `working_examples`, or to newcomers by `strangers`. `unproven_answers`
  blanks words, `letter_costs` charges the letters to the budget, and `idle_mails` ends loops in
  silence.
* Beside them: `limit_letter` explains limits, and `log_lines` logs mails.
"""
