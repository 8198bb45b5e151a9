import { describe, expect, it } from "vitest";
import { openaiStub, type OpenAIStub } from "../../src/testing/index.ts";
import { command, expectEnd, expectRefusal, newestIn, placed, reach } from "./kept-run.ts";

const INDEX = new URL("../../src/index.ts", import.meta.url).href;
const CREW = `
import { defineAction, defineRole } from "${INDEX}";
const Sell = defineAction({ name: "Sell", run: async (ctx) => "sold for " + (await ctx.waitFor("paid")).amount + " " + (await ctx.waitFor("to")) });
export default { name: "shop", roles: [defineRole({ name: "Sally", actions: [Sell] })] };
`;

/** A run of a crew that waits for a signal. */
async function waiting(stub: OpenAIStub): Promise<{ readonly cwd: string; readonly id: string; readonly at: readonly string[] }> {
  const { cwd } = placed({ "crew.mjs": CREW });
  const words = ["run", "a pot", "--crew", "crew.mjs", ...reach(stub), "--price", "1,4", "--sandbox", "none", "--quiet"];
  const { code, stdout } = await command(cwd, words);
  expect([code, stdout]).toEqual([5, expect.stringMatching(/Sally waits for the signal "paid"[^]*troupe signal \w+ paid '\.\.\.'/)]);
  return { cwd, id: await newestIn(cwd), at: ["--base-url", stub.url] };
}

describe("troupe signal", () => {
  it("keeps a signal that comes early, and continues a run that waits for it", async () => {
    await using stub = await openaiStub({ handler: () => ({ text: "unasked" }) });
    const { cwd, id, at } = await waiting(stub);
    expect((await command(cwd, ["runs", "show", id])).stdout).toMatch(/waiting: for a time or a signal/);
    await expectEnd(cwd, ["signal", id.slice(0, 6), "to", '"Oslo"', "--id", "a"], 0, "keeps the signal");
    await expectEnd(cwd, ["signal", id, "paid", '{"amount":3}', ...at], 0, "sold for 3 Oslo");
    expect((await command(cwd, ["replay", id])).code).toBe(0);
    expect(stub.requests.length).toBe(0);
  });

  it("is refused what cannot be, and leaves the run as it was", async () => {
    await using stub = await openaiStub({ handler: () => ({ text: "unasked" }) });
    const { cwd, id } = await waiting(stub);
    const before = (await command(cwd, ["runs", "export", id])).stdout;
    for (const [words, code] of [
      [["signal", id, "paid", "three"], "SIGNAL_INVALID"],
      [["signal", id, ""], "WAIT_INVALID"],
      [["signal", id, "paid", "1", "--id", "a#b"], "SIGNAL_INVALID"],
      [["signal", "zzz", "paid"], "RUN_UNKNOWN"],
      [["signal", id], "COMMAND_INVALID"],
      [["answer", id, "yes"], "QUESTION_MISSING"],
    ] as const) {
      await expectRefusal(cwd, words, `(${code})`);
    }
    expect((await command(cwd, ["runs", "export", id])).stdout).toBe(before);
  });
});
