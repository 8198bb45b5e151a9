/**
 * Runs test files by pytest and writes each result as a line of JSON to descriptor 3, which no test is given. What tests print goes elsewhere.
 * The files are its arguments.
 */
const PYTEST = String.raw`
import json, os, sys
import pytest
os.set_inheritable(3, False)
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
`;

/** The same by unittest, for a machine without pytest. */
const UNITTEST = String.raw`
import importlib.util, json, os, sys, traceback, unittest
os.set_inheritable(3, False)
out = os.fdopen(3, "w", buffering=1, encoding="utf-8", errors="replace")
def tell(**value):
    out.write(json.dumps(value) + "\n")
class Result(unittest.TestResult):
    def of(self, test):
        return {"name": test.id(), "file": files.get(type(test).__module__, "")}
    def startTest(self, test):
        super().startTest(test)
        tell(type="collected", file=self.of(test)["file"])
        tell(type="began", **self.of(test))
    def addSuccess(self, test):
        tell(type="passed", **self.of(test))
    def bad(self, test, error):
        where = self.of(test)
        tell(type="failed", **where, message=self._exc_info_to_string(error, test)[-4000:])
    def addError(self, test, error):
        self.bad(test, error)
    def addFailure(self, test, error):
        self.bad(test, error)
    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.bad(test, error)
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
    except BaseException:
        tell(type="failed", name=file, file=file, message=traceback.format_exc(limit=-8)[-4000:])
suite.run(Result())
tell(type="end", code=0)
`;

/**
 * The program that runs Python tests inside a sandbox: the text of a script for `node -e`. It reads its order on standard input, chooses pytest or
 * unittest, and reports one line that begins with the order's nonce.
 */
export const PYTHON_DRIVER: string = String.raw`
const fs = require("node:fs"), path = require("node:path");
const { spawn, spawnSync } = require("node:child_process");
const order = JSON.parse(fs.readFileSync(0, "utf8"));
const root = process.cwd();
const libraries = [root, path.join(root, "src"), path.join(root, ".packages")].filter((folder) => fs.existsSync(folder)).join(path.delimiter);
const names = order.files.map((file) => path.basename(file));
// Two test files of one name outside packages are one module to the usual way of importing.
const TROUPE_IMPORT = new Set(names).size < names.length ? "importlib" : "prepend";
const env = { ...process.env, PYTHONPATH: libraries, PYTHONDONTWRITEBYTECODE: "1", NO_COLOR: "1", TROUPE_IMPORT };
const tell = (value) => new Promise((done) => process.stdout.write("\n" + order.nonce + " " + JSON.stringify(value) + "\n", done));
const clean = (text) => text.replaceAll(root + "/", "").replaceAll(root, ".").replace(/\b0x[0-9a-f]{6,}\b/g, "0x...");

function tool() {
  const found = spawnSync("python3", ["-c", "import pytest"], { env, stdio: "ignore", timeout: 20000 });
  if (found.error !== undefined) return "none";
  return found.status === 0 ? "pytest" : "unittest";
}

(async () => {
  const chosen = tool();
  const isPlain = (file) => { try { return /^\s*(import|from)\s+unittest\b/m.test(fs.readFileSync(path.join(root, file), "utf8")); } catch { return false; } };
  if (chosen === "none" || (chosen === "unittest" && !order.files.every(isPlain))) {
    await tell({ tool: chosen === "none" ? "none" : "no pytest" });
    process.exit(0);
  }
  const program = chosen === "pytest" ? order.pytest : order.unittest;
  const child = spawn("python3", ["-c", program, ...order.files], { cwd: root, env, stdio: ["ignore", "pipe", "pipe", "pipe"], detached: true });
  let timedOut = false, text = "", size = 0;
  const said = { 1: "", 2: "" };
  const stop = () => { try { process.kill(-child.pid, "SIGKILL"); } catch {} };
  const timer = setTimeout(() => { timedOut = true; stop(); }, order.limit);
  for (const fd of [1, 2]) child.stdio[fd].on("data", (chunk) => { said[fd] = (said[fd] + chunk).slice(-order.shown); });
  child.stdio[3].setEncoding("utf8");
  child.stdio[3].on("data", (chunk) => { size += chunk.length; if (size <= order.resultBytes) text += chunk; else stop(); });
  const end = await new Promise((settle) => {
    let ended;
    child.on("error", (error) => settle({ code: null, signal: error.code }));
    child.on("exit", (code, signal) => { ended = { code, signal }; stop(); setTimeout(() => settle(ended), 300); });
    child.on("close", () => settle(ended));
  });
  clearTimeout(timer);
  const lines = text.split("\n").flatMap((line) => { try { return [JSON.parse(line)]; } catch { return []; } });
  await tell({ tool: chosen, ...end, timedOut, output: clean(said[1] + said[2]).slice(-order.shown), ...tally(lines) });
  process.exit(0);
})();

// One result for each test: its worst.
function tally(lines) {
  const results = new Map(), failures = [], collected = new Set(), told = new Set();
  let running = null, hasEnd = false;
  for (const { type, name, file, message } of lines) {
    if (type === "end") hasEnd = true;
    if (type === "collected") collected.add(file);
    if (type === "began") running = { name, file };
    if (type !== "passed" && type !== "skipped" && type !== "failed") continue;
    running = null;
    if (type === "failed") {
      collected.add(file);
      if (failures.length < order.mostFailures || !told.has(file)) failures.push({ name: clean(String(name)).slice(0, 300), file: String(file), message: clean(String(message)).slice(0, 4000) });
      told.add(file);
    }
    if (type === "failed" || !results.has(name)) results.set(name, type);
  }
  const count = (type) => [...results.values()].filter((each) => each === type).length;
  const empty = order.files.filter((file) => !collected.has(file));
  return { hasEnd, running, passed: count("passed"), failed: count("failed"), skipped: count("skipped"), failures, empty };
}
`;

/** The programs that the driver gives to Python. */
export const pythonRunners: { readonly pytest: string; readonly unittest: string } = { pytest: PYTEST, unittest: UNITTEST };
