"""The command line."""

import argparse
import sys
from pathlib import Path

from shelfmark import __version__
from shelfmark.book import Book
from shelfmark.errors import ShelfmarkError
from shelfmark.export import write_csv
from shelfmark.isbn import hyphenated, normalize
from shelfmark.report import report
from shelfmark.search import search
from shelfmark.store import Store
from shelfmark.text import folded


def main(words: list[str] | None = None) -> int:
    options = _parser().parse_args(words)
    try:
        options.run(Store.load(Path(options.store)), options)
    except ShelfmarkError as error:
        print(f"shelfmark: {error}", file=sys.stderr)
        return 1
    return 0


def _add(store: Store, options: argparse.Namespace) -> None:
    book = Book(normalize(options.isbn), options.title, options.author, options.year, options.tag)
    store.add(book)
    store.save()
    print(f"added {hyphenated(book.isbn)}")


def _list(store: Store, options: argparse.Namespace) -> None:
    books = [book for book in store.books if options.tag is None or options.tag in book.tags]
    keys = {
        "title": lambda book: folded(book.title),
        "year": lambda book: (book.year is None, book.year),
        "isbn": lambda book: book.isbn,
    }
    for book in sorted(books, key=keys[options.sort]):
        print(_line(book))


def _show(store: Store, options: argparse.Namespace) -> None:
    book = store.find(normalize(options.isbn))
    print(f"title\t{book.title}")
    print(f"isbn\t{hyphenated(book.isbn)}")
    for author in book.authors:
        print(f"author\t{author}")
    if book.year is not None:
        print(f"year\t{book.year}")
    for tag in book.tags:
        print(f"tag\t{tag}")


def _search(store: Store, options: argparse.Namespace) -> None:
    for book in search(store.books, options.text):
        print(_line(book))


def _remove(store: Store, options: argparse.Namespace) -> None:
    book = store.remove(normalize(options.isbn))
    store.save()
    print(f"removed {hyphenated(book.isbn)}")


def _export(store: Store, options: argparse.Namespace) -> None:
    write_csv(store.books, sys.stdout)


def _stats(store: Store, options: argparse.Namespace) -> None:
    for line in report(store.books):
        print(line)


def _line(book: Book) -> str:
    year = "" if book.year is None else f" ({book.year})"
    return f"{hyphenated(book.isbn)}\t{book.title}{year}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="shelfmark", description="The catalogue of a small library.")
    parser.add_argument("--store", default="library.json", help="the file (default library.json)")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    add = commands.add_parser("add", help="add a book")
    add.add_argument("isbn")
    add.add_argument("title")
    add.add_argument("--author", action="append", default=[])
    add.add_argument("--year", type=int)
    add.add_argument("--tag", action="append", default=[])
    add.set_defaults(run=_add)

    listing = commands.add_parser("list", help="list the books")
    listing.add_argument("--tag")
    listing.add_argument("--sort", choices=["title", "year", "isbn"], default="title")
    listing.set_defaults(run=_list)

    for name, run, text in (("show", _show, "show a book"), ("remove", _remove, "remove a book")):
        command = commands.add_parser(name, help=text)
        command.add_argument("isbn")
        command.set_defaults(run=run)

    finding = commands.add_parser("search", help="find books")
    finding.add_argument("text")
    finding.set_defaults(run=_search)

    commands.add_parser("export", help="print the books as CSV").set_defaults(run=_export)
    commands.add_parser("stats", help="count books").set_defaults(run=_stats)
    return parser
