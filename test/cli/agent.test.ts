import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/program.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { openaiStub, type OpenAIStub } from "../../src/testing/index.ts";
import { fakeHost, type FakeHost } from "./fake-host.ts";
import { calls, command, freshFolder, newestIn, reach, serving } from "./kept-run.ts";

const CREATE = calls("editor", { command: "create", path: "note.txt", content: "buy milk\n" }, "I write the note down.\n");

describe("troupe agent", () => {
  it("works with its tools and tells its answer, what it did on the way, and what it cost", async () => {
    await using stub = await serving(CREATE, { text: "The note is in note.txt." });
    const cwd = freshFolder();
    const { code, stdout, stderr } = await command(cwd, [
      "agent",
      "note that I need milk",
      ...reach(stub),
      "--allow",
      "editor",
      "--out",
      "notes",
    ]);
    expect(code).toBe(0);
    expect(readFileSync(join(cwd, "notes/note.txt"), "utf8")).toBe("buy milk\n");
    expect(stdout).toMatch(/^Done\.\n\nThe note is in note\.txt\.\n\n {2}Project +notes \(1 file\)/);
    expect(stderr).toMatch(/I write the note down\.[\s\S]*editor \{"command":"create"/);
    expect(stub.rejected).toEqual([]);
  });

  it("waits where nobody can be asked; a yes from another process lets it go on, and nothing is asked again", async () => {
    await using stub = await serving(CREATE, { text: "written" });
    const cwd = freshFolder();
    const waiting = await command(cwd, ["agent", "note that I need milk", ...reach(stub), "--out", "notes"]);
    expect(waiting.code).toBe(5);
    expect(existsSync(join(cwd, "notes/note.txt"))).toBe(false);
    expect(waiting.stdout).toMatch(/May Agent use the tool "editor"\?/);
    const [, id = "", question = ""] = /troupe answer (\S+) (\w+) "\.\.\."/.exec(waiting.stdout) ?? [];
    const answered = await command(cwd, ["answer", id, question, "yes", "--base-url", stub.url]);
    expect(answered).toMatchObject({ code: 0, stdout: expect.stringContaining("written") as string });
    expect(readFileSync(join(cwd, "notes/note.txt"), "utf8")).toBe("buy milk\n");
    expect(stub.requests).toHaveLength(2);
  });

  it("asks for every tool but those that are allowed, and shows a long command to its end", async () => {
    const text = `echo ${"x".repeat(6_000)}; rm -rf notes`;
    await using stub = await serving(calls("shell", { command: text }));
    const { code, stdout } = await command(freshFolder(), ["agent", "tidy up", ...reach(stub), "--allow", "editor", "--out", "notes"]);
    expect(code).toBe(5);
    expect(stdout).toMatch(/May Agent use the tool "shell"\?[^]*; rm -rf notes/);
  });

  it("goes on after a stop by its budget, and pays for nothing twice", async () => {
    await using stub = await serving(CREATE, { text: "written" });
    const cwd = freshFolder();
    const priced = [...reach(stub), "--price", "1,1"];
    const first = await command(cwd, ["agent", "note it", ...priced, "--allow", "editor", "--budget", "0.000001", "--out", "notes"]);
    expect(first.code).toBe(3);
    const again = await command(cwd, ["resume", "--budget", "1", "--base-url", stub.url]);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("written") as string });
    expect(stub.requests).toHaveLength(2);
  });
});

