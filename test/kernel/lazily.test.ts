import { expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { lazily } from "../../src/kernel/lazily.ts";
import { collectGarbage } from "./garbage.ts";

test("a value is made when it is first asked for, and only then", () => {
  let made = 0;
  const value = lazily(() => ({ nth: ++made }));
  expect(made).toBe(0);
  expect(value()).toBe(value());
  expect(made).toBe(1);
});

test("that it is undefined is known as well", () => {
  let made = 0;
  const value = lazily(() => void (made += 1));
  expect([value(), value(), made]).toEqual([undefined, undefined, 1]);
});

test("what could not be made is tried again", () => {
  let tries = 0;
  const value = lazily(() => {
    tries += 1;
    if (tries === 1) throw new Error("not yet");
    return tries;
  });
  expect(value).toThrow("not yet");
  expect([value(), value()]).toEqual([2, 2]);
});

test("what a value was made of is let go, and not before", async () => {
  const { value, parts } = heavy();
  await nextMacrotask();
  collectGarbage();
  expect(parts.deref()).toBeDefined();
  expect(value()).toBe(1);
  await nextMacrotask();
  collectGarbage();
  expect(parts.deref()).toBeUndefined();
  expect(value()).toBe(1);
});

function heavy(): { readonly value: () => number; readonly parts: WeakRef<{ readonly size: number }> } {
  const parts = { size: 1 };
  return { value: lazily(() => parts.size), parts: new WeakRef(parts) };
}
