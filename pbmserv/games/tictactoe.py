from pbmserv.game import Game, Grid, draw, levels, win

CELLS = [column + row for row in "123" for column in "ABC"]
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


class TicTacToe(Game[str]):
    """Mark cells in turn; the first with three in a row wins.

    Take turns to name a free cell. Three of your marks in a row, a column or a diagonal win.
    """

    key, title = "ttt", "Tic-tac-toe"
    bots = levels(lambda: GAME, nodes=(20, 100, 10_000))

    def start(self, seats, options, rng):
        return "." * 9

    def moves(self, state, seat):
        return [cell for cell, mark in zip(CELLS, state) if mark == "."]

    def play(self, state, seat, move, rng):
        return "".join("XO"[seat] if cell == move else mark for cell, mark in zip(CELLS, state))

    def line(self, state):
        return next((l for l in LINES if {state[n] for n in l} in ({"X"}, {"O"})), ())

    def over(self, state):
        if line := self.line(state):
            return win("XO".index(state[line[0]]), "three in a row")
        return None if "." in state else draw("the board is full")

    def show(self, state, seat):
        return Grid([state[:3], state[3:6], state[6:]], strong=[CELLS[n] for n in self.line(state)])


GAME = TicTacToe()
