"""Reads Python tests, and what they import or name, by ast. Nothing is run. The order on standard input has the test files."""
import ast, json, os, re, sys
order = json.load(sys.stdin)
tests = order["tests"]
LIMIT, MOST_FILES, MOST_FUNCTIONS = 300000, 200, 2000
ASSERTS = re.compile(r"^_?(assert|expect|check|verify|must|ensure|fail$|raises$|warns$|approx$|deprecated_call$)", re.I)
def read(file):
    try:
        if not os.path.isfile(file) or os.path.getsize(file) > LIMIT: return None
        with open(file, encoding="utf-8", newline="") as source: text = source.read()
        return text, ast.parse(text[1:] if text.startswith("\ufeff") else text)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError): return None
def places(module):
    parts = module.split(".")
    inside = [root + "/".join(parts) + end for root in ("", "src/") for end in (".py", "/__init__.py", "/__main__.py")]
    return inside + [root + "/".join(parts[:n]) + "/__init__.py" for root in ("", "src/") for n in range(1, len(parts))]
def leads(file, tree):
    package = os.path.dirname(file).replace("/", ".")
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names: yield from places(alias.name)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".") if package else []
            above = above[: len(above) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            if module: yield from places(module)
            for alias in node.names: yield from places((module + "." if module else "") + alias.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"[\w./-]{1,200}", node.value):
            if node.value.endswith(".py"):
                yield os.path.normpath(node.value)
                yield os.path.normpath(os.path.join(os.path.dirname(file), node.value))
            elif re.fullmatch(r"\w+(\.\w+)*", node.value): yield from places(node.value)
def name_of(node):
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
def is_constant(node):
    return all(isinstance(each, ast.Constant) for each in node)
class Weak:
    def __init__(self, tree):
        self.functions = {node.name: node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
        self.visited = 0
    def asserts(self, start, seen):
        if start in seen: return False
        seen.add(start)
        for node in ast.walk(start):
            self.visited += 1
            if self.visited > 500000 or isinstance(node, ast.Raise): return True
            if isinstance(node, ast.Assert) and not isinstance(node.test, ast.Constant): return True
            if isinstance(node, ast.Call):
                name = name_of(node.func)
                if ASSERTS.match(name) and not (node.args and is_constant(node.args)): return True
                # A failure or an expected error has a constant at most.
                if name in ("fail", "raises", "assertRaises", "assertRaisesRegex", "warns"): return True
                if name in self.functions and self.asserts(self.functions[name], seen): return True
        return False
def is_test(node):
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test")
def weak_in(file, tree):
    weak = Weak(tree)
    found = []
    for node in tree.body:
        within = [node] if is_test(node) else [each for each in node.body if is_test(each)] if isinstance(node, ast.ClassDef) else []
        found += [{"file": file, "name": each.name} for each in within if not weak.asserts(each, set())]
    return found
def functions_in(file, text, tree, words):
    lines, at = [0], 0
    for line in re.split("(\r\n|\r|\n)", text[1:] if text.startswith("\ufeff") else text):
        at += len(line)
        if line in ("\r\n", "\r", "\n"): lines.append(at)
    skipped = 1 if text.startswith("\ufeff") else 0
    body_text = text[skipped:]
    units = lambda part: len(part.encode("utf-16-le", "surrogatepass")) // 2
    def place(line, column):
        begin = lines[line - 1]
        rest = body_text[begin:].split("\n", 1)[0].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass")
        return skipped + units(body_text[:begin]) + units(rest)
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name.startswith("__"): continue
        real = [each for each in node.body if not isinstance(each, ast.Pass) and not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
        if not real: continue
        first, last = node.body[0], node.body[-1]
        yield {"file": file, "name": node.name, "start": place(first.lineno, first.col_offset), "end": place(last.end_lineno, last.end_col_offset), "replacement": "return None", "isNamed": node.name in words}
programs, opened, seen = {}, list(tests), set(tests)
for file in opened:
    found = read(file) if len(programs) < MOST_FILES else None
    if found is None: continue
    programs[file] = found
    for following in leads(file, found[1]):
        if following not in seen and not following.startswith(("..", "/")):
            seen.add(following)
            opened.append(following)
words = {word for file in tests if file in programs for word in re.findall(r"\w+", programs[file][0])}
weak = [each for file in tests if file in programs for each in weak_in(file, programs[file][1])]
functions = []
for file, (text, tree) in programs.items():
    if file in tests or re.search(r"(^|/)(tests?/|conftest\.py$)", file): continue
    for each in functions_in(file, text, tree, words):
        if len(functions) < MOST_FUNCTIONS: functions.append(each)
REACHING = re.compile(r"subprocess|runpy|importlib|__import__|\bexec\b|\beval\b|\bopen\b|read_text|os\.system|popen|socket|urllib|http")
texts = [programs[file][0] for file in tests if file in programs]
alone = len(texts) == len(tests) and all(file in tests or file.endswith("__init__.py") for file in programs) and not any(REACHING.search(text) for text in texts)
print("\n" + order["nonce"], json.dumps({"weak": weak[:500], "functions": functions, "isAlone": alone}))
