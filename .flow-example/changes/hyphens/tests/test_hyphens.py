import unittest

from wordcount import words


class Hyphens(unittest.TestCase):
    def test_both_halves_of_a_hyphenated_word_count(self) -> None:
        self.assertGreater(words("a well-known word"), 3)
