"""What every feature stands on: tables and rows."""
