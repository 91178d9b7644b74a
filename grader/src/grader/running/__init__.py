"""From a submission to a record: builds workers, runs suites, keeps results in the journal."""
