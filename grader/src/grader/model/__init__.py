"""What is graded and the outcome: assignments, submissions, results, records, scores."""
