"""Files, git, processes, judges: one owner for each thing outside of Flow."""