describe("troupe agent on a terminal", () => {
  it("asks before it writes, says what it does line by line, and takes a no for an answer", async () => {
    const content = `${" milk".repeat(1_000)}\u202e\u001b[2Jend`;
    await using stub = await serving(calls("editor", { command: "create", path: "note.txt", content }, "I write the note down.\n"), {
      text: "as you wish",
    });
    const host = fakeHost({ isTTY: true, cwd: freshFolder(), clock: systemClock, env: { PATH: process.env["PATH"] ?? "" } });
    const code = main(host, ["agent", "note that I need milk", ...reach(stub), "--yes", "--out", "notes"]);
    await shown(host, /Agent asks to use editor:[\s\S]*> /);
    expect(host.stderr.text).toContain("I write the note down.");
    expect(host.stderr.text).toContain(String.raw`milk\u{202e}\u{1b}[2Jend`);
    host.stdin.write("use paper\n");
    expect(await code).toBe(0);
    expect(JSON.stringify(stub.requests.at(-1)?.messages.at(-1))).toContain("use paper");
    expect(existsSync(join(host.cwd, "notes/note.txt"))).toBe(false);
  });
});

/** Resolves when standard error has shown something that matches. */
function shown(host: FakeHost, pattern: RegExp): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (pattern.test(host.stderr.text)) resolve();
    };
    host.stderr.on("data", look);
    look();
  });
}

describe("bad options of troupe agent", () => {
  it.each([
    ["an unknown tool", ["--tools", "shell,rm"], 'got "rm"'],
    ["a tool that it does not have is allowed", ["--tools", "editor", "--allow", "shell"], 'got "shell"'],
    ["no steps", ["--steps", "0"], "--steps"],
    ["no tools", ["--tools", ""], "--tools"],
  ])("%s", async (_what, words, said) => {
    const { code, stderr } = await command(freshFolder(), ["agent", "do it", "--base-url", "http://127.0.0.1:9/v1", ...words]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
  });

  it("no model that can be reached", async () => {
    const { code, stderr } = await command(freshFolder(), ["agent", "do it"]);
    expect([code, stderr]).toEqual([7, expect.stringContaining("OPENAI_API_KEY")]);
  });
});

const LIAR = fileURLToPath(new URL("../adapters/mcp-lying-server.mjs", import.meta.url));
const KEY = "token-0123456789";

/** A folder with a config of one server, which is given a key. */
function configured(
  config: unknown = { mcpServers: { demo: { command: process.execPath, args: [LIAR], env: { API_KEY: KEY } } } },
): string {
  const cwd = freshFolder();
  writeFileSync(join(cwd, "servers.json"), typeof config === "string" ? config : JSON.stringify(config));
  return cwd;
}

describe("troupe agent with servers of tools", () => {
  it("offers their tools, asks before each, and goes on and is replayed from its record", async () => {
    await using stub = await serving(calls("demo_work", {}), { text: "worked" });
    const cwd = configured();
    const waiting = await command(cwd, ["agent", "work", "--mcp", "servers.json", "--tools", "planning", "--out", "out", ...reach(stub)]);
    expect([waiting.code, waiting.stdout]).toEqual([5, expect.stringContaining('May Agent use the tool "demo_work"?')]);
    const [, id = ""] = /troupe answer (\S+)/.exec(waiting.stdout) ?? [];
    const answered = await command(cwd, ["answer", id, "yes", "--base-url", stub.url]);
    expect([answered.code, answered.stdout]).toEqual([0, expect.stringContaining("worked")]);
    expect(JSON.stringify(stub.requests.at(-1)?.messages.at(-1))).toMatch(/comes from the MCP server .*did work/);
    const events = await command(cwd, ["runs", "events", id, "--json"]);
    expect(events.stdout).not.toContain(KEY);
    // A replay asks nobody: it works when the servers are gone.
    writeFileSync(join(cwd, "servers.json"), "gone");
    expect(await command(cwd, ["replay", await newestIn(cwd)])).toMatchObject({ code: 0 });
  });

  it("runs those that are allowed, and refuses to allow what no server has", async () => {
    await using stub = await serving(calls("demo_work", {}), { text: "worked" });
    const cwd = configured();
    const words = ["agent", "work", "--mcp", "servers.json", ...reach(stub)];
    expect(await command(cwd, [...words, "--allow", "demo_work"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("worked") as string,
    });
    const refused = await command(cwd, [...words, "--allow", "demo_rm"]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/--allow[^]*got "demo_rm"/)]);
  });

  const secret = { command: KEY, args: 5 };
  it.each<[string, unknown, RegExp]>([
    ["is no JSON", `{ "key": "${KEY}" `, /it is no JSON/],
    ["has no servers", {}, /mcpServers/],
    ["names none", { mcpServers: {} }, /names 0 servers/],
    ["names too many", { mcpServers: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`s${n}`, { command: "x" }])) }, /names 17/],
    ["has a server of neither kind", { mcpServers: { odd: secret } }, /the server "odd" has neither/],
    ["has a server by an address of another kind", { mcpServers: { odd: { url: "file:///etc/passwd" } } }, /"odd" has neither/],
    ["has a name that steers a screen", { mcpServers: { "\u001b[2Jx": { command: "x" } } }, /needs a name of 1 to 32/],
    ["has a name that is a prototype", '{ "mcpServers": { "__proto__": { "command": "x" } } }', /names 0 servers|needs a name/],
    ["is a list", [1], /mcpServers/],
    ["is too large", " ".repeat(300_000), /more than/],
  ])("refuses a config that %s, and repeats nothing of it", async (_what, config, said) => {
    const { code, stderr } = await command(configured(config), [
      "agent",
      "x",
      "--mcp",
      "servers.json",
      "--base-url",
      "http://127.0.0.1:9/v1",
    ]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
    expect(stderr).not.toContain(KEY);
    expect(stderr).not.toContain("\u001b[2J");
  });

  it("refuses a config that is not there, and a server that does not start", async () => {
    const missing = await command(freshFolder(), ["agent", "x", "--mcp", "no.json", "--base-url", "http://127.0.0.1:9/v1"]);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("no.json")]);
    const cwd = configured({ mcpServers: { demo: { command: "troupe-no-such-command" } } });
    const { code, stderr } = await command(cwd, ["agent", "x", "--mcp", "servers.json", "--base-url", "http://127.0.0.1:9/v1"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("MCP_UNREACHABLE")]);
  });
});

