"""Facts about Chess for the contract suite."""

OPTIONS = [(), ("-chess960",)]
GARBAGE = "abcdefgh12345678KQRBNO-x=+"
TEXTS = ("e4", "e2e4", "Nf3", "O-O", "e8=Q", "exd5", "e2")
