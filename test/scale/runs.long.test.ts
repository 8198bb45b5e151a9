// @module-tag numbers
import { expect, it } from "vitest";
import type { Environment } from "../../src/runtime/environment.ts";
import { createMessage } from "../../src/message/message.ts";
import { answering, town } from "../runtime/town.ts";
import { player, played, players, stepper } from "./players.ts";
import { allocatedBy, heapOfEach } from "./heap.ts";
import { someOf } from "../long.ts";

const RUNS = 200;
/**
 * Bytes of heap for a run in which one role hears one message and says one: 14,000 to 17,000, and 160,000 more for each list of the result that is
 * a copy of what a long run has.
 */
const MOST_BYTES_OF_A_RUN = 60_000;
const LONG = 20_000;
/** Hops of a game of which a message is weighed. */
const HOPS = 8_000;
/** Of heap, for each message: 235 to 260 were measured where they are kept, and less than 4 where they are not. */
const LEAST_BYTES_OF_A_KEPT_MESSAGE = 150;
const MOST_BYTES_OF_A_FORGOTTEN_ONE = 30;

/** One who says to everyone that it heard something, in an environment that has said so much before, of which half reached nobody. */
async function echoAfter(messages: number): Promise<Environment> {
  const environment = town([
    answering("Echo", (rc) => Array.from({ length: rc.news[0]?.content === "first" ? messages : 1 }, (_, n) => rc.message(`${n}`))),
  ]);
  for (let n = 0; n < messages; n += 1) environment.publishMessage(createMessage("lost", { id: `lost${n}`, sendTo: "Nobody" }));
  environment.publishMessage("first");
  await environment.run();
  return environment;
}

async function runs(environment: Environment): Promise<number> {
  let heard = 0;
  for (let run = 0; run < RUNS; run += 1) {
    environment.publishMessage("go");
    heard += (await environment.run()).output?.content === "0" ? 1 : 0;
  }
  return heard;
}

it.each(
  someOf(
    [
      ["full roles", player],
      ["plain functions", stepper],
    ] as const,
    1,
  ),
)("an environment that forgets holds no more for what was said: %s", { tags: "numbers" }, async (_kind, kind) => {
  const heldAfter = (options: { readonly memory?: false }): Promise<number> =>
    heapOfEach(HOPS, async () => {
      const environment = players(HOPS, options, kind);
      await played(environment);
      return environment;
    });
  expect(await heldAfter({})).toBeGreaterThan(LEAST_BYTES_OF_A_KEPT_MESSAGE);
  expect(await heldAfter({ memory: false })).toBeLessThan(MOST_BYTES_OF_A_FORGOTTEN_ONE);
});

it("a run costs no more for what was said before it, as long as nobody looks at that", async () => {
  await runs(await echoAfter(1));
  const environment = await echoAfter(LONG);
  let heard = 0;
  const bytes = await allocatedBy(async () => (heard = await runs(environment)));
  expect(heard).toBe(RUNS);
  expect(bytes / RUNS).toBeGreaterThan(1_000);
  expect(bytes / RUNS).toBeLessThan(MOST_BYTES_OF_A_RUN);
  const { messages, outputs, deadLetters } = await environment.run();
  expect([messages, outputs, deadLetters].map(({ length }) => length)).toEqual([2 * (LONG + RUNS) + 1, LONG + RUNS, LONG]);
});
