"""Imports the modules that its arguments name. Ends with code 86 where one throws, else with 85."""
import importlib, sys, traceback

names, sys.argv = sys.argv[1:], sys.argv[:1]
sys.path[0] = ""
try:
    for name in names:
        importlib.import_module(name)
except Exception:
    traceback.print_exc(limit=-3)
    sys.exit(86)
sys.exit(85)
