"""Facts about Backgammon for the contract suite."""

OPTIONS = [(), ("-match=3",)]
GARBAGE = "0123456789/ baroff()*"
TEXTS = ("13/7 8/7", "bar/22", "6/off(2)", "roll", "double", "take", "drop")
