import { describe, expect, it } from "vitest";
import { Turns } from "../../src/workspace/workspace.ts";

describe("Turns", () => {
  it("runs one at a time in the order asked, also after a failure", async () => {
    const turns = new Turns();
    const log: string[] = [];
    const piece = (name: string, fails = false): Promise<string> =>
      turns.take(async () => {
        log.push(`${name} begins`);
        await Promise.resolve();
        await Promise.resolve();
        log.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      });
    const all = await Promise.allSettled([piece("a"), piece("b", true), piece("c")]);
    expect(all.map((one) => one.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(log).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  });

  it("gives back what the work gives", async () => {
    expect(await new Turns().take(async () => 42)).toBe(42);
  });
});
