import { describe, expect, it } from "vitest";
import { heapOfEach, workOf } from "./work.ts";
import { IdTable } from "../../src/kernel/id-table.ts";
import type { TextHash } from "../../src/kernel/text-hash.ts";
import { Memory } from "../../src/memory/memory.ts";
import { createMessage, type Message } from "../../src/message/message.ts";

/** Bytes that a role's memory of one message holds: measured 205 and 545 before there was none without a table. */
const MOST_BYTES_OF_ONE = 300;
/** So many that what else a process makes meanwhile, some 300 KB, is less than what is left below that. */
const MANY = 20_000;
/**
 * Blocks that ran for an id that was added, asked for and deleted: measured 35 to 45 once the table has found out, about as many as reach
 * in slots until then, and tens of thousands where a row is walked to its end.
 */
const MOST_WORK = 250;
const MOST_WORK_BEFORE = 5_000;

function said(n: number): Message {
  return createMessage("hello", { id: `Writer#${n}.0`, timestamp: 0 });
}

/** What it takes to hear so many more when `before` are known: each is asked for and told. */
async function hearing(before: number, more: number): Promise<number> {
  const memory = new Memory();
  const messages = Array.from({ length: before + more }, (_, n) => said(n));
  memory.addBatch(messages.slice(0, before));
  const news = messages.slice(before);
  return workOf(() => {
    for (const message of news) {
      if (memory.findNews([message]).length === 1) memory.add(message);
    }
    expect(memory.size).toBe(before + more);
  });
}

/** What an id takes that is added, asked for, asked for in vain and deleted, among so many others of the same hash. */
async function workAmong(count: number, quick: TextHash): Promise<number> {
  const table = new IdTable({ idAt: String, expected: 0, quick });
  let wrong = 0;
  const work = await workOf(() => {
    for (let n = 0; n < count; n++) wrong += table.add(String(n), n) ? 0 : 1;
    for (let n = 0; n < 2 * count; n++) wrong += table.has(String(n)) === n < count ? 0 : 1;
    for (let n = 0; n < count; n++) wrong += table.delete(String(n)) === n ? 0 : 1;
  });
  expect(wrong).toBe(0);
  return work / count;
}

describe("a memory of very many messages", () => {
  it("R1 takes in a message with a bounded amount of work, of which most is its hash, however many it holds", async () => {
    const more = 4_000;
    await hearing(35_000, 100);
    const many = await hearing(40_000, more);
    expect(many).toBeGreaterThan(more * 5);
    expect(many).toBeLessThan(more * MOST_WORK);
    expect(await hearing(80_000, more)).toBeLessThan(many * 1.5);
  });

  it("R1 asking for ids that are not there is bounded, though a row of thousands begins where they would stand", async () => {
    const row = 20_000;
    expect(await workAmong(row, (id) => 1 + (Number(id) < row ? Number(id) : Number(id) * 2 ** 16))).toBeLessThan(MOST_WORK_BEFORE);
  });

  it.each<[string, TextHash]>([
    ["one hash", () => 7],
    ["one home and hashes of their own", (id) => Math.imul(Number(id) + 1, 2 ** 20)],
    ["homes in a row", (id) => Number(id)],
    ["two by two one home, in a row", (id) => Number(id) >> 1],
  ])("R1 ids that were chosen to have %s are as cheap as others", async (_, quick) => {
    await workAmong(50, quick);
    expect(await workAmong(1_000, quick)).toBeLessThan(MOST_WORK_BEFORE);
    expect(await workAmong(20_000, quick)).toBeLessThan(MOST_WORK);
  });
});

it("a memory of one message holds little", async () => {
  const message = said(1);
  const make = (): Memory[] =>
    Array.from({ length: MANY }, () => {
      const memory = new Memory();
      memory.add(message);
      return memory;
    });
  expect(await heapOfEach(MANY, make)).toBeLessThan(MOST_BYTES_OF_ONE);
});
