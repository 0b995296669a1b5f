"""A file for each command: its options, and what they call. That is imported when the command runs."""
