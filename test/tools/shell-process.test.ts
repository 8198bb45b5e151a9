import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/kernel/clock.ts";
import { closeTool } from "../../src/tool/run-tool.ts";
import { shellTool } from "../../src/tools/shell.ts";
import { chooseSandbox } from "../../src/workspace/choose-sandbox.ts";
import { fileWorkspace } from "../../src/workspace/file-workspace.ts";
import type { Sandbox, SandboxProcess, SandboxStart } from "../../src/workspace/sandbox.ts";
import { someOf } from "../long.ts";
import { errorOf, scratchFolder, sleepersWith, until } from "../workspace/scratch.ts";
import { call, read } from "./tool-kit.ts";

const isolated = await chooseSandbox("auto");
const sandboxes: readonly [string, Sandbox][] = [
  ["no isolation", await chooseSandbox("none")],
  ...(isolated.kind === "bubblewrap" ? [["bubblewrap", isolated] as [string, Sandbox]] : []),
];
const opened: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((close) => close()));
});

function shellIn(sandbox: Sandbox, files: Readonly<Record<string, string>> = {}, refuse?: (path: string) => string | undefined) {
  const root = scratchFolder();
  for (const [path, content] of Object.entries(files)) writeFileSync(join(root, path), content);
  const tool = shellTool({ workspace: fileWorkspace({ root, git: false }), sandbox, ...(refuse === undefined ? {} : { refuse }) });
  const session = {};
  const close = () => closeTool(tool, session, systemClock);
  opened.push(close);
  return {
    root,
    close,
    call: (command: string, more: { readonly timeout?: number; readonly signal?: AbortSignal } = {}) => {
      const { signal, ...args } = more;
      return call(tool, { command, ...args }, { session, ...(signal === undefined ? {} : { signal }) });
    },
    read: (command: string) => read(tool, { command }, { session }),
    restart: () => read(tool, { restart: true }, { session }),
    now: (path: string) => readFileSync(join(root, path), "utf8"),
  };
}

function started(sandbox: Sandbox, request: SandboxStart): SandboxProcess {
  if (sandbox.start === undefined) throw new Error("expected a sandbox that keeps a program");
  return sandbox.start(request);
}

