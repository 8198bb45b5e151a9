"""The catalogue as CSV."""

import csv
from collections.abc import Iterable
from typing import TextIO

from shelfmark.book import Book


def write_csv(books: Iterable[Book], out: TextIO) -> None:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["isbn", "title", "authors", "year", "tags"])
    for book in books:
        writer.writerow([book.isbn, book.title, "; ".join(book.authors), "" if book.year is None else book.year, "; ".join(book.tags)])
