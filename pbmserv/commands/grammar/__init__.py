"""How one line is read: words, arguments, spelling."""
