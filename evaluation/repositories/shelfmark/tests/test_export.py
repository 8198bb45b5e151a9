import io
import unittest

from shelfmark.book import Book
from shelfmark.export import write_csv


class ExportTest(unittest.TestCase):
    def test_books_are_rows(self) -> None:
        out = io.StringIO()
        write_csv([Book("9780306406157", "Garden, Quiet", ["Mira", "Jo"], None, ["nature"])], out)
        self.assertEqual(out.getvalue(), 'isbn,title,authors,year,tags\n9780306406157,"Garden, Quiet",Mira; Jo,,nature\n')
