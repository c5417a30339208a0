"""Facts about Gomoku for the contract suite."""

OPTIONS = [(), ("-opening=free", "-exact")]
GARBAGE = "abcdefgho12345 ,"
TEXTS = ("h8", "h8 i9 g7", "black", "white", "h8 h8 h9")
