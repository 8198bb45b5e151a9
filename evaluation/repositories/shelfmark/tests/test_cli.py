import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from shelfmark.cli import main


class CommandTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.store = str(Path(self.folder.name) / "library.json")

    def tearDown(self) -> None:
        self.folder.cleanup()

    def run_command(self, *words: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(["--store", self.store, *words])
        return code, out.getvalue(), err.getvalue()

    def test_books_are_added_listed_and_removed(self) -> None:
        self.assertEqual(self.run_command("add", "0306406152", "Garden", "--year", "1998"), (0, "added 978-030640615-7\n", ""))
        self.assertEqual(self.run_command("list"), (0, "978-030640615-7\tGarden (1998)\n", ""))
        self.assertEqual(self.run_command("remove", "978-0-306-40615-7"), (0, "removed 978-030640615-7\n", ""))
        self.assertEqual(self.run_command("list"), (0, "", ""))

    def test_what_goes_wrong_is_told(self) -> None:
        code, out, err = self.run_command("show", "9780306406157")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("There is no book 9780306406157", err)

    def test_books_without_a_year_come_last(self) -> None:
        self.run_command("add", "9781402894626", "Old")
        self.run_command("add", "9780306406157", "New", "--year", "2001")
        _, out, _ = self.run_command("list", "--sort", "year")
        self.assertEqual(out.splitlines()[0], "978-030640615-7\tNew (2001)")
