"""Bots that play Blackbox, the coach, and hints.

They get the view of a seat, like a player, and are pure functions.

* `levels` are the bots: they choose ports by the layouts of `candidates`, or follow the `trees`.
* `candidates` finds layouts that fit the results, by `search` or, if there are too many cases, by
  the crowds of `sampler`. numba compiles both for larger boards; `loops` loads them.
* `hiding` draws the layouts that bots hide, and `difficulty` grades boxes.
* `hints` and `coach` judge a game by its `knowledge`, whose layouts are `layout_sets`: all of them,
  or those of `candidates`.
"""
