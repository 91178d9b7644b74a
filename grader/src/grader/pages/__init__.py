"""From records to pages for people: report cards, gradebook, leaderboard."""
