"""Facts about Go for the contract suite."""

OPTIONS = [(), ("-handicap=4", "-komi=0.5")]
GARBAGE = "abcdefghj123456789 dead"
TEXTS = ("pass", "d4", "dead d4", "none", "agree", "resume", "D 4")
