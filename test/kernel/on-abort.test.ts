import { expect, test } from "vitest";
import { onAbort } from "../../src/kernel/abort.ts";
import { countedSignal } from "./counted-signal.ts";

test("many who wait for one signal are all told, once, by one listener; who has let go is not", () => {
  const { controller: above, listeners } = countedSignal();
  const told: number[] = [];
  const letGo = Array.from({ length: 50 }, (_, place) => onAbort(above.signal, () => void told.push(place)));
  for (const go of letGo.slice(3)) go();
  above.abort();
  expect(told).toEqual([0, 1, 2]);
  expect(listeners()).toBe(1);
});