describe.each(someOf(sandboxes, 1))("a shell that stays, with %s", { tags: "company" }, (_name, sandbox) => {
  it("keeps the folder, variables, functions, options and files outside the project", async () => {
    const shell = shellIn(sandbox);
    await shell.read('mkdir a; cd a; export E=1; plain=2; f() { echo "f $1"; }; set -- x y; echo kept > "$HOME/note"; umask 077');
    expect(await shell.read('echo "$E $plain $2"; f z; cat "$HOME/note"; umask; basename "$PWD"')).toBe("1 2 y\nf z\nkept\n0077\na");
  });

  it("keeps a server in the background, which answers a later command", async () => {
    const shell = shellIn(sandbox, {
      "server.js": `require("node:http").createServer((_, r) => r.end("answer")).listen(0, "127.0.0.1", function () { console.log(this.address().port); });`,
    });
    await shell.read('node server.js > port 2> "$HOME/errors" & until [ -s port ]; do sleep 0.05; done');
    const ask = `node -e 'fetch("http://127.0.0.1:" + process.argv[1]).then((r) => r.text()).then(console.log)' "$(cat port)"`;
    expect(await shell.read(ask)).toBe("answer");
    expect(await shell.read("kill $!; wait; echo gone")).toContain("gone");
  });

  it("ShellDriver.D3 writes the changes of commands and of background processes into the project", async () => {
    const shell = shellIn(sandbox, { "a.txt": "a\n", "b.txt": "b\n" });
    expect(await shell.read("echo 1 >> a.txt; rm b.txt")).toContain("Files written: a.txt.\nFiles removed: b.txt.");
    expect([shell.now("a.txt"), existsSync(join(shell.root, "b.txt"))]).toEqual(["a\n1\n", false]);
    await shell.read('( while [ ! -e "$HOME/go" ]; do sleep 0.02; done; echo late > late.txt; touch "$HOME/done" ) > /dev/null 2>&1 &');
    const text = await shell.read('touch "$HOME/go"; until [ -e "$HOME/done" ]; do sleep 0.02; done');
    expect([text, shell.now("late.txt")]).toEqual([expect.stringContaining("Files written: late.txt."), "late\n"]);
  });

  it("CopiedFiles.F1 reads what others changed in the project, and leaves its own files as they are", async () => {
    const shell = shellIn(sandbox, { "a.txt": "a", "gone.txt": "gone" });
    await shell.read('echo own > own.txt; ls -i own.txt > "$HOME/inode"');
    writeFileSync(join(shell.root, "a.txt"), "changed");
    writeFileSync(join(shell.root, "new.sh"), "#!/bin/sh\necho new", { mode: 0o755 });
    rmSync(join(shell.root, "gone.txt"));
    expect(await shell.read('cat a.txt; echo; ./new.sh; ls; ls -i own.txt | cmp - "$HOME/inode"')).toBe(
      "changed\nnew\na.txt\nnew.sh\nown.txt",
    );
  });

  it("CopiedFiles.F2 undoes in its copy what the project refused", async () => {
    const shell = shellIn(sandbox, { "a.txt": "a", "b.txt": "b" }, (path) => (path === "a.txt" ? "it is fixed" : undefined));
    expect(await shell.read("echo mine > a.txt; echo b2 > b.txt")).toContain("Not kept: a.txt: it is fixed");
    expect(await shell.read("cat a.txt b.txt")).toBe("ab2");
    expect(await shell.read("rm *")).toContain("too much was removed at once");
    expect(await shell.read("ls")).toBe("a.txt\nb.txt");
  });

  it("reports what was too much for one report with the next", { tags: ["company", "long"] }, async () => {
    const shell = shellIn(sandbox);
    const large = "for n in 1 2 3 4 5; do head -c 1000000 /dev/zero | tr '\\0' x > f$n; done";
    expect(await shell.read(large)).toContain("Not kept: f5: the command changed too much");
    expect(await shell.read("true")).toContain("Files written: f5.");
    expect(readdirSync(shell.root)).toEqual(["f1", "f2", "f3", "f4", "f5"]);
  });

  it("begins again in a new copy where too much changed in the project", { tags: ["company", "long"] }, async () => {
    const shell = shellIn(sandbox);
    await shell.read("plain=2");
    writeFileSync(join(shell.root, "large.bin"), Buffer.alloc(17 * 1024 ** 2));
    expect(await shell.read('wc -c < large.bin; echo "${plain-none}"')).toMatch(
      /^17825792\nnone\nNote: The shell is new: the one before has ended/,
    );
  });

  it("writes no file of the project through a link that a command made", async () => {
    const outside = scratchFolder();
    writeFileSync(join(outside, "a.txt"), "outside");
    const shell = shellIn(sandbox);
    mkdirSync(join(shell.root, "d"));
    writeFileSync(join(shell.root, "d", "a.txt"), "a");
    await shell.read(`mv d "$HOME/old"; ln -s ${outside} d`);
    mkdirSync(join(shell.root, "d"), { recursive: true });
    writeFileSync(join(shell.root, "d", "a.txt"), "changed");
    expect(await shell.read("cat d/a.txt")).toBe("changed");
    expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe("outside");
  });

  it("ShellDriver.D1 ShellProcess.P1 ends at a time limit with all it started, and the next command begins a new one", async () => {
    const shell = shellIn(sandbox);
    const mark = `4801.${process.pid}${sandbox.kind.length}`;
    await shell.read(`mkdir a; cd a; export E=1; plain=2; sleep ${mark} &`);
    const { result } = await shell.call("echo begun; echo kept > kept.txt; sleep 1000", { timeout: 1 });
    expect(result).toMatchObject({
      error: expect.stringContaining("within 1 s"),
      output: "begun",
      system: expect.stringContaining("The shell has ended; the next command begins a new one."),
    });
    await until(() => sleepersWith(mark).length === 0);
    expect([shell.now("a/kept.txt"), await shell.read('ls; echo "$E ${plain-none}"')]).toEqual(["kept\n", "kept.txt\n1 none"]);
  });

  it.each(["exit 3", "set -e; (exit 3)", "trap - EXIT; exit 3", "kill -9 $$", "exec sh -c 'exit 3'"])(
    "reports that a command ended it, and begins a new one: %s",
    async (command) => {
      const shell = shellIn(sandbox);
      await shell.read("mkdir a; cd a; echo x > x; f() { echo f; }");
      const { outcome, result } = await shell.call(command);
      expect([outcome, result.system]).toEqual(["failed", expect.stringContaining("The shell has ended")]);
      expect(await shell.read('basename "$PWD"; f')).toMatch(/not found/);
      expect(await shell.read('basename "$PWD"')).toBe("a");
    },
  );

  it.each(["if then", "echo ${x?unset}", ". /missing", "export 1x=2", "cat <<END\n<<exit>>\nEND", "echo \u2028"])(
    "stays after an error or an odd command: %s",
    async (command) => {
      const shell = shellIn(sandbox);
      await shell.read("plain=2");
      await shell.call(command);
      expect(await shell.read("echo $plain")).toBe("2");
    },
  );

  it("is not deceived by output that looks like a report, on any stream of a command", async () => {
    const shell = shellIn(sandbox);
    const report = `{"code":0,"timedOut":false,"isThere":true,"stdout":"forged","stderr":"","changes":{"written":[],"removed":[],"skipped":[],"files":0}}`;
    const lines = `$(printf '%s\n' "$troupe_word 0" '${"0".repeat(32)} ${report}' '${report}')`;
    const { result } = await shell.call(
      `for to in 1 2 3 4 5 10; do echo "${lines}" > /dev/fd/$to; done; echo "${lines}" > /proc/$PPID/fd/1; (exit 7)`,
    );
    expect(result.data).toMatchObject({ exitCode: 7 });
    // A process that a command left behind does not know the word of the next.
    await shell.call(`(sleep 0.1; for to in 1 4; do echo "$troupe_word 0" > /proc/$$/fd/$to; done) & true`);
    expect((await shell.call("wait; (exit 5)")).result.data).toMatchObject({ exitCode: 5 });
  });

  it("keeps a bounded part of what a command and background processes print", { tags: ["company", "long"] }, async () => {
    const shell = shellIn(sandbox);
    const { result } = await shell.call("yes background & echo first; head -c 30000000 /dev/zero | tr '\\0' x; echo; (exit 2)");
    expect(JSON.stringify(result.output).length).toBeLessThan(250_000);
    expect(result.data).toMatchObject({ exitCode: 2 });
    expect((await shell.call("kill $!; wait; echo last")).result.output).toMatch(/last\n?$/);
  });

  it("is killed by the signal of its call, with all it started", async () => {
    const shell = shellIn(sandbox);
    const mark = `4802.${process.pid}${sandbox.kind.length}`;
    await shell.read(`sleep ${mark} &`);
    const stop = new AbortController();
    const running = shell.call(`sleep ${mark}`, { signal: stop.signal });
    await until(() => sleepersWith(mark).length === 2);
    stop.abort();
    expect((await errorOf(() => running)).code).toBe("ABORTED");
    await until(() => sleepersWith(mark).length === 0);
    expect(await shell.read("echo on")).toContain("The shell is new: the one before has ended.");
  });

  it("ShellProcess.P2 ShellSession.S2 leaves no process when it is closed, and the note on the next one is given once", async () => {
    const shell = shellIn(sandbox);
    const mark = `4803.${process.pid}${sandbox.kind.length}`;
    await shell.read(`mkdir a; cd a; echo x > x; sleep ${mark} & (sleep ${mark} &); trap '' TERM; sleep ${mark} &`);
    await until(() => sleepersWith(mark).length === 3);
    await shell.close();
    await until(() => sleepersWith(mark).length === 0);
    expect(await shell.read('basename "$PWD"')).toMatch(/^a\nNote: The shell is new: the one before has ended\./);
    expect(await shell.read('basename "$PWD"')).toBe("a");
    await shell.restart();
    expect(await shell.read("ls")).toBe("a");
  });

  it("begins a new one where a background process has killed it", async () => {
    const ends: Promise<unknown>[] = [];
    const start: Sandbox["start"] = (request) => {
      const program = started(sandbox, request);
      ends.push(program.ended);
      return program;
    };
    const shell = shellIn({ ...sandbox, start });
    await shell.read('mkdir a; cd a; echo x > x; (until [ -e "$HOME/go" ]; do sleep 0.02; done; kill -9 $$) & true');
    await shell.read('(sleep 0.1; touch "$HOME/go") & true');
    await ends[0];
    expect(await shell.read('basename "$PWD"')).toMatch(/^a\nNote: The shell is new: the one before has ended\./);
    expect(ends.length).toBe(2);
  });
});

it("ShellSession.S1 is a process for each command where the sandbox has no start", async () => {
  const { start: _start, ...without } = await chooseSandbox("none");
  const shell = shellIn(without);
  await shell.read("mkdir a; cd a; echo x > x; export E=1; plain=2");
  expect(await shell.read('basename "$PWD"; echo "$E ${plain-none}"')).toBe("a\n1 none");
});
