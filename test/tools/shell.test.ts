import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeTool } from "../../src/tools/code.ts";
import { shellTool } from "../../src/tools/shell.ts";
import { chooseSandbox } from "../../src/workspace/choose-sandbox.ts";
import { refusedSandbox, type Sandbox } from "../../src/workspace/sandbox.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { call, projectOf, read } from "./tool-kit.ts";

const isolated = await chooseSandbox("auto");
// The promises that need isolation are tested beside the sandbox itself.
const sandbox: Sandbox = isolated.kind === "bubblewrap" ? isolated : await chooseSandbox("none");

function project(files: Readonly<Record<string, string>> = {}) {
  const made = projectOf(files);
  const ports = { workspace: made.workspace, sandbox };
  return { ...made, shell: shellTool(ports), code: codeTool(ports) };
}

describe("the shell", () => {
  it("tells the exit code, stdout and stderr apart", async () => {
    const { shell } = project();
    expect(await read(shell, { command: "echo out; echo err >&2" })).toBe("out\n[stderr]\nerr");
    const { outcome, result } = await call(shell, { command: "echo out; exit 3" });
    expect([outcome, result]).toEqual([
      "failed",
      expect.objectContaining({ error: "exit code 3", output: "out", data: expect.objectContaining({ exitCode: 3, timedOut: false }) }),
    ]);
    expect(await read(shell, { command: "true" })).toBe("(no output, exit code 0)");
  });

  it("can be begun anew by the model", async () => {
    const { shell } = project({ "a/x": "" });
    await read(shell, { command: "cd a; export B=1" });
    expect(await read(shell, { restart: true })).toContain("is at the project's root");
    expect(await read(shell, { command: "ls; echo ${B-none}" })).toBe("a\nnone");
    expect(await call(shell, {})).toMatchObject({ outcome: "failed" });
  });

  it("shows no colours and nothing that steers", async () => {
    const { shell } = project();
    expect(await read(shell, { command: "printf '\\033[31mred\\033[0m\\033]0;title\\007 \\033[2Jx\\r\\n\\342\\200\\256y'" })).toBe(
      "red x\ny",
    );
  });
});

describe("files a command writes", () => {
  it("that the workspace refuses are told, and the rest is kept", async () => {
    const { shell, root } = project();
    const text = await read(shell, {
      command:
        "echo x > good.txt; echo x > 'bad?.txt'; echo x > con; head -c 2000000 /dev/zero | tr '\\0' x > big; ln -s /etc/passwd link; mkdir -p node_modules/m .git; echo x > node_modules/m/i.js; echo x > .git/config",
    });
    expect(readdirSync(root)).toEqual(["good.txt"]);
    for (const path of ["bad?.txt", "con", "big", "link"]) expect(text).toMatch(new RegExp(`Not kept: .*${path.replace("?", "\\?")}`));
  });

  it("do not include the caches of Python's programs", async () => {
    const { shell, root } = project();
    const caches = ["__pycache__", "pkg/__pycache__", ".pytest_cache/v", ".mypy_cache", ".ruff_cache"];
    const text = await read(shell, {
      command: `mkdir -p ${caches.join(" ")} && for d in ${caches.join(" ")}; do echo x > $d/f; done; echo x > a.py`,
    });
    expect([readdirSync(root), text]).toEqual([["a.py"], expect.stringContaining("Files written: a.py.")]);
    expect(text).not.toContain("cache");
  });

  it("never go through a link in the project", async () => {
    const outside = scratchFolder();
    const { shell, root } = project();
    symlinkSync(outside, join(root, "out"));
    const text = await read(shell, { command: "mkdir out; echo x > out/file" });
    expect(text).toContain("Not kept: out/file");
    expect(readdirSync(outside)).toEqual([]);
  });

  it("may stand where a folder was, and the other way round", async () => {
    const { shell, now } = project({ a: "file", "b/x": "x" });
    await read(shell, { command: "rm a; mkdir a; echo in > a/in; rm -r b; echo file > b" });
    expect([now("a/in"), now("b")]).toEqual(["in\n", "file\n"]);
  });
});

describe("code", () => {
  it.each([
    ["javascript", `const { readFileSync } = require("fs"); console.log(readFileSync("a.txt", "utf8") + (() => 6 * 7)())`],
    ["javascript", `import { readFileSync } from "node:fs"; console.log(readFileSync("a.txt", "utf8") + await Promise.resolve(42))`],
    ["python", `print(open("a.txt").read() + str(6 * 7))`],
  ])("runs %s in the project", async (language, code) => {
    expect(await read(project({ "a.txt": "a" }).code, { language, code })).toBe("a42");
  });

  it("keeps what was printed before it failed, with the trace", { tags: ["company", "long"] }, async () => {
    const { code } = project();
    expect(await read(code, { language: "python", code: "print('so far')\n1 / 0" })).toMatch(
      /^Error: exit code 1\nso far\n\[stderr\]\nTraceback[^]*ZeroDivisionError/,
    );
    expect(await read(code, { language: "javascript", code: "console.log('so far'); null.x" })).toMatch(
      /^Error: exit code 1\nso far\n\[stderr\]\n[^]*TypeError/,
    );
    expect(await read(code, { language: "python", code: "import sys; sys.exit(3)" })).toBe("Error: exit code 3");
  });
});

describe("both", () => {
  it("ask before they run, and are never run twice by themselves", () => {
    const { shell, code } = project();
    for (const tool of [shell, code])
      expect(tool).toMatchObject({ effect: "write", permission: "ask", idempotent: false, parallel: false });
  });

  it("run nothing where no sandbox works, and say why", async () => {
    const { workspace } = project();
    const refused = { workspace, sandbox: refusedSandbox("bubblewrap is not installed", "Install it.") };
    for (const [tool, args] of [
      [shellTool(refused), { command: "echo x" }],
      [codeTool(refused), { language: "python", code: "x" }],
    ] as const) {
      expect(await call(tool, args)).toMatchObject({
        outcome: "failed",
        result: { error: expect.stringContaining("bubblewrap is not installed. Install it.") },
      });
    }
  });

  it("refuse what no system takes as an argument, with what to do instead", async () => {
    const { shell } = project();
    expect(await read(shell, { command: `: ${"x".repeat(200_000)}` })).toContain("into a file of the project");
    expect(await read(shell, { command: "echo a\0b" })).toContain("without NUL characters");
    expect(await read(shell, { command: " \n" })).toContain("nothing but space");
    expect(await call(shell, { command: `: ${"x".repeat(10_000_000)}` })).toMatchObject({ outcome: "invalid" });
  });
});
