"""Grades on a cluster: the head keeps the journal and hands runs to Slurm, whose nodes give back records."""
