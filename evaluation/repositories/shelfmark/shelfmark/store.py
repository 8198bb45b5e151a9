"""The file of a library: read whole, written whole."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from shelfmark.book import Book
from shelfmark.errors import ShelfmarkError

VERSION = 1


class Store:
    def __init__(self, path: Path, books: list[Book], other: dict[str, Any]) -> None:
        self.path = path
        self.books = books
        self._other = other

    @staticmethod
    def load(path: Path) -> "Store":
        """Read a store; a file that is not there is an empty one."""
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return Store(path, [], {})
        try:
            value = json.loads(text)
        except json.JSONDecodeError as error:
            raise ShelfmarkError(f"{path} is no JSON (line {error.lineno}).") from error
        if not isinstance(value, dict) or not isinstance(value.get("books"), list):
            raise ShelfmarkError(f"{path} is no store of shelfmark.")
        if value.get("version") != VERSION:
            raise ShelfmarkError(f"{path} has version {value.get('version')}; this shelfmark knows version {VERSION}.")
        other = {key: item for key, item in value.items() if key not in ("version", "books")}
        return Store(path, [Book.from_json(book) for book in value["books"]], other)

    def find(self, isbn: str) -> Book:
        for book in self.books:
            if book.isbn == isbn:
                return book
        raise ShelfmarkError(f"There is no book {isbn}.")

    def add(self, book: Book) -> None:
        if any(known.isbn == book.isbn for known in self.books):
            raise ShelfmarkError(f"The book {book.isbn} is there already.")
        self.books.append(book)

    def remove(self, isbn: str) -> Book:
        book = self.find(isbn)
        self.books.remove(book)
        return book

    def save(self) -> None:
        value = {"version": VERSION, "books": [book.to_json() for book in self.books], **self._other}
        text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(name, self.path)
        except BaseException:
            os.unlink(name)
            raise
