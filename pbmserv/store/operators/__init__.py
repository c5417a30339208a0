"""What operators see and do: tables and rows."""
