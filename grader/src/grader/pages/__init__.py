"""From records to what people read: report cards, gradebook, leaderboard."""
