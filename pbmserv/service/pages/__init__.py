"""What the pages of players and of the public ask of the service."""
