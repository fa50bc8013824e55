"""The screens that show goals: status, list, history, the line for a status bar. Pure."""
