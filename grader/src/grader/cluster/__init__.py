"""Grades on a cluster: the head keeps the journal and submits runs to Slurm, whose nodes return records."""
