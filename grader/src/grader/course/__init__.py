"""The course's policy: from records to each student's grades."""
