import json
import tempfile
import unittest
from pathlib import Path

from shelfmark.book import Book
from shelfmark.errors import ShelfmarkError
from shelfmark.store import Store


class StoreTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "library.json"

    def tearDown(self) -> None:
        self.folder.cleanup()

    def test_a_missing_file_is_an_empty_store(self) -> None:
        self.assertEqual(Store.load(self.path).books, [])

    def test_books_are_kept(self) -> None:
        store = Store.load(self.path)
        store.add(Book("9780306406157", "Garden", ["Mira"], 1998, ["nature"]))
        store.save()
        self.assertEqual(Store.load(self.path).find("9780306406157").authors, ["Mira"])

    def test_unknown_keys_are_kept(self) -> None:
        value = {"version": 1, "books": [{"isbn": "9780306406157", "title": "Garden", "shelf": "A3"}], "owner": "me"}
        self.path.write_text(json.dumps(value), encoding="utf-8")
        Store.load(self.path).save()
        kept = json.loads(self.path.read_text(encoding="utf-8"))
        self.assertEqual(kept["owner"], "me")
        self.assertEqual(kept["books"][0]["shelf"], "A3")

    def test_one_isbn_is_one_book(self) -> None:
        store = Store.load(self.path)
        store.add(Book("9780306406157", "Garden"))
        with self.assertRaises(ShelfmarkError):
            store.add(Book("9780306406157", "Again"))

    def test_what_is_no_store_is_refused(self) -> None:
        for text in ("{", "[]", '{"version": 99, "books": []}'):
            self.path.write_text(text, encoding="utf-8")
            with self.assertRaises(ShelfmarkError):
                Store.load(self.path)
