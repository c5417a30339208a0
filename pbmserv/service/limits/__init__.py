"""How much anybody may ask for."""
