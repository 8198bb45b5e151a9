import { describe, expect, it } from "vitest";
import { Ears } from "../../src/environment/ears.ts";

describe("Ears", () => {
  it("EA1 are deaf until somebody listens, and again when nobody does any more", () => {
    const ears = new Ears();
    expect(ears.isDeaf).toBe(true);
    const [one, other] = [ears.on("warning", () => {}), ears.on("act.ended", () => {})];
    expect([ears.isDeaf, ears.hears("warning"), ears.hears("role.idle")]).toEqual([false, true, false]);
    one();
    one();
    expect([ears.isDeaf, ears.hears("warning"), ears.hears("act.ended")]).toEqual([false, false, true]);
    other();
    expect(ears.isDeaf).toBe(true);
  });

  it("EA1 hear of a type as long as one of those who listen to it is left", () => {
    const ears = new Ears();
    const [one, other] = [ears.on("warning", () => {}), ears.on("warning", () => {})];
    one();
    expect([ears.isDeaf, ears.hears("warning"), ears.listenersTo("warning").length]).toEqual([false, true, 1]);
    other();
    expect([ears.isDeaf, ears.hears("warning"), ears.listenersTo("warning").length]).toEqual([true, false, 0]);
  });

  it("know the listeners of a type in the order in which they came, and no others", () => {
    const ears = new Ears();
    const heard: string[] = [];
    ears.on("warning", ({ text }) => heard.push(`first ${text}`));
    ears.on("role.idle", () => heard.push("never"));
    ears.on("warning", ({ text }) => heard.push(`then ${text}`));
    for (const listener of ears.listenersTo("warning")) listener({ type: "warning", text: "so" });
    expect(heard).toEqual(["first so", "then so"]);
  });
});
