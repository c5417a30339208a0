"""Boards, from the challenge to the end, and all commands about one board.

* Beginning: `challenges`, `seeking`, `mail_invitations` and `shared_boards` make a `Proposal` of
  `new_boards`; `option_words` reads its options, and `proposals` checks the limits of the players.
* Moves: `moves` reads them, `plies` makes and logs them, `ply_news` tells everybody. `first_draws`,
  `far_labels`, `talked_moves`, `queued_moves`, `submitted_moves` and `undoing` are parts of that.
* Bots and the coach: `bot_turns` and `reports` ask them, and `held_letters` wait for them.
* End: `board_ends`, `resigning`, `silent_opponents` and `score_keeping`.
* Looking: `showing`, `game_lists`, `previews`, `records` and `followers` answer by letter,
  `board_page` on the web.
"""
