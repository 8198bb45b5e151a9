// @module-tag company
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openaiStub, type StubReply } from "../../src/testing/index.ts";
import { root } from "../architecture/read-house.ts";
import { scriptedRun } from "../evaluation/scripted-company.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { product, script } from "./outside-worker-runs.ts";

/** npm install --prefix node_modules/.cache/qwen --no-save @qwen-code/qwen-code@0.15.10 */
const QWEN = join(root, "node_modules/.cache/qwen/node_modules/.bin/qwen");

/** Writes one file of the product for each reply, by absolute paths as it asks for them. */
function writer(): (body: { readonly messages: readonly object[] }) => StubReply {
  const files = Object.entries(product("ok"));
  return ({ messages }) => {
    const done = messages.filter((message) => "tool_calls" in message).length;
    const [path, content] = files[done] ?? [];
    if (path === undefined) return "I wrote it, and tried it.";
    const folder = /(?:directory|folder)[^\n]*?(\/[^\s'"`]*\.troupe\/trees\/worker)/.exec(JSON.stringify(messages))?.[1] ?? "";
    return { toolCalls: [{ name: "write_file", arguments: JSON.stringify({ file_path: join(folder, path), content }) }] };
  };
}

describe.skipIf(!existsSync(QWEN))("a coding agent of npm, with a server of this machine as its model", () => {
  it.each([
    ["lines", `${QWEN} --approval-mode yolo`],
    ["the Agent Client Protocol", `${QWEN} --acp --approval-mode yolo`],
  ])("does the engineer's part by %s", async (_protocol, worker) => {
    await using server = await openaiStub({ handler: writer() as never });
    const env = { HOME: scratchFolder(), OPENAI_API_KEY: "none", OPENAI_BASE_URL: server.url, OPENAI_MODEL: "local" };
    const { code, result } = await scriptedRun(scratchFolder(), "Say ok.", script, ["--worker", worker, "--allow-worker"], { env });
    expect([result.delivery?.reason, code, result.delivery?.isDone]).toEqual([undefined, 0, true]);
    // It reports no cost.
    expect(result.cost.worstCase).toBe(1_000_000);
  });
});
