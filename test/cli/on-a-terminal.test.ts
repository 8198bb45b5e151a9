import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/program.ts";
import { humanPort } from "../../src/cli/prompt.ts";
import { withoutCodes } from "../../src/cli/screen/text.ts";
import { inSession } from "../../src/cli/session.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { openaiStub } from "../../src/testing/index.ts";
import type { FakeHost, FakeOptions } from "./fake-host.ts";
import { terminalHost } from "./kept-run.ts";
import { Terminal } from "./terminal.ts";

/** A person's seat at a terminal, in a folder of its own. */
function seat(options: FakeOptions = {}) {
  const host = terminalHost(options);
  const terminal = new Terminal();
  host.stderr.on("data", (text: string) => terminal.write(text));
  return { host, terminal };
}

describe("a paid run on a terminal", () => {
  it("is agreed to, drawn in place, and can be left by Ctrl-C", async () => {
    await using stub = await openaiStub({ reply: { fault: "stall", after: 2 } });
    const { host, terminal } = seat();
    const code = main(host, ["Write a word counter", "--base-url", stub.url]);
    await host.shows(/Start\? \[Y\/n\]/);
    expect(stub.requests).toEqual([]);
    host.stdin.write("y\n");
    await host.shows(/Specify, ~\d+ tok/);
    expect(terminal.isCursorHidden).toBe(true);
    host.signal("SIGINT");
    expect(await code).toBe(130);
    expect(terminal.isCursorHidden).toBe(false);
    expect(terminal.screen.join("\n")).toMatch(/■ Alice, Product Manager {2}stopped\n {2}· Bob/);
    expect(host.stdout.text).toContain("Stopped: Ctrl-C was pressed. Nothing was written yet.");
    expect(withoutCodes(host.stdout.text)).toMatch(/Project\s+workspace\/word-counter \(no files\)/);
  });

  it("gives the cursor back when a second Ctrl-C ends the process", async () => {
    await using stub = await openaiStub({ reply: { fault: "stall" } });
    const { host, terminal } = seat();
    const code = main(host, ["Write a word counter", "--yes", "--base-url", stub.url]);
    await host.shows(/Specify, ~\d+ tok/);
    host.signal("SIGINT");
    host.signal("SIGINT");
    expect(host.exits).toEqual([130]);
    host.end();
    await host.shows(/\?25h/);
    expect(terminal.isCursorHidden).toBe(false);
    expect(await code).toBe(130);
  });

  it.each(["n\n", "\u0003", "\u0004"])("is not begun after the answer %j, and leaves nothing behind", async (answer) => {
    await using stub = await openaiStub({ reply: "unused" });
    const { host } = seat();
    const code = main(host, ["Write a word counter", "--base-url", stub.url]);
    await host.shows(/Start\?/);
    host.stdin.write(answer);
    expect(await code).toBe(130);
    expect(stub.requests).toEqual([]);
    expect(readdirSync(host.cwd)).toEqual([]);
    expect(host.stdout.text).toBe("");
  });

  it.each([
    ["--yes", ["Write a word counter", "--yes"]],
    ["a model that costs nothing", ["Write a word counter", "--price", "0,0"]],
  ])("is not asked about with %s", async (_what, words) => {
    await using stub = await openaiStub({ reply: { fault: "unauthorized" } });
    const { host } = seat();
    expect(await main(host, [...words, "--base-url", stub.url])).toBe(7);
    expect(host.stderr.text).not.toContain("[Y/n]");
    expect(stub.requests).toHaveLength(1);
  });
});

describe("an idea that is typed", () => {
  it("is waited for no longer than until Ctrl-C", async () => {
    const { host } = seat();
    const code = main(host, ["-"]);
    while (host.stdin.listenerCount("readable") === 0) await nextMacrotask();
    host.signal("SIGINT");
    expect(await code).toBe(130);
  });
});

describe("a run where nobody can be asked", () => {
  it("of a single word is refused, and begun with --yes or by the word run", async () => {
    await using stub = await openaiStub({ reply: { fault: "unauthorized" } });
    const url = ["--base-url", stub.url];
    const { host } = seat({ isTTY: false });
    expect(await main(host, ["pacman", ...url])).toBe(2);
    expect(stub.requests).toEqual([]);
    expect(await main(host, ["pacman", "--yes", ...url])).toBe(7);
    expect(await main(host, ["run", "pacman", ...url])).toBe(7);
    expect(stub.requests).toHaveLength(2);
    expect(readdirSync(join(host.cwd, "workspace"))).toEqual(["pacman", "pacman-2"]);
  });
});

describe("a command line that is none", () => {
  it("is one error, and nothing else is printed", async () => {
    const { host } = seat();
    expect(await main(host, ["run", "--nonsense", "--no-color"])).toBe(2);
    expect(host.stderr.text).toMatch(/^error: .*See: troupe --help \(COMMAND_INVALID\)\n$/);
    expect(host.stdout.text).toBe("");
  });
});

describe("a question of a role", () => {
  const signal = new AbortController().signal;

  async function asking(host: FakeHost, work: (ask: (text: string) => Promise<string>) => Promise<void>): Promise<number> {
    return inSession(host, {}, async (session) => {
      const port = humanPort(session, { read: () => Promise.resolve(undefined), allowed: [] });
      if (port === undefined) return 5;
      await work(async (text) => (await port({ id: text, text, role: "Bob" }, { signal })) as string);
      return 0;
    });
  }

  it("waits for another time when the input ends", async () => {
    const { host } = seat();
    let thrown: unknown;
    const code = asking(host, async (ask) => {
      thrown = await ask("Which colour?").catch((error: unknown) => error);
    });
    await host.shows(/colour\?/);
    host.stdin.end();
    expect(await code).toBe(0);
    expect(thrown).toMatchObject({ code: "WAITING", data: { question: "Which colour?", questionId: "Which colour?" } });
  });
});
