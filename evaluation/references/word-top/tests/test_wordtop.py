import subprocess
import sys
import unittest

from wordtop import top, words_of


class WordTopTest(unittest.TestCase):
    def test_words(self) -> None:
        self.assertEqual(words_of("Don't 'stop' a_1b"), ["don't", "stop", "a", "b"])

    def test_the_most_frequent_come_first(self) -> None:
        self.assertEqual(top(["b a b", "c"], 2, 1, set()), [("b", 2), ("a", 1)])
        self.assertEqual(top(["ab a"], 2, 2, set()), [("ab", 1)])

    def test_the_command(self) -> None:
        ended = subprocess.run([sys.executable, "wordtop.py", "missing.txt"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("missing.txt", ended.stderr)
        self.assertNotIn("Traceback", ended.stderr)
