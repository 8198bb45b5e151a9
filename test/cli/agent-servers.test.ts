import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type OpenAIBody, openaiStub, type OpenAIStub, type StubReply } from "../../src/testing/index.ts";
import { command, freshFolder, newestIn } from "./kept-run.ts";

const LIAR = fileURLToPath(new URL("../adapters/mcp-lying-server.mjs", import.meta.url));
const KEY = "token-0123456789";

function calls(name: string, args: object): StubReply {
  return { toolCalls: [{ name, arguments: JSON.stringify(args) }] };
}

function serving(...replies: readonly StubReply[]): Promise<OpenAIStub> {
  const results = ({ messages }: OpenAIBody): number => messages.filter(({ role }) => role === "tool").length;
  return openaiStub({ handler: (body) => replies[results(body)] ?? { text: "done" } });
}

const reach = (stub: OpenAIStub): readonly string[] => ["--base-url", stub.url, "--model", "stub-1"];

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

  it("asks a person for each step's call, and goes on with the answer where it was", async () => {
    await using stub = await planner();
    const cwd = freshFolder();
    mkdirSync(join(cwd, "out"));
    const first = await command(cwd, ["agent", "write two files", "--plan", "--out", "out", ...reach(stub)]);
    const [, id = ""] = /troupe answer (\S+)/.exec(first.stdout) ?? [];
    expect(first.code).toBe(5);
    const second = await command(cwd, ["answer", id, "yes", "--base-url", stub.url]);
    expect([second.code, second.stdout]).toEqual([5, expect.stringContaining("b.txt")]);
    const last = await command(cwd, ["answer", id, "yes", "--base-url", stub.url]);
    expect([last.code, last.stdout]).toEqual([0, expect.stringContaining("Both files are written.")]);
    expect(stub.requests).toHaveLength(6);
  });
});
