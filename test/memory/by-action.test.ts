import { expect, it } from "vitest";
import { Memory } from "../../src/memory/memory.ts";
import { said } from "./brain-setup.ts";

it("[R098: a cached answer was stale after the next message] what an action said is told with everything up to now", () => {
  const memory = new Memory();
  for (let n = 1; n <= 300; n++) {
    memory.add(said(n, { causeBy: `Action ${n % 150}` }));
    expect(memory.getByAction(`Action ${n % 150}`).at(-1)?.id).toBe(`m${n}`);
  }
  expect(memory.getByAction("Action 1").map(({ id }) => id)).toEqual(["m1", "m151"]);
  memory.delete("m151");
  expect(memory.getByAction("Action 1").map(({ id }) => id)).toEqual(["m1"]);
});
