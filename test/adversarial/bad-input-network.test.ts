import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { waterfallCompany } from "../../roles/index.ts";
import { openai } from "../../src/adapters/openai.ts";
import { exitCodeOf } from "../../src/cli/errors.ts";
import { ModelError, type RunResult, Team } from "../../src/index.ts";
import { openaiStub, type OpenAIStub } from "../../src/testing/index.ts";
import { chooseSandbox, openWorkspace } from "../../src/workspace/index.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { git, playing } from "./hostile-model.ts";
import { impatient } from "./impatient-clock.ts";

async function greet(root: string, baseURL: string): Promise<RunResult> {
  const roles = waterfallCompany({ workspace: await openWorkspace({ root }), sandbox: await chooseSandbox("none") });
  return new Team({ roles, model: openai({ model: "any", baseURL }), clock: impatient, seed: 1 }).run("Greet me").result;
}

describe("a server that cannot be reached", () => {
  it("from the beginning: the error says what to look at, and the exit code is 7", async () => {
    const stub = await openaiStub({ handler: playing() });
    const { url } = stub;
    await stub.close();
    const { status, error, cost } = await greet(scratchFolder(), url);
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ code: "MODEL_UNREACHABLE", message: expect.stringMatching(/^Expected .*base URL.*Tried \d+ times\.$/) });
    expect(exitCodeOf({ status, errorCode: error?.code })).toBe(7);
    expect(cost.known).toBe(0);
  });

  it("any more, half way: what was written is kept and committed", async () => {
    const root = scratchFolder();
    let closed: Promise<void> | undefined;
    const stub: OpenAIStub = await openaiStub({
      handler: playing({}, (task) => {
        if (task.startsWith("WriteCode")) closed ??= stub.close();
      }),
    });
    const { status, error } = await greet(root, stub.url);
    await closed;
    expect([status, error?.code]).toEqual(["failed", "MODEL_UNREACHABLE"]);
    expect(existsSync(join(root, "docs/task/greeter.json"))).toBe(true);
    expect(git(root, "status", "--short")).toBe("");
    expect(git(root, "log", "--format=%s").split("\n")).toHaveLength(3);
  });
});
