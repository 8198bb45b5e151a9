import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { standIn } from "../workspace/coding-agent/stand-in.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { expectEnd, expectRefusal } from "./kept-run.ts";
import { product, userProject, worked } from "./outside-worker-runs.ts";

describe("troupe run --worker", () => {
  it("has a coding agent do the engineer's part, proves what it left, and is not started by a replay", async () => {
    const { code, result, requests, starts, cwd } = await worked({ files: product("ok"), cost: 0.2, say: "It says ok." });
    expect([code, result.status, result.delivery?.isDone]).toEqual([0, "finished", true]);
    expect([requests.engineer, starts().length]).toEqual([[], 1]);
    expect(starts()[0]?.order).toContain("Say ok.");
    expect(result.cost.known).toBeGreaterThan(200_000);
    expect(result.cost.worstCase).toBe(0);
    expect(readFileSync(join(cwd, "product/src/word.mjs"), "utf8")).toContain("ok");
    expect(existsSync(join(cwd, "product/.troupe/trees/worker"))).toBe(false);
    await expectEnd(cwd, ["replay", result.runId], 0);
    expect(starts().length).toBe(1);
  });
  it.each([
    ["without a yes, where no one can be asked", "claude -p", [], "WORKER_NOT_ALLOWED"],
    ["that is missing", "no-such-agent -p", ["--allow-worker"], "WORKER_MISSING"],
    ["for which a shell is needed", "claude -p; rm -rf .", ["--allow-worker"], "OPTION_INVALID"],
    ["with another crew", "claude -p", ["--crew", "waterfall"], "OPTION_CONFLICT"],
  ])("refuses a worker %s", async (_why, line, words, code) => {
    const program = line === "no-such-agent -p" ? line : line.replace("claude", standIn("claude", {}).command[0] ?? "");
    await expectRefusal(
      scratchFolder(),
      ["run", "Say ok.", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--price", "1,1", "--worker", program, ...words],
      code,
    );
  });
  it("refuses to work without a repository", async () => {
    const cwd = scratchFolder();
    const folder = userProject(cwd, product("yes"));
    const { code, stderr } = await worked({}, ["--in", folder, "--in-folder"], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining("WORKER_FOLDER")]);
  });
});
