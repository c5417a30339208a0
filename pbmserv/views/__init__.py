"""Views of boards for people: in letters, on pages, in pictures and through the API.

A game's view of a board becomes a `board.BoardScene`, which knows nothing about its reader's
program. `forms` turns it into text, speech, letter, page, picture and JSON. `spoilers` and `names`
keep from the public what it must not see.
"""
