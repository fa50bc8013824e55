import unittest

from wordcount import words


class Words(unittest.TestCase):
    def test_an_empty_text_has_none(self) -> None:
        self.assertEqual(words(""), 0)

    def test_white_space_of_any_length_parts_words(self) -> None:
        self.assertEqual(words("to be\tor\n\n  not to be\n"), 6)
