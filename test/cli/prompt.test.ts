import { describe, expect, it } from "vitest";
import { Interruptions } from "../../src/cli/host.ts";
import { confirmPaidRun, type PaidRun, promptLine } from "../../src/cli/prompt.ts";
import { inSession } from "../../src/cli/session.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { fakeHost, type FakeOptions } from "./fake-host.ts";

function asking(question = "Start? ") {
  const host = fakeHost({ isTTY: true });
  const interruptions = new Interruptions(host);
  return { host, interruptions, answer: promptLine(host, interruptions, question) };
}

describe("promptLine", () => {
  it("gives nothing when the input ends: closed, or by Ctrl-D", async () => {
    const ended = asking();
    ended.host.stdin.end();
    expect(await ended.answer).toBeUndefined();
    const typed = asking();
    typed.host.stdin.write("\u0004");
    expect(await typed.answer).toBeUndefined();
    expect(typed.host.stderr.text.endsWith("\n")).toBe(true);
  });

  it("takes Ctrl-C at the prompt for an interruption", async () => {
    const { host, interruptions, answer } = asking();
    host.stdin.write("\u0003");
    await expect(answer).rejects.toMatchObject({ code: "ABORTED" });
    expect(interruptions.first).toBe("SIGINT");
  });

  it("gives up when a signal comes, or the run no longer asks", async () => {
    const signalled = asking();
    signalled.host.signal("SIGTERM");
    await expect(signalled.answer).rejects.toMatchObject({ code: "ABORTED" });
    const host = fakeHost({ isTTY: true });
    const given = new AbortController();
    const answer = promptLine(host, new Interruptions(host), "?", given.signal);
    given.abort();
    await expect(answer).rejects.toMatchObject({ code: "ABORTED" });
  });
});

const bargain: PaidRun = {
  idea: "Create a \u001b[31mgame",
  model: "gpt-5-mini, key from OPENAI_API_KEY",
  budget: 3_000_000,
  bounds: "20 rounds",
  folder: "workspace/game",
  tests: "run in bubblewrap",
};

/** Runs the question in a session; 0 means it was agreed to. */
function confirming(o: Partial<PaidRun> = {}, options: FakeOptions = { isTTY: true }) {
  const host = fakeHost(options);
  const code = inSession(host, {}, async (session) => {
    await confirmPaidRun(session, { ...bargain, ...o });
    return 0;
  });
  return { host, code };
}

async function answered(text: string, o: Partial<PaidRun> = {}): Promise<number> {
  const { host, code } = confirming(o);
  await nextMacrotask();
  host.stdin.write(text);
  return code;
}

describe("confirmPaidRun", () => {
  it("says what is at stake before it asks", async () => {
    const { host, code } = confirming();
    await nextMacrotask();
    host.stdin.write("y\n");
    expect(await code).toBe(0);
    for (const fact of ["Create a \\u{1b}[31mgame", "gpt-5-mini", "$3.00, 20 rounds", "workspace/game", "run in bubblewrap"]) {
      expect(host.stderr.text).toContain(fact);
    }
    expect(host.stdout.text).toBe("");
  });

  it.each(["\n", "y\n", "YES\n"])("goes on with %j", async (text) => {
    expect(await answered(text)).toBe(0);
  });

  it.each(["n\n", "no\n", "what?\n", "\u0004", "\u0003"])("stops with %j", async (text) => {
    expect(await answered(text)).toBe(130);
  });

  it.each<[string, FakeOptions]>([
    ["nobody is there", { isTTY: false }],
    ["it is a CI system", { isTTY: true, env: { CI: "true" } }],
  ])("asks nothing where %s", async (_where, options) => {
    const { host, code } = confirming({}, options);
    expect(await code).toBe(0);
    expect(host.stderr.text).toBe("");
  });
});
