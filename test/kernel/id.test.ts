import { describe, expect, test } from "vitest";
import { freshMessageId } from "../../src/kernel/id.ts";

const DRAWN_TOGETHER = 256;

describe("fresh message ids", () => {
  const ids = Array.from({ length: DRAWN_TOGETHER * 8 }, () => freshMessageId());

  test("are UUIDs of version 4, each another", () => {
    expect(ids.filter((id) => !/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("of no more than 256 is the beginning shared", () => {
    const shared = new Map<string, number>();
    for (const id of ids) shared.set(id.slice(0, -2), (shared.get(id.slice(0, -2)) ?? 0) + 1);
    expect(Math.max(...shared.values())).toBe(DRAWN_TOGETHER);
    expect(shared.size).toBeGreaterThanOrEqual(8);
  });
});
