import unittest

from shelfmark.book import Book
from shelfmark.search import search

GARDEN = Book("9780306406157", "The Quiet Garden", ["Mira Holt"], 1998, ["nature"])
ELAN = Book("9781402894626", "Élan", ["Jo Arden"], None, ["poems", "nature"])


class SearchTest(unittest.TestCase):
    def test_every_word_must_be_found(self) -> None:
        self.assertEqual(search([GARDEN, ELAN], "quiet holt"), [GARDEN])
        self.assertEqual(search([GARDEN, ELAN], "quiet poems"), [])

    def test_accents_and_case_do_not_matter(self) -> None:
        self.assertEqual(search([GARDEN, ELAN], "ELAN"), [ELAN])
