"""Counts of a catalogue."""

from collections import Counter
from collections.abc import Iterable, Iterator

from shelfmark.book import Book


def report(books: Iterable[Book]) -> Iterator[str]:
    """Yield the lines of a report: books by decade, then by tag."""
    decades: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    for book in books:
        decades["unknown" if book.year is None else f"{book.year // 10 * 10}s"] += 1
        tags.update(book.tags)
    for decade, count in sorted(decades.items()):
        yield f"{decade}\t{count}"
    for tag, count in sorted(tags.items(), key=lambda item: (-item[1], item[0])):
        yield f"{tag}\t{count}"
