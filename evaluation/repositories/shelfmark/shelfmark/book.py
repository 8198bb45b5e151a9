"""A book of the catalogue."""

from dataclasses import dataclass, field
from typing import Any

from shelfmark.errors import ShelfmarkError

KNOWN = ("isbn", "title", "authors", "year", "tags")


@dataclass
class Book:
    isbn: str
    title: str
    authors: list[str] = field(default_factory=list)
    year: int | None = None
    tags: list[str] = field(default_factory=list)
    #: Keys of the file that shelfmark does not know.
    other: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def from_json(value: Any) -> "Book":
        if not isinstance(value, dict) or not isinstance(value.get("isbn"), str) or not isinstance(value.get("title"), str):
            raise ShelfmarkError("A book of the store has no isbn or no title.")
        other = {key: item for key, item in value.items() if key not in KNOWN}
        return Book(value["isbn"], value["title"], list(value.get("authors") or []), value.get("year"), list(value.get("tags") or []), other)

    def to_json(self) -> dict[str, Any]:
        return {"isbn": self.isbn, "title": self.title, "authors": self.authors, "year": self.year, "tags": self.tags, **self.other}
