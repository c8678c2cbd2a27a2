"""Jobs: a search cut into units, and a directory that keeps what was done (docs/jobs.md)."""
