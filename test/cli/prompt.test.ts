import { describe, expect, it } from "vitest";
import { Interruptions } from "../../src/cli/host.ts";
import { promptLine } from "../../src/cli/prompt.ts";
import { fakeHost, type FakeHost } from "./fake-host.ts";

function asking(question = "Start? "): { host: FakeHost; interruptions: Interruptions; answer: Promise<string | undefined> } {
  const host = fakeHost({ isTTY: true });
  const interruptions = new Interruptions(host);
  return { host, interruptions, answer: promptLine(host, interruptions, question) };
}

describe("promptLine", () => {
  it("gives the line that was typed", async () => {
    const { host, answer } = asking();
    host.stdin.write("yes\n");
    expect(await answer).toBe("yes");
    expect(host.stderr.text).toContain("Start? ");
  });

  it("gives an empty line as one", async () => {
    const { host, answer } = asking();
    host.stdin.write("\n");
    expect(await answer).toBe("");
  });

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

  it("asks nothing once it was interrupted", async () => {
    const host = fakeHost({ isTTY: true });
    const interruptions = new Interruptions(host);
    interruptions.raise("SIGINT");
    await expect(promptLine(host, interruptions, "?")).rejects.toMatchObject({ code: "ABORTED" });
    expect(host.stderr.text).toBe("");
  });
});
