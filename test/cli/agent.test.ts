import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/program.ts";
import { openaiStub, type OpenAIStub } from "../../src/testing/index.ts";
import { calls, command, expectEnd, expectRefusal, freshFolder, newestIn, reach, serving, terminalHost } from "./kept-run.ts";

/** A server that no test reaches. */
const NOWHERE = ["--base-url", "http://127.0.0.1:9/v1"];
const CREATE = calls("editor", { command: "create", path: "note.txt", content: "buy milk\n" }, "I write the note down.\n");

describe("troupe agent", () => {
  it("works with its tools and tells its answer, what it did on the way, and what it cost", async () => {
    await using stub = await serving(CREATE, { text: "The note is in note.txt." });
    const cwd = freshFolder();
    const words = ["agent", "note that I need milk", ...reach(stub), "--allow", "editor", "--out", "notes"];
    const { stdout, stderr } = await expectEnd(cwd, words, 0);
    expect(readFileSync(join(cwd, "notes/note.txt"), "utf8")).toBe("buy milk\n");
    expect(stdout).toMatch(/^Done\.\n\nThe note is in note\.txt\.\n\n {2}Project +notes \(1 file\)/);
    expect(stderr).toMatch(/I write the note down\.[\s\S]*editor \{"command":"create"/);
    expect(stub.rejected).toEqual([]);
  });

  it("waits where nobody can be asked; a yes from another process lets it go on, and nothing is asked again", async () => {
    await using stub = await serving(CREATE, { text: "written" });
    const cwd = freshFolder();
    const words = ["agent", "note that I need milk", ...reach(stub), "--out", "notes"];
    const waiting = await expectEnd(cwd, words, 5, 'May Agent use the tool "editor"?');
    expect(existsSync(join(cwd, "notes/note.txt"))).toBe(false);
    const [, id = "", question = ""] = /troupe answer (\S+) (\w+) "\.\.\."/.exec(waiting.stdout) ?? [];
    await expectEnd(cwd, ["answer", id, question, "yes", "--base-url", stub.url], 0, "written");
    expect(readFileSync(join(cwd, "notes/note.txt"), "utf8")).toBe("buy milk\n");
    expect(stub.requests).toHaveLength(2);
  });

  it("asks for every tool but those that are allowed, and shows a long command to its end", async () => {
    const text = `echo ${"x".repeat(6_000)}; rm -rf notes`;
    await using stub = await serving(calls("shell", { command: text }));
    const words = ["agent", "tidy up", ...reach(stub), "--allow", "editor", "--out", "notes"];
    await expectEnd(freshFolder(), words, 5, /May Agent use the tool "shell"\?[^]*; rm -rf notes/);
  });

  it("goes on after a stop by its budget, and pays for nothing twice", async () => {
    await using stub = await serving(CREATE, { text: "written" });
    const cwd = freshFolder();
    const priced = [...reach(stub), "--price", "1,1"];
    await expectEnd(cwd, ["agent", "note it", ...priced, "--allow", "editor", "--budget", "0.000001", "--out", "notes"], 3);
    await expectEnd(cwd, ["resume", "--budget", "1", "--base-url", stub.url], 0, "written");
    expect(stub.requests).toHaveLength(2);
  });
});

describe("troupe agent on a terminal", () => {
  it("asks before it writes, says what it does line by line, and takes a no for an answer", async () => {
    const content = `${" milk".repeat(1_000)}\u202e\u001b[2Jend`;
    await using stub = await serving(calls("editor", { command: "create", path: "note.txt", content }, "I write the note down.\n"), {
      text: "as you wish",
    });
    const host = terminalHost();
    const code = main(host, ["agent", "note that I need milk", ...reach(stub), "--yes", "--out", "notes"]);
    await host.shows(/Agent asks to use editor:[\s\S]*> /);
    expect(host.stderr.text).toContain("I write the note down.");
    expect(host.stderr.text).toContain(String.raw`milk\u{202e}\u{1b}[2Jend`);
    host.stdin.write("use paper\n");
    expect(await code).toBe(0);
    expect(JSON.stringify(stub.requests.at(-1)?.messages.at(-1))).toContain("use paper");
    expect(existsSync(join(host.cwd, "notes/note.txt"))).toBe(false);
  });
});

describe("bad options of troupe agent", () => {
  it.each([
    ["an unknown tool", ["--tools", "shell,rm"], 'got "rm"'],
    ["a tool that it does not have is allowed", ["--tools", "editor", "--allow", "shell"], 'got "shell"'],
    ["no steps", ["--steps", "0"], "--steps"],
    ["no tools", ["--tools", ""], "--tools"],
  ])("%s", async (_what, words, said) => {
    await expectRefusal(freshFolder(), ["agent", "do it", ...NOWHERE, ...words], said);
  });

  it("no model that can be reached", async () => {
    await expectEnd(freshFolder(), ["agent", "do it"], 7, "OPENAI_API_KEY");
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
    const words = ["agent", "work", "--mcp", "servers.json", "--tools", "planning", "--out", "out", ...reach(stub)];
    const waiting = await expectEnd(cwd, words, 5, 'May Agent use the tool "demo_work"?');
    const [, id = ""] = /troupe answer (\S+)/.exec(waiting.stdout) ?? [];
    await expectEnd(cwd, ["answer", id, "yes", "--base-url", stub.url], 0, "worked");
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
    await expectEnd(cwd, [...words, "--allow", "demo_work"], 0, "worked");
    await expectRefusal(cwd, [...words, "--allow", "demo_rm"], /--allow[^]*got "demo_rm"/);
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
    const { stderr } = await expectRefusal(configured(config), ["agent", "x", "--mcp", "servers.json", ...NOWHERE], said);
    expect(stderr).not.toContain(KEY);
    expect(stderr).not.toContain("\u001b[2J");
  });

  it("refuses a config that is not there, and a server that does not start", async () => {
    await expectRefusal(freshFolder(), ["agent", "x", "--mcp", "no.json", ...NOWHERE], "no.json");
    const cwd = configured({ mcpServers: { demo: { command: "troupe-no-such-command" } } });
    await expectEnd(cwd, ["agent", "x", "--mcp", "servers.json", ...NOWHERE], 1, "MCP_UNREACHABLE");
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
    const words = ["agent", "write two files", "--plan", "--allow", "editor", "--out", "out", ...reach(stub)];
    const { stderr } = await expectEnd(cwd, words, 0, /^Done\.\n\nBoth files are written\.\n/);
    expect(stderr).toMatch(/Plan: a write a\.txt; b write b\.txt[^]*Step a: write a\.txt[^]*Step b: write b\.txt/);
    expect(["a.txt", "b.txt"].map((path) => readFileSync(join(cwd, "out", path), "utf8"))).toEqual(["a.txt", "b.txt"]);
    const asked = stub.requests.length;
    expect(await command(cwd, ["replay", await newestIn(cwd)])).toMatchObject({ code: 0 });
    expect(stub.requests).toHaveLength(asked);
  });
});
