"""Judging a subject by a rubric, and calibrating a judge by labelled cases."""
