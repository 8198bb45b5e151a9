import type { Stack } from "../stack.ts";

/** Commands and libraries in Python. */
export const pythonStack: Stack = {
  name: "python",
  description: "Python 3: a command, a library, work with data or text",
  rules: [
    "Write Python 3.9 or later, or the version that the user names, with type hints. Use only the standard library unless the task says that packages may be installed.",
    "Where the user names a file, such as count.py, the program is that file with a def main() in the root. Else the project is one package in a folder of its own: <name>/__init__.py, <name>/<module>.py, and <name>/__main__.py, so that " +
      "python3 -m <name> runs it from the root. Modules import each other by the package's name, from <name>.parse import parse. A package has pyproject.toml with " +
      '[project] with name, version and requires-python = ">=3.9", and for a command [project.scripts] with <name> = "<name>.__main__:main".',
    "Logic stands in modules that do nothing when they are imported. __main__.py has def main() -> int, which reads sys.argv by argparse, calls the logic, prints and " +
      'returns the exit code, and ends with if __name__ == "__main__": sys.exit(main()). Results go to stdout. A wrong use prints what is wrong to stderr, as argparse does, no ' +
      "traceback, and ends with an exit code other than 0.",
    "Tests stand in tests/test_<module>.py and are run by python3 -m pytest from the root. They are functions def test_...() with assert, or classes of unittest. Each " +
      "asserts something that would fail if the code were wrong; none is skipped or expected to fail. They need no network and no present time, and write only " +
      'below tmp_path. A test of the command runs subprocess.run([sys.executable, "-m", "<name>", ...], capture_output=True, text=True).',
    'README.md has a section "Use" with a fenced block of sh. Each line of it is one command that works as written in the project\'s folder, such as ' +
      "python3 -m <name> example.csv, without a pipe; an example file that it names is part of the project.",
  ],
  layout: ["README.md"],
  sources: [".py"],
  testPath: "tests/test_parse.py",
  test: ["python3", "-m", "pytest"],
  start: ["python3", "-m", "name"],
  install: ["python3", "-m", "pip", "install", "--target", ".packages", "-r", "requirements.txt"],
};
