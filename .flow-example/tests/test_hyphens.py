import unittest

from wordcount import words


class Hyphens(unittest.TestCase):
    def test_both_halves_of_a_hyphenated_word_count(self) -> None:
        self.assertEqual(words("a well-known word"), 4)

    def test_a_dash_between_words_is_no_word(self) -> None:
        self.assertEqual(words("here - and there"), 3)
