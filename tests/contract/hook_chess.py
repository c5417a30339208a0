"""What the contract suite has to know about Chess."""

OPTIONS = [(), ("-chess960",)]
GARBAGE = "abcdefgh12345678KQRBNO-x=+"
TEXTS = ("e4", "e2e4", "Nf3", "O-O", "e8=Q", "exd5", "e2")
