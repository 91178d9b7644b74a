"""What is graded and what came of it: assignments, submissions, results, records, scores."""
