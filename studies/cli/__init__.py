"""`python -m studies`: the options of its commands (`app`), and what they call, which is imported when they run."""
