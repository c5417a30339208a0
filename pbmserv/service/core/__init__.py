"""Actors, contexts, answers and refusals, which every feature uses.

* Who commands what: an `actor` hands in a `submission`.
* What a handler (`handler`) gets: a `context`, which holds the `services` of the process, the
  `command_state` and the `budget`. Pages get one by `page_contexts`.
* What it asks: `lookup` finds games, boards and players, `free_userids` new names. `contact` knows
  blocks between people, `flood_limits` limits letters, `secret_boxes` protects boxes, and
  `refusals` has the refusals that several commands share.
* What it returns: an `outcome`, whose letters become `outbox_rows`. The answer goes to one of
  `answer_readers`.
* Words for other players: `said` is their type and `words_for_others` their guard, with
  `quotable_letters` and `signed_words`.
* Jobs of play and pages: `job_result` and `page_form`.
"""
