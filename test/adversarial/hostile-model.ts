import { execFileSync } from "node:child_process";
import type { StubReply } from "../../src/testing/index.ts";
import type { OpenAIBody } from "../../src/testing/stub-reply.ts";
import type { StubHandler } from "../../src/testing/openai-stub.ts";
import { replies } from "../actions/greeter.ts";

/** Returns the heading of a question, which says its task. */
function taskOf({ messages }: OpenAIBody): string {
  for (const { role, content } of messages) {
    const heading = role === "user" && typeof content === "string" ? /^# (.+)$/m.exec(content)?.[1] : undefined;
    if (heading !== undefined) return heading;
  }
  return "";
}

/** A server whose model plays the small project's script, but for the tasks that are given. */
export function playing(given: Readonly<Record<string, StubReply>> = {}, before: (task: string) => void = () => {}): StubHandler {
  const script: Readonly<Record<string, StubReply>> = { ...replies, ...given };
  return (body) => {
    const task = taskOf(body);
    before(task);
    return script[task] ?? { fault: "status", status: 400, body: JSON.stringify({ error: { message: `no reply for ${task}` } }) };
  };
}

/** A reply in one piece: a long one in pieces of a few letters would be a test of patience. */
export function whole(text: string): StubReply {
  return { text, chunks: [text] };
}

/** Returns the output of a git command in a folder. */
export function git(folder: string, ...words: readonly string[]): string {
  return execFileSync("git", words, { cwd: folder, encoding: "utf8" }).trim();
}

/** The last line of `--json`: what came of the run. */
export function resultOf(stdout: string): {
  readonly exitCode: number;
  readonly error?: { readonly code: string; readonly message: string };
} {
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as { exitCode: number };
}
