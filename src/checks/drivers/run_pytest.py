"""Runs test files, its arguments, and writes each result as a line of JSON to descriptor 3, which no test is given."""
import json, os, sys
import pytest
os.set_inheritable(3, False)
sys.path[0] = ""
out = os.fdopen(3, "w", buffering=1, encoding="utf-8", errors="replace")
def tell(**value):
    out.write(json.dumps(value) + "\n")
def file_of(nodeid):
    return nodeid.split("::")[0]
class Plugin:
    # A project may choose more names for its tests, and none less.
    def pytest_configure(self, config):
        config.addinivalue_line("python_functions", "test")
        config.addinivalue_line("python_classes", "Test")
    def pytest_deselected(self, items):
        for item in items:
            tell(type="collected", file=file_of(item.nodeid))
            tell(type="skipped", name=item.nodeid, file=file_of(item.nodeid))
    def pytest_collectreport(self, report):
        if report.failed:
            tell(type="failed", name=report.nodeid, file=file_of(report.nodeid), message=str(report.longrepr)[:4000])
    def pytest_collection_finish(self, session):
        for item in session.items:
            tell(type="collected", file=file_of(item.nodeid))
    def pytest_runtest_logstart(self, nodeid, location):
        tell(type="began", name=nodeid, file=file_of(nodeid))
    def pytest_runtest_logreport(self, report):
        name, file = report.nodeid, file_of(report.nodeid)
        if report.failed:
            tell(type="failed", name=name, file=file, message=report.longreprtext[:4000])
        elif report.skipped or (report.when == "call" and hasattr(report, "wasxfail")):
            tell(type="skipped", name=name, file=file)
        elif report.when == "call":
            tell(type="passed", name=name, file=file)
    def pytest_sessionfinish(self, session, exitstatus):
        tell(type="end", code=int(exitstatus))
options = ["-q", "-p", "no:cacheprovider", "--tb=short", "--color=no", "--import-mode=" + ("importlib" if os.environ["TROUPE_IMPORT"] == "importlib" else "prepend")]
sys.exit(pytest.main(options + sys.argv[1:], plugins=[Plugin()]))
