"""Finding books by words."""

from collections.abc import Iterable

from shelfmark.book import Book
from shelfmark.text import folded


def search(books: Iterable[Book], text: str) -> list[Book]:
    """Return the books in which every word of the text is part of the title, an author or a tag."""
    words = folded(text).split()
    return [book for book in books if all(word in _haystack(book) for word in words)]


def _haystack(book: Book) -> str:
    return folded(" ".join([book.title, *book.authors, *book.tags]))
