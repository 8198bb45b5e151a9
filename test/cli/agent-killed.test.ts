import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ResultReport } from "../../src/cli/report.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import { type OpenAIBody, openaiStub, type StubReply } from "../../src/testing/index.ts";
import { type Child, run, start } from "./child.ts";
import { eventsIn, freshFolder, linesIn } from "./kept-run.ts";

const words = ["agent", "note that I need milk", "--model", "stub-1", "--allow", "editor", "--out", "notes", "--seed", "1", "--json"];
const KEY = "sk-canary-0123456789abcdefghij";

function edit(args: object): StubReply {
  return { text: "I write.", toolCalls: [{ name: "editor", arguments: JSON.stringify(args) }] };
}

const SCRIPT: readonly StubReply[] = [
  edit({ command: "create", path: "note.txt", content: "buy milk\n" }),
  edit({ command: "insert", path: "note.txt", line: 1, new: "and bread" }),
  "The note is written.",
];

/** What the model says follows from what it is told. */
function answer({ messages }: OpenAIBody): StubReply {
  return SCRIPT[messages.filter(({ role }) => role === "tool").length] ?? "nothing is left to do";
}

interface Ended {
  readonly note: string;
  readonly answer: string | undefined;
  readonly events: string;
  readonly calls: number;
}

async function lived(killAt?: number): Promise<Ended> {
  const cwd = freshFolder();
  const first: { child?: Child } = {};
  await using stub = await openaiStub({
    handler: (body, n) => {
      if (n !== killAt) return answer(body);
      first.child?.process.kill("SIGKILL");
      return { fault: "stall", after: 0 };
    },
  });
  const options = { cwd, env: { OPENAI_API_KEY: KEY } };
  first.child = start([...words, "--base-url", stub.url], options);
  const end = await first.child.ended;
  expect(end).toBe(killAt === undefined ? 0 : "SIGKILL");
  const stdout = killAt === undefined ? first.child.said.stdout : (await run(["resume", "--json"], options)).stdout;
  expect(stub.rejected).toEqual([]);
  const result = linesIn(stdout).at(-1) as ResultReport;
  return {
    note: readFileSync(join(cwd, "notes/note.txt"), "utf8"),
    answer: result.answer,
    events: canonical(eventsIn(stdout)),
    calls: stub.requests.length,
  };
}

describe("troupe agent, killed while its model answers", () => {
  const plain = lived();

  it.each(SCRIPT.map((_reply, n) => n))("call %i: resume goes on where it was, and asks for nothing else again", async (n) => {
    const whole = await plain;
    expect(whole).toMatchObject({ note: "buy milk\nand bread\n", answer: "The note is written.", calls: SCRIPT.length });
    expect(await lived(n)).toEqual({ ...whole, calls: SCRIPT.length + 1 });
  });
});
