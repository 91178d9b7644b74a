"""The data model: assignments, submissions, results, records, scores."""
