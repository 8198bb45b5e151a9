import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openaiStub, type OpenAIStub } from "../../src/testing/index.ts";
import type { OpenAIBody } from "../../src/testing/stub-reply.ts";
import { command, expectEnd, newestIn, placed } from "./kept-run.ts";

const SCRIPT = `export const meta = { name: "pair", description: "asks two" };
const [a, b] = await parallel([() => agent("first " + args), () => agent("second " + args, { model: "big" })]);
return a + " and " + b;
`;

/** A server that answers with the model and the last words it was told. */
function echoing(): Promise<OpenAIStub> {
  return openaiStub({
    handler: ({ messages, model }: OpenAIBody) => ({ text: `${model}<${JSON.stringify(messages.at(-1)?.content).slice(1, -1)}>` }),
  });
}

const env = {
  TROUPE_ROLE_MODELS: JSON.stringify({ big: "big-1" }),
  TROUPE_MODELS: JSON.stringify({ "big-1": { price: { input: 1, output: 1 } } }),
};

describe("troupe run --crew of a workflow", () => {
  it("shows its bound, runs it, and keeps it with the run", async () => {
    await using stub = await echoing();
    const { cwd } = placed({ "pair.workflow.js": SCRIPT });
    const reach = ["--base-url", stub.url, "--model", "stub-1", "--price", "1,1"];
    const said = await command(cwd, ["run", "--crew", "pair.workflow.js", "word", "--yes", "--budget", "1", ...reach], { env });
    expect(said.stderr).toMatch(/At most 66 calls; at most \$1\.00 by its budget\./);
    expect([said.code, said.stdout]).toEqual([0, expect.stringMatching(/stub-1<first word> and big-1<second word>/)]);
    const asked = stub.requests.length;
    writeFileSync(join(cwd, "pair.workflow.js"), SCRIPT.replace("first", "third"));
    const id = await newestIn(cwd);
    await expectEnd(cwd, ["replay", id], 0, /^equal/);
    await expectEnd(cwd, ["fork", id, "--at", "1", ...reach], 0, "0 model calls made");
    expect(stub.requests.length).toBe(asked);
  });

  it("is checked without a call, and refused with its line where it is no workflow that can run", async () => {
    const { cwd } = placed({ "a.js": SCRIPT, "b.js": `${SCRIPT.replace(/return.*/, "")}\nconst fs = await import("fs");\n` });
    await expectEnd(cwd, ["check", "a.js", "--price", "1,1", "--budget", "1"], 0, /pair +starts at most once; 66 calls/);
    const { code, stderr } = await command(cwd, ["check", "b.js", "--price", "1,1"]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/b\.js:5: expected a script without import/)]);
  });
});
