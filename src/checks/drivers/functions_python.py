"""Finds the functions of Python files by ast, with the places of their bodies in UTF-16. Nothing is run. The order names the files."""
import ast, json, os, re, sys

order = json.load(sys.stdin)


def units(text):
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def functions_in(file):
    if not os.path.isfile(file) or os.path.getsize(file) > order["fileBytes"]:
        return
    with open(file, encoding="utf-8", newline="") as source:
        text = source.read()
    mark = 1 if text.startswith("\ufeff") else 0
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text[mark:])

    def position(line, column):
        before = lines[line - 1].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass")
        return mark + units("".join(lines[: line - 1])) + units(before)

    for node in ast.walk(ast.parse(text[mark:])):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name.startswith("__"):
            continue
        idle = lambda each: isinstance(each, ast.Pass) or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        if not all(idle(each) for each in node.body):
            first, last = node.body[0], node.body[-1]
            start, end = position(first.lineno, first.col_offset), position(last.end_lineno, last.end_col_offset)
            yield {"file": file, "name": node.name, "start": start, "end": end}


found = []
for file in order["files"]:
    try:
        found += functions_in(file)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        pass
print("\n" + order["nonce"], json.dumps(found[: order["most"]]))
