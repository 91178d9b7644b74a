"""From what a learning platform exports to submissions of students on the roster."""
