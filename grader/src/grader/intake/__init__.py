"""From a learning platform's export to submissions of students on the roster."""
