"""Boards, from the challenge to the end, and all commands about boards.

* Beginning: `challenges`, `seeking`, `mail_invitations` and `shared_boards` make a `Proposal` of
  `new_boards`; `challenged_players` reads its names, `option_words` and `undashed_options` its
  options, and `proposals` checks the limits of the players.
  Questions before a board begins have answers: `acceptance`, `invitation_answers`,
  `unconfirmed_boards` and `unconfirmed_answers`.
* Moves: `moves` reads them for a `mover`, `plies` makes and logs them, `ply_news` tells everybody.
  `first_draws`, `far_labels`, `talked_moves`, `submitted_moves` and `undoing` are parts of that.
  `queued_moves` keeps plans, and `plan_runs` plays them. `chat` and `notes` are words without a
  move.
* Bots and the coach: `bot_turns`, `hints` and `reports` ask them, and `held_letters` wait for them.
* End: `board_ends`, `resigning`, `silent_opponents`, `lateness` and `score_keeping`;
  `finished_boards` refuses what comes later. `game_pauses` are for games that cannot be played now.
* Looking: `showing`, `previews`, `records`, `followers`, the lists of `game_lists` and `opponents`
  and the pages of `help_commands` answer by letter; `board_page`, with `listed_moves` and
  `newest_words`, on the web. `player_boards` finds the boards of a player.
"""
