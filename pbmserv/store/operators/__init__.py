"""Lists and changes for operators, copies of databases, sizes."""
