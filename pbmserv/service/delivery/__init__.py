"""Letters that came back, and letters about several boards."""
