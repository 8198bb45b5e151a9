import { expect, test } from "vitest";
import { lazily } from "../../src/kernel/lazily.ts";

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
