"""A page about a job, for those who need its answer: figures, charts, HTML."""
