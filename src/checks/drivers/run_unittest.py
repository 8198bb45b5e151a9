"""As run_pytest.py, for a machine without pytest. It runs the tests of unittest; test functions need pytest."""
import importlib.util, inspect, json, os, sys, traceback, unittest
os.set_inheritable(3, False)
sys.path[0] = ""
out = os.fdopen(3, "w", buffering=1, encoding="utf-8", errors="replace")
def tell(**value):
    out.write(json.dumps(value) + "\n")
def needs_pytest():
    tell(type="lacks")
    sys.exit(0)
class Result(unittest.TestResult):
    def of(self, test):
        return {"name": test.id(), "file": files.get(type(test).__module__, "")}
    def startTest(self, test):
        super().startTest(test)
        tell(type="collected", file=self.of(test)["file"])
        tell(type="began", **self.of(test))
    def addSuccess(self, test):
        tell(type="passed", **self.of(test))
    def addError(self, test, error):
        tell(type="failed", **self.of(test), message=self._exc_info_to_string(error, test)[-4000:])
    addFailure = addError
    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.addError(test, error)
    def addSkip(self, test, reason):
        tell(type="skipped", **self.of(test))
    def addExpectedFailure(self, test, error):
        tell(type="skipped", **self.of(test))
    def addUnexpectedSuccess(self, test):
        tell(type="failed", **self.of(test), message="It passed, and was expected to fail.")
files = {}
sys.path.insert(0, os.getcwd())
suite = unittest.TestSuite()
for file in sys.argv[1:]:
    name = file[:-3].replace("/", ".")
    files[name] = file
    sys.path.insert(1, os.path.dirname(os.path.abspath(file)))
    try:
        spec = importlib.util.spec_from_file_location(name, file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        suite.addTests(unittest.defaultTestLoader.loadTestsFromModule(module))
    except BaseException as error:
        if isinstance(error, ImportError) and error.name == "pytest":
            needs_pytest()
        tell(type="failed", name=file, file=file, message=traceback.format_exc(limit=-8)[-4000:])
        continue
    if any(key.startswith("test") and inspect.isfunction(value) and value.__module__ == name for key, value in vars(module).items()):
        needs_pytest()
suite.run(Result())
tell(type="end", code=0)
