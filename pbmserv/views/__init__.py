"""Views of boards for people: in letters, on pages, in pictures and through the API.

A game's view of a board becomes a `board.BoardScene`, which knows nothing about its reader's
program. Templates and `board_forms` make text, speech, letters, pages, pictures and JSON of it.
`public_facts` has the data of pages for everybody; `spoilers` and `names` keep secrets and names
from them.
"""