describe("troupe agent --plan", () => {
  const plan = {
    steps: [
      { id: "a", instruction: "write a.txt" },
      { id: "b", instruction: "write b.txt", dependsOn: ["a"] },
    ],
  };

  /** Plans, does each step by one call and a word, and sums up. */
  function planner(): Promise<OpenAIStub> {
    return openaiStub({
      handler: ({ messages }) => {
        const words = JSON.stringify(messages);
        if (words.includes("Break the goal into")) return { text: JSON.stringify(plan) };
        if (words.includes("What the steps gave")) return { text: "Both files are written." };
        const [, path = ""] = /Your step, and nothing else: write (\w\.txt)/.exec(words) ?? [];
        const isDone = messages.some(({ role }) => role === "tool");
        return isDone ? { text: `${path} is there` } : calls("editor", { command: "create", path, content: path });
      },
    });
  }

  it("makes a plan, tells it, lets an agent do each step, and answers once", async () => {
    await using stub = await planner();
    const cwd = freshFolder();
    const { code, stdout, stderr } = await command(cwd, [
      "agent",
      "write two files",
      "--plan",
      "--allow",
      "editor",
      "--out",
      "out",
      ...reach(stub),
    ]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Done\.\n\nBoth files are written\.\n/)]);
    expect(stderr).toMatch(/Plan: a write a\.txt; b write b\.txt[^]*Step a: write a\.txt[^]*Step b: write b\.txt/);
    expect(["a.txt", "b.txt"].map((path) => readFileSync(join(cwd, "out", path), "utf8"))).toEqual(["a.txt", "b.txt"]);
    const asked = stub.requests.length;
    expect(await command(cwd, ["replay", await newestIn(cwd)])).toMatchObject({ code: 0 });
    expect(stub.requests).toHaveLength(asked);
  });
});
