import { WATCH_INTERVAL } from "../../src/workspace/limit-watch.ts";
import { createServer } from "node:http";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { chooseSandbox, probeBubblewrap } from "../../src/workspace/choose-sandbox.ts";
import type { Sandbox, SandboxRequest, SandboxResult } from "../../src/workspace/sandbox.ts";
import { errorOf, scratchFolder, until } from "./scratch.ts";

const bubblewrap = await chooseSandbox("auto");
const isolates = bubblewrap.kind === "bubblewrap";
if (!isolates) process.stderr.write(`\nSandbox tests do not run: ${bubblewrap.describe}\n`);

/** A project with one script. */
function projectOf(script: string): string {
  const root = join(scratchFolder(), "project");
  mkdirSync(root);
  writeFileSync(join(root, "script.mjs"), script);
  return root;
}

function runScript(sandbox: Sandbox, script: string, request: Partial<SandboxRequest> = {}): Promise<SandboxResult> {
  return sandbox.run({ root: projectOf(script), command: ["node", "script.mjs"], ...request });
}

/** Returns the output of a script that ended well, as JSON. */
async function answerOf(sandbox: Sandbox, script: string, request: Partial<SandboxRequest> = {}): Promise<unknown> {
  const result = await runScript(sandbox, script, request);
  expect(result).toMatchObject({ kind: "exited", code: 0, stderr: "" });
  return JSON.parse("stdout" in result ? result.stdout : "");
}

const sandboxes: readonly [string, Sandbox][] = [
  ["no isolation", await chooseSandbox("none")],
  ...(isolates ? [["bubblewrap", bubblewrap] as [string, Sandbox]] : []),
];

