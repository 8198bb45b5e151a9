import { describe, expect, it } from "vitest";
import { atExit } from "../../src/workspace/process.ts";

describe("atExit", () => {
  it("does what is left to do, the last that came first, by one listener that goes when nothing is left", () => {
    const before = process.listeners("exit");
    const done: string[] = [];
    const [first, second, third] = ["first", "second", "third"].map((word) => atExit(() => done.push(word)));
    const added = process.listeners("exit").filter((listener) => !before.includes(listener));
    expect(added).toHaveLength(1);
    second?.();
    for (const listener of added) listener(0);
    expect(done).toEqual(["third", "first"]);
    first?.();
    third?.();
    third?.();
    expect(process.listeners("exit")).toEqual(before);
  });
});
