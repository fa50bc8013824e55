import unittest

import wordcount


class Lines(unittest.TestCase):
    def test_an_empty_text_has_none(self) -> None:
        self.assertEqual(wordcount.lines(""), 0)

    def test_a_last_line_without_an_end_counts(self) -> None:
        self.assertEqual(wordcount.lines("one\ntwo"), 2)
