"""Events: leagues, cups and Swiss tournaments."""
