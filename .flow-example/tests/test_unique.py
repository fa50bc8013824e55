import unittest

import wordcount


class Unique(unittest.TestCase):
    def test_a_word_counts_once(self) -> None:
        self.assertEqual(wordcount.unique("to be or not to be"), 4)

    def test_case_makes_no_difference(self) -> None:
        self.assertEqual(wordcount.unique("The end of the line"), 4)
