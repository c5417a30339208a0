"""What the contract suite has to know about Gomoku."""

OPTIONS = [(), ("-opening=free", "-exact")]
GARBAGE = "abcdefgho12345 ,"
TEXTS = ("h8", "h8 i9 g7", "black", "white", "h8 h8 h9")
