"""What an author of assignments uses: checks, mutations, handouts, ladders, and the pages on GPU results."""
