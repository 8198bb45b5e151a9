import unittest

from shelfmark.errors import ShelfmarkError
from shelfmark.isbn import hyphenated, normalize


class IsbnTest(unittest.TestCase):
    def test_hyphens_are_left_out(self) -> None:
        self.assertEqual(normalize("978-0-306-40615-7"), "9780306406157")

    def test_ten_digits_become_thirteen(self) -> None:
        self.assertEqual(normalize("0-306-40615-2"), "9780306406157")

    def test_a_wrong_check_digit_is_refused(self) -> None:
        for text in ("9780306406158", "0306406153", "abc", ""):
            with self.assertRaises(ShelfmarkError):
                normalize(text)

    def test_hyphens_for_people(self) -> None:
        self.assertEqual(hyphenated("9780306406157"), "978-030640615-7")
