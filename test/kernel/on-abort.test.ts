import { expect, test } from "vitest";
import { onAbort } from "../../src/kernel/abort.ts";

test("many who wait for one signal are all told, once, by one listener; who has let go is not", () => {
  const above = new AbortController();
  let listeners = 0;
  const add = above.signal.addEventListener.bind(above.signal);
  above.signal.addEventListener = (...given: Parameters<typeof add>): void => {
    listeners += 1;
    add(...given);
  };
  const told: number[] = [];
  const letGo = Array.from({ length: 50 }, (_, place) => onAbort(above.signal, () => void told.push(place)));
  for (const go of letGo.slice(3)) go();
  above.abort();
  expect(told).toEqual([0, 1, 2]);
  expect(listeners).toBe(1);
});