describe.each(sandboxes)("with %s", (_name, sandbox) => {
  it("runs a command in the project with this Node.js", async () => {
    const script = `console.log(JSON.stringify([process.version, (await import("node:fs")).readdirSync("."), process.argv.slice(2)]))`;
    const root = projectOf(script);
    mkdirSync(join(root, "src"));
    const result = await sandbox.run({ root, command: ["node", "script.mjs", "$HOME", "a b"] });
    expect(result).toMatchObject({ kind: "exited", code: 0, stderr: "" });
    expect("stdout" in result ? JSON.parse(result.stdout) : "").toEqual([process.version, ["script.mjs", "src"], ["$HOME", "a b"]]);
  });

  it("tells the code it ended with and what it wrote", async () => {
    const script = `process.stdout.write("out"); process.stderr.write("err"); process.exitCode = 7`;
    const result = await runScript(sandbox, script);
    expect(result).toEqual({ kind: "exited", code: 7, stdout: "out", stderr: "err", isCut: false });
  });

  it("Sandbox.S1 leaves the project as it is", async () => {
    const root = projectOf(`
      import fs from "node:fs";
      fs.writeFileSync("script.mjs", "changed"); fs.writeFileSync("new.txt", "new"); fs.rmSync("keep", { recursive: true });
      fs.mkdirSync("locked"); fs.writeFileSync("locked/file", ""); fs.chmodSync("locked", 0);
      console.log(fs.readdirSync(".").join());
    `);
    mkdirSync(join(root, "keep"));
    writeFileSync(join(root, "keep", "file.txt"), "kept");
    const before = readFileSync(join(root, "script.mjs"), "utf8");
    expect(await sandbox.run({ root, command: ["node", "script.mjs"] })).toMatchObject({
      kind: "exited",
      code: 0,
      stdout: "locked,new.txt,script.mjs\n",
      stderr: "",
    });
    expect(readdirSync(root)).toEqual(["keep", "script.mjs"]);
    expect(readFileSync(join(root, "keep", "file.txt"), "utf8")).toBe("kept");
    expect(readFileSync(join(root, "script.mjs"), "utf8")).toBe(before);
  });

  it("Sandbox.S1 shows neither history nor runs nor what links lead to", async () => {
    const root = projectOf(`console.log(JSON.stringify((await import("node:fs")).readdirSync(".")))`);
    for (const folder of [".git", ".troupe", "node_modules"]) mkdirSync(join(root, folder));
    symlinkSync("/etc", join(root, "etc"));
    symlinkSync("/etc/passwd", join(root, "passwd"));
    expect(await sandbox.run({ root, command: ["node", "script.mjs"] })).toMatchObject({ stdout: '["node_modules","script.mjs"]\n' });
  });

  it("leaves no copy behind", async () => {
    const [quick, endless, folder] = [projectOf(""), projectOf("while (true);"), scratchFolder()];
    // A sandbox that drops root needs to pass this folder.
    chmodSync(folder, 0o711);
    vi.stubEnv("TMPDIR", folder);
    expect(tmpdir()).toBe(folder);
    expect(await sandbox.run({ root: quick, command: ["node", "script.mjs"] })).toMatchObject({ kind: "exited", code: 0 });
    expect(await sandbox.run({ root: endless, command: ["node", "script.mjs"], timeout: 300 })).toMatchObject({ kind: "timeout" });
    expect(await sandbox.run({ root: quick, command: ["no-such-program"] })).not.toMatchObject({ code: 0 });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("Sandbox.S2 passes on no key, neither in the environment nor in that of a process it can see", async () => {
    vi.stubEnv("OPENAI_API_KEY", "sk-canary-1234");
    const script = `
      import fs from "node:fs";
      console.log(JSON.stringify(Object.keys(process.env).sort()));
      for (const pid of fs.readdirSync("/proc")) {
        if (/^\\d+$/.test(pid) && Number(pid) !== ${process.pid}) try { console.log(fs.readFileSync("/proc/" + pid + "/environ", "utf8")); } catch {}
      }
    `;
    const result = await runScript(sandbox, sandbox.kind === "none" ? script.replace(/for [^]*$/, "") : script);
    expect(result).toMatchObject({ kind: "exited", code: 0 });
    const stdout = "stdout" in result ? result.stdout : "";
    expect(stdout).not.toContain("canary");
    const names =
      sandbox.kind === "none" ? ["HOME", "LC_ALL", "NODE_OPTIONS", "PATH", "TMPDIR"] : ["HOME", "LANG", "NODE_OPTIONS", "PATH", "PWD"];
    expect(JSON.parse(stdout.split("\n")[0] ?? "")).toEqual(names);
  });

  it("Sandbox.S3 ends a command that does not end, with its children", async () => {
    const mark = `31337.${process.pid}${sandbox.kind.length}`;
    const script = `
      import { spawn } from "node:child_process";
      process.on("SIGTERM", () => {});
      console.log("started");
      for (let i = 0; i < 3; i++) spawn("sleep", ["${mark}"], { stdio: "ignore" });
      while (true);
    `;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const ended = runScript(sandbox, script, { timeout: 1500 }).finally(() => vi.useRealTimers());
    while (processesWith(mark) < 3) await nextMacrotask();
    await vi.advanceTimersByTimeAsync(1500);
    // It hears no signal to end: force comes after a while.
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await ended).toMatchObject({ kind: "timeout", ms: 1500, stdout: "started\n" });
    await until(() => processesWith(mark) === 0);
  });

  it("Sandbox.S3 ends a command when the signal aborts, before and while it runs", async () => {
    expect(await runScript(sandbox, "", { signal: AbortSignal.abort() })).toMatchObject({ kind: "aborted" });
    const controller = new AbortController();
    const mark = `21337.${process.pid}${sandbox.kind.length}`;
    const script = `console.log("on"); (await import("node:child_process")).spawnSync("sleep", ["${mark}"])`;
    const ended = runScript(sandbox, script, { signal: controller.signal });
    await until(() => processesWith(mark) > 0);
    controller.abort();
    expect(await ended).toMatchObject({ kind: "aborted", stdout: "on\n" });
    await until(() => processesWith(mark) === 0);
  });

  it("gives a command its input, with line ends and letters as they are", async () => {
    const script = `let text = ""; for await (const chunk of process.stdin.setEncoding("utf8")) text += chunk; console.log(JSON.stringify(text))`;
    const input = `one\r\ntwo "ü" \0 ${"x".repeat(200_000)}`;
    const result = await runScript(sandbox, script, { input });
    expect(result).toMatchObject({ kind: "exited", code: 0, stderr: "", stdout: `${JSON.stringify(input)}\n` });
    expect(await runScript(sandbox, script)).toMatchObject({ kind: "exited", code: 0, stdout: '""\n' });
  });

  it("refuses an input and a mount that it cannot give", async () => {
    const input = "x".repeat(16 * 1024 ** 2 + 1);
    expect(await errorOf(() => runScript(sandbox, "", { input }))).toMatchObject({ name: "UsageError", code: "OPTION_INVALID" });
    const folder = scratchFolder();
    const paths = [
      "relative",
      "/a/../project",
      "/",
      "/proc",
      "/tmp/x",
      "/usr/x",
      "/etc",
      "/project/x",
      "/troupe",
      "/troupe/node",
      "/a\0b",
      "/a/",
    ];
    for (const to of paths)
      expect(await errorOf(() => runScript(sandbox, "", { mounts: [{ from: folder, to }] }))).toMatchObject({ code: "OPTION_INVALID" });
    const nowhere = join(folder, "nothing");
    expect(await runScript(sandbox, "", { mounts: [{ from: nowhere, to: "/mounted" }] })).toMatchObject({
      kind: "refused",
      reason: expect.stringContaining("is not there"),
    });
  });

  it("keeps a folder of the copy when the command ends well, and only then", async () => {
    const script = `
      import fs from "node:fs";
      fs.mkdirSync("node_modules/.bin", { recursive: true });
      fs.mkdirSync("node_modules/tool");
      fs.writeFileSync("node_modules/tool/cli.js", "console.log('tool')", { mode: 0o755 });
      fs.symlinkSync("../tool/cli.js", "node_modules/.bin/tool");
      fs.symlinkSync("/etc/passwd", "node_modules/.bin/passwd");
      fs.symlinkSync("../../../secret", "node_modules/.bin/secret");
      fs.symlinkSync("tool", "node_modules/other");
      fs.writeFileSync("other.txt", "not kept");
      process.exitCode = Number(process.argv[2]);
    `;
    const root = projectOf(script);
    const place = scratchFolder();
    const run = (code: string, name: string): Promise<SandboxResult> =>
      sandbox.run({ root, command: ["node", "script.mjs", code], keep: { folder: "node_modules", to: join(place, name) } });
    expect(await run("0", "kept")).toMatchObject({ kind: "exited", code: 0, stderr: "" });
    expect(await run("3", "failed")).toMatchObject({ kind: "exited", code: 3 });
    expect(readdirSync(place)).toEqual(["kept"]);
    expect(readdirSync(join(place, "kept"), { recursive: true }).map(String).sort()).toEqual([".bin", ".bin/tool", "tool", "tool/cli.js"]);
    expect(statSync(join(place, "kept", "tool", "cli.js")).mode & 0o111).toBe(0o111);
    expect(readdirSync(root)).toEqual(["script.mjs"]);
    // It can be run through its link in the next copy.
    writeFileSync(join(root, "next.mjs"), 'console.log((await import("node:fs")).readlinkSync("node_modules/.bin/tool"))');
    renameSync(join(place, "kept"), join(root, "node_modules"));
    expect(await sandbox.run({ root, command: ["node", "next.mjs"] })).toMatchObject({ stdout: "../tool/cli.js\n" });
  });

  it("lets a project serve and fetch on its own machine", async () => {
    const script = `
      import { createServer } from "node:http";
      const server = createServer((_, response) => response.end("hello")).listen(0, "localhost", async () => {
        console.log(JSON.stringify(await (await fetch("http://localhost:" + server.address().port)).text()));
        server.close(); server.closeAllConnections();
      });
    `;
    expect(await answerOf(sandbox, script)).toBe("hello");
  });
});

describe.runIf(isolates)("with bubblewrap alone", () => {
  it("Sandbox.S5 shows mounted files and folders, read only, also those of a closed folder", async () => {
    const [open, closed] = [scratchFolder(), scratchFolder()];
    chmodSync(open, 0o755);
    for (const folder of [open, closed]) {
      mkdirSync(join(folder, "package"));
      writeFileSync(join(folder, "package", "index.js"), "exports.name = 'mounted'");
    }
    const script = `
      import fs from "node:fs";
      import { createRequire } from "node:module";
      const write = (path) => { try { fs.writeFileSync(path, "x"); return "written"; } catch (error) { return error.code; } };
      const require = createRequire("/project/");
      console.log(JSON.stringify([require("/mounted/open").name, require("/mounted/closed").name, fs.readFileSync("/mounted/file", "utf8"), fs.readdirSync("/mounted").sort()]));
      console.log(["/mounted/open/index.js", "/mounted/closed/index.js", "/mounted/file", "/mounted/new"].map(write).includes("written"));
    `;
    const mounts = [
      { from: join(open, "package"), to: "/mounted/open" },
      { from: join(closed, "package"), to: "/mounted/closed" },
      { from: join(closed, "package", "index.js"), to: "/mounted/file" },
    ];
    const result = await runScript(bubblewrap, script, { mounts });
    expect(result).toMatchObject({ kind: "exited", code: 0, stderr: "" });
    const seen = ["mounted", "mounted", "exports.name = 'mounted'", ["closed", "file", "open"]];
    expect("stdout" in result ? result.stdout : "").toBe(`${JSON.stringify(seen)}\nfalse\n`);
    expect(readFileSync(join(open, "package", "index.js"), "utf8")).toBe("exports.name = 'mounted'");
  });

  it("reaches the hosts that are asked for, through the proxy alone", async () => {
    const servers = ["registry", "secret"].map((said) => createServer((_, response) => response.end(said)).listen(0, "127.0.0.1"));
    await Promise.all(servers.map((server) => new Promise((resolve) => server.once("listening", resolve))));
    const [registry, secret] = servers.map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`);
    const script = `
      import { request } from "node:http";
      import { connect } from "node:net";
      const told = (options) => new Promise((resolve) => {
        const sent = request({ hostname: "127.0.0.1", port: 3128, ...options });
        const end = async (response) => { let text = ""; for await (const piece of response) text += piece; resolve(response.statusCode + text); };
        sent.on("response", end).on("error", () => resolve("no")).on("connect", (response, socket) => {
          if (response.statusCode !== 200) return resolve(response.statusCode);
          socket.once("data", (data) => resolve(/\\r\\n\\r\\n[^]*?([a-z]{6,})/.exec(data)?.[1])).write("GET / HTTP/1.0\\r\\n\\r\\n");
        }).end();
      });
      const direct = (port) => new Promise((resolve) => connect(port, "127.0.0.1", () => resolve("reached")).on("error", () => resolve("no")));
      const answers = [];
      for (const host of ["${registry}", "${secret}"])
        answers.push(
          await told({ path: "http://" + host + "/" }),
          await told({ path: "http://" + host + "/", method: "POST" }),
          await told({ method: "CONNECT", path: host }),
          await direct(Number(host.split(":")[1])),
        );
      for (const path of ["http://user@${registry}@${secret}/", "http://${secret}/?${registry}", "https://${registry}/", "/", "*"]) answers.push(await told({ path }));
      console.log(JSON.stringify(answers));
    `;
    const refused = ["403", "403", 403, "no"];
    try {
      expect(await answerOf(bubblewrap, script, { network: [registry ?? ""] })).toEqual([
        ...["200registry", "403", "registry", "no"],
        ...refused,
        ...["403", "403", "403", "403", "403"],
      ]);
      expect(((await answerOf(bubblewrap, script)) as unknown[]).slice(0, 8)).toEqual(["no", "no", "no", "no", "no", "no", "no", "no"]);
    } finally {
      for (const server of servers) server.close();
    }
  });

  it("refuses hosts where the network cannot be closed, and hosts without a port", async () => {
    expect(await runScript(await chooseSandbox("none"), "", { network: ["example.org:443"] })).toMatchObject({ kind: "refused" });
    for (const host of [
      "example.org",
      "http://example.org:80",
      "a b:1",
      "u@example.org:1",
      ":1",
      "example.org:99999",
      "example.org?:443",
      "example.org#:443",
    ])
      await expect(runScript(bubblewrap, "", { network: [host] })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });

  it("Sandbox.S4 has no network", async () => {
    const server = createServer((_, response) => response.end("host")).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const port = (server.address() as AddressInfo).port;
    const script = `
      const tries = ["http://127.0.0.1:${port}", "http://1.1.1.1", "http://example.com"].map((url) => fetch(url).then(() => "reached", () => "no"));
      console.log(JSON.stringify([await Promise.all(tries), Object.keys((await import("node:os")).networkInterfaces())]));
    `;
    try {
      expect(await answerOf(bubblewrap, script)).toEqual([["no", "no", "no"], ["lo"]]);
    } finally {
      server.close();
    }
  });

  it("Sandbox.S5 sees no file of the machine but the system's", async () => {
    const secret = join(scratchFolder(), "secret.txt");
    writeFileSync(secret, "canary");
    const script = `
      import fs from "node:fs";
      const see = (path) => { try { return fs.statSync(path).isDirectory() ? fs.readdirSync(path).sort() : "file"; } catch (error) { return error.code; } };
      console.log(JSON.stringify([see(${JSON.stringify(secret)}), see("/etc/shadow"), see("/root"), see("/home"), see("/var"), see("/etc"), see("/tmp"), see(".")]));
    `;
    const [file, shadow, root, home, variable, etc, temporary, project] = (await answerOf(bubblewrap, script)) as (string | string[])[];
    expect([file, shadow, root, home, variable]).toEqual(["ENOENT", "ENOENT", "ENOENT", "ENOENT", "ENOENT"]);
    expect((etc as string[]).filter((name) => !["alternatives", "ld.so.cache"].includes(name))).toEqual(["hosts", "passwd"]);
    expect([temporary, project]).toEqual([[], ["script.mjs"]]);
  });

  it("Sandbox.S5 writes nowhere but into the project and the temporary folder", async () => {
    const script = `
      import fs from "node:fs";
      const write = (path) => { try { fs.writeFileSync(path, "x"); return "written"; } catch (error) { return error.code; } };
      console.log(JSON.stringify(["/x", "/usr/x", "/etc/x", "/etc/hosts", "/dev/x", "/source/x", "/source/script.mjs", "/troupe/node", "/proc/sys/kernel/hostname", "/project/x", "/tmp/x"].map(write)));
    `;
    const answers = (await answerOf(bubblewrap, script)) as string[];
    expect(answers.slice(-2)).toEqual(["written", "written"]);
    expect(answers.slice(0, -2)).not.toContain("written");
  });

  it("Sandbox.S6 leaves nothing running, also what left its process group", async () => {
    const mark = `41337.${process.pid}`;
    const script = `
      import { spawn } from "node:child_process";
      for (let i = 0; i < 3; i++) spawn("setsid", ["sleep", "${mark}"], { detached: true, stdio: "ignore" }).unref();
      console.log("true");
    `;
    expect(await answerOf(bubblewrap, script)).toBe(true);
    await until(() => processesWith(mark) === 0);
  });

  it("Sandbox.S6 sees no process but its own, and no more rights than anybody", async () => {
    const script = `
      import fs from "node:fs";
      const status = fs.readFileSync("/proc/self/status", "utf8");
      const of = (name) => new RegExp("^" + name + ":\\\\s*(\\\\S+)", "m").exec(status)?.[1];
      console.log(JSON.stringify([fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).length, of("CapEff"), of("NoNewPrivs"), process.getuid(), (await import("node:os")).userInfo().username]));
    `;
    const [processes, ...rest] = (await answerOf(bubblewrap, script)) as unknown[];
    expect(processes).toBeLessThanOrEqual(3);
    expect(rest).toEqual(["0000000000000000", "1", 1000, "troupe"]);
  });

  it("Sandbox.S7 stops a fork bomb", { tags: ["company", "long"] }, async () => {
    const mark = `51337.${process.pid}`;
    const script = `
      import { spawnSync, spawn } from "node:child_process";
      let started = 0;
      const next = () => {
        if (started >= 400) return end();
        const child = spawn("sleep", ["${mark}"], { stdio: "ignore" });
        child.once("spawn", () => { started += 1; next(); });
        child.once("error", end);
      };
      // All of them are there for longer than two looks of the watch.
      const end = () => setTimeout(() => { console.log(JSON.stringify(started)); process.exit(0); }, ${2 * WATCH_INTERVAL});
      next();
    `;
    const started = (await answerOf(bubblewrap, script)) as number;
    expect(started).toBeGreaterThan(0);
    expect(started).toBeLessThan(128);
    await until(() => processesWith(mark) === 0);
  });

  it("Sandbox.S7 bounds disk and memory", { tags: ["company", "long"] }, async () => {
    const fill = (folder: string): string => `
      import fs from "node:fs";
      const chunk = Buffer.alloc(10_000_000);
      let n = 0;
      try { for (; n < 100; n++) fs.writeFileSync("${folder}/" + n, chunk); } catch (error) { console.log(JSON.stringify([error.code, n < 30])); }
    `;
    for (const folder of ["/project", "/tmp", "/dev/shm"]) expect(await answerOf(bubblewrap, fill(folder))).toEqual(["ENOSPC", true]);
    const greedy = `
      const held = [];
      try { for (;;) held.push(Buffer.allocUnsafeSlow(200_000_000)); } catch (error) { console.log(JSON.stringify(held.length)); }
    `;
    const blocks = (await answerOf(bubblewrap, greedy)) as number;
    expect(blocks).toBeLessThan(22);
  });
});

describe("without isolation", () => {
  it("shows a mount at its own path, and refuses one at another", async () => {
    // A folder below the system's temporary folder cannot be mounted: there the sandbox has its own.
    const own = "/var/lib";
    const none = await chooseSandbox("none");
    const script = `console.log((await import("node:fs")).existsSync(${JSON.stringify(own)}))`;
    expect(await runScript(none, script, { mounts: [{ from: "/etc/fstab", to: "/mounted" }] })).toMatchObject({ kind: "refused" });
    expect(await runScript(none, script, { mounts: [{ from: own, to: own }] })).toMatchObject({ stdout: "true\n" });
  });
});

describe("chooseSandbox", () => {
  it("probes once per process", async () => {
    expect(await chooseSandbox("auto")).toBe(bubblewrap);
    expect(await chooseSandbox("bubblewrap")).toBe(bubblewrap);
  });

  it("refuses where there is no bubblewrap, and says what to do", async () => {
    vi.stubEnv("PATH", "");
    const sandbox = await probeBubblewrap();
    const marker = join(scratchFolder(), "ran");
    expect(sandbox.kind).toBe("refused");
    expect(await runScript(sandbox, `(await import("node:fs")).writeFileSync(${JSON.stringify(marker)}, "")`)).toEqual({
      kind: "refused",
      reason: "bubblewrap is not installed",
      hint: expect.stringMatching(/apt install bubblewrap.*--sandbox none/),
    });
    expect(existsSync(marker)).toBe(false);
  });

  it("refuses where bubblewrap is installed but fails, and tells its words without control characters", async () => {
    const folder = scratchFolder();
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, "bwrap"), "#!/bin/sh\nprintf 'bwrap: \\033[31mNo permissions to create a new namespace\\n' >&2\nexit 1\n", {
      mode: 0o755,
    });
    vi.stubEnv("PATH", `${folder}:/usr/bin:/bin`);
    const result = await runScript(await probeBubblewrap(), "");
    expect(result).toMatchObject({
      kind: "refused",
      reason: "bubblewrap is installed but does not work here: bwrap: \\u{1b}[31mNo permissions to create a new namespace",
      hint: expect.stringContaining("bwrap-userns-restrict"),
    });
  });

  it.runIf(isolates)("isolates also without prlimit and setpriv, and says what is missing", async () => {
    const folder = scratchFolder();
    symlinkSync("/usr/bin/bwrap", join(folder, "bwrap"));
    vi.stubEnv("PATH", folder);
    const sandbox = await probeBubblewrap();
    expect(sandbox).toMatchObject({ kind: "bubblewrap", describe: expect.stringContaining("prlimit is missing") });
    vi.unstubAllEnvs();
    expect(await answerOf(sandbox, `console.log(JSON.stringify((await import("node:fs")).existsSync("/home")))`)).toBe(false);
  });
});

/** Counts the processes of this machine that have a word among their arguments. */
function processesWith(word: string): number {
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").includes(word);
    } catch {
      return false;
    }
  }).length;
}
