import { defineAction, defineRole, Team } from "troupe";
import { scriptedModel } from "troupe/testing";
import { describe, expect, it } from "vitest";

describe("an action of a name and a function", () => {
  it("does what the same parts do, and is recorded alike", async () => {
    const run = async ({ text, ask }: { text: string; ask: (prompt: string) => Promise<string> }): Promise<string> =>
      `${await ask(`Mend ${text}`)}!`;
    const [short, long] = await Promise.all(
      [defineAction("Mend", run), defineAction({ name: "Mend", run })].map(async (action) => {
        const model = scriptedModel(["mended"]);
        const { status, output } = await new Team({ roles: [defineRole({ name: "Ann", actions: [action] })], model }).run("a cup").result;
        return { status, content: output?.content, causeBy: output?.causeBy, asked: model.calls.length };
      }),
    );
    expect(short).toEqual({ status: "finished", content: "mended!", causeBy: "Mend", asked: 1 });
    expect(short).toEqual(long);
  });

  it("is refused without a function, or with an empty name", () => {
    const refused = expect.objectContaining({ code: "ACTION_INVALID" });
    const define = defineAction as (...parts: readonly unknown[]) => unknown;
    for (const parts of [["Mend"], ["Mend", "mend"], ["Mend", { run: () => "x" }], ["", () => "x"], [7, () => "x"]])
      expect(() => define(...parts)).toThrow(refused);
  });
});
