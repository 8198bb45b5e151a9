import { describe, expect, it } from "vitest";
import type { ResultReport } from "../../src/cli/report.ts";
import { openaiStub, type OpenAIStub, type StubReply } from "../../src/testing/index.ts";
import type { OpenAIBody } from "../../src/testing/stub-reply.ts";
import { isolates } from "../checks/project.ts";
import { accepted, adding, around, brief, RIGHT, test as written } from "../roles/adder.ts";
import { command, freshFolder, linesIn } from "./kept-run.ts";

const called = (name: string, args: unknown): { name: string; arguments: string } => ({ name, arguments: JSON.stringify(args) });
const gives = { text: "", toolCalls: [called("give_up", { why: "Numbers cannot be added." })] };
const writes = {
  text: "",
  toolCalls: [called("write_files", { files: [...around, adding(RIGHT), written] }), called("done", { summary: "An adder." })],
};

/** A model whose engineer gives up first. */
function hesitating(): Promise<OpenAIStub> {
  const alex: StubReply[] = [gives, writes];
  const roleOf = ({ messages }: OpenAIBody): string =>
    /You are an? [\w ]+, named (\w+)/.exec(messages.map(({ content }) => JSON.stringify(content)).join("\n"))?.[1] ?? "";
  const others: Readonly<Record<string, string>> = { Alice: brief("S"), Vera: accepted };
  return openaiStub({
    handler: (body) => (roleOf(body) === "Alex" ? alex.shift() : { text: others[roleOf(body)] ?? "?" }) ?? { text: "?" },
  });
}

describe.runIf(isolates)("a run of the company that has ended, and is not done", () => {
  it("says why, and continues by resume without an id, with what was found; then nothing is left to do", async () => {
    await using stub = await hesitating();
    const cwd = freshFolder();
    const reach = ["--base-url", stub.url, "--model", "stub-1"];
    const first = await command(cwd, ["run", "A command that adds two numbers", "--yes", "--out", "adder", ...reach]);
    expect(first.code).toBe(6);
    expect(first.stdout).toMatch(/Ended +Numbers cannot be added\./);
    expect(first.stdout).toMatch(/Go on +troupe resume \w+/);
    const again = await command(cwd, ["resume", "--json", "--base-url", stub.url]);
    const report = linesIn(again.stdout).at(-1) as ResultReport;
    expect([again.code, report.delivery?.isDone, report.goOn]).toEqual([0, true, undefined]);
    const asked = stub.requests.map((body) => JSON.stringify(body.messages)).filter((text) => text.includes("named Alex"));
    expect(asked[1]).toContain("The user wants the work to continue. It ended because: Numbers cannot be added.");
    const third = await command(cwd, ["resume", report.runId]);
    expect([third.code, third.stderr]).toEqual([0, expect.stringContaining("nothing is left to do")]);
  });
});
