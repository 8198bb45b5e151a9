import { expect, test, vi } from "vitest";
import { Watchers } from "../../../src/runtime/record/watchers.ts";

test("Watchers.V2 a watcher that has ended is forgotten, and the run with its last one", async () => {
  const forgot = vi.spyOn(Map.prototype, "delete");
  try {
    const watchers = new Watchers();
    const [first, second] = [0, 1].map(() => watchers.watch("run watched twice", new AbortController().signal, () => true));
    await first?.next();
    await second?.next();
    await first?.return();
    expect(forgot).not.toHaveBeenCalledWith("run watched twice");
    await second?.return();
    expect(forgot).toHaveBeenCalledWith("run watched twice");
  } finally {
    forgot.mockRestore();
  }
});
