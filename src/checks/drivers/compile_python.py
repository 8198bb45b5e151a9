"""Compiles the files that standard input names, and prints the faults."""
import json, sys, warnings

warnings.simplefilter("ignore")
found = []
for file in json.load(sys.stdin):
    try:
        with open(file, "rb") as source:
            compile(source.read(), file, "exec", dont_inherit=True)
    except SyntaxError as error:
        found.append([file, f"{type(error).__name__}: {error.msg}, line {error.lineno}: {(error.text or '').strip()}"])
    except (ValueError, RecursionError, MemoryError) as error:
        found.append([file, f"{type(error).__name__}: {error}"])
    except OSError:
        pass
json.dump(found, sys.stdout)
