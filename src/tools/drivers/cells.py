"""Runs cells in one namespace, all but the last one silently, and shows the value of the last expression. Its argument names a file with their list."""
import ast, contextlib, io, json, random, sys, traceback

with open(sys.argv[1], encoding="utf-8") as _file:
    _cells = json.load(_file)
_names = {"__name__": "__main__"}
sys.argv[:] = [""]
sys.path[0] = ""
random.seed(0)


def _run(n, show):
    tree = ast.parse(_cells[n], f"<cell {n + 1}>")
    last = tree.body.pop() if show and tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, f"<cell {n + 1}>", "exec"), _names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), f"<cell {n + 1}>", "eval"), _names)
        if value is not None:
            print(repr(value))


try:
    for _n in range(len(_cells) - 1):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            _run(_n, False)
    _run(len(_cells) - 1, True)
except Exception as _error:
    _trace = _error.__traceback__
    while _trace is not None and not _trace.tb_frame.f_code.co_filename.startswith("<cell"):
        _trace = _trace.tb_next
    sys.stdout.flush()
    traceback.print_exception(type(_error), _error, _trace)
    sys.exit(1)
