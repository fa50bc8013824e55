import doctest
import unittest


class Usage(unittest.TestCase):
    def test_every_example_prints_what_the_page_says(self) -> None:
        failed, tried = doctest.testfile("../docs/usage.md")
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 0)
