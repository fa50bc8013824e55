"""Setting up a repository and a host, and diagnosing a machine. Only the command line uses it."""
