"""Events: leagues, cups, Swiss tournaments and duplicate events."""
