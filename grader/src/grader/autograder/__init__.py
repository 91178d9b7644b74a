"""What a learning platform runs by itself: making it, and running in it."""
