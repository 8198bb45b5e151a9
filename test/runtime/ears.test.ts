import { describe, expect, it } from "vitest";
import { Ears } from "../../src/runtime/ears.ts";

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

  it("EA1 hear notices as long as somebody listens to one, whoever listens to events", () => {
    const ears = new Ears();
    const heard: boolean[] = [];
    const leave = (["act.ended", "role.idle", "warning"] as const).map((type) => {
      const left = ears.on(type, () => {});
      heard.push(ears.hearsNotices);
      return left;
    });
    for (const left of leave) {
      left();
      heard.push(ears.hearsNotices);
    }
    expect(heard).toEqual([false, true, true, true, true, false]);
  });

  it("EA2 leave a list of listeners as it was for who has it, and stop one as often as it listens at once", () => {
    const ears = new Ears();
    const listener = (): void => {};
    const stop = ears.on("warning", listener);
    ears.on("warning", listener);
    const both = ears.listenersTo("warning");
    stop();
    expect([both.length, ears.listenersTo("warning").length, ears.isDeaf]).toEqual([2, 0, true]);
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
