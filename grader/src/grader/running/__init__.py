"""From a submission to a record: workers built, suites run, results kept in the journal."""
