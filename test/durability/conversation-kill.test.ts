import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../cli/fake-host.ts";
import { positionsOf, someOf } from "../long.ts";
import { start } from "./kills.ts";

/*
 * SIGKILL of a run that is told more while it works and after each of its ends, after a durable write, by real processes on a real disk.
 * `npm test` tries a few writes under one scheduler, and `npm run long -- kill` all of them.
 */

const CHILD = fileURLToPath(new URL("conversation-child.mjs", import.meta.url));
const scratch = scratchFolder();
/** Durable writes of an unkilled conversation: a little more than there are, so that the last ones are tried too. */
const WRITES = 26;
/** A conversation has at least so many. */
const SURE_WRITES = 12;

interface Told {
  readonly status: string;
  readonly error?: string;
  readonly heard: readonly string[];
  readonly said: readonly string[];
  readonly canonical: string;
}

/** Lets processes hold one conversation, each until its death, and a last one that lives. */
async function survive(scheduler: string, deaths: readonly number[]): Promise<{ readonly told: Told; readonly killed: number }> {
  const store = join(mkdtempSync(join(scratch, "conversation-")), "runs.db");
  let killed = 0;
  for (const killAt of deaths) if ((await start({ store, scheduler, killAt }, CHILD).ended).signal === "SIGKILL") killed += 1;
  const { stdout, stderr } = await start({ store, scheduler }, CHILD).ended;
  if (stdout === "") throw new Error(`the last process told nothing: ${stderr}`);
  return { told: JSON.parse(stdout) as Told, killed };
}

describe.each(someOf(["rounds", "eager"], 1))("a conversation with a run under %s that is killed", { tags: "kill" }, (scheduler) => {
  const whole = survive(scheduler, []);

  test.each([...positionsOf(WRITES, [3]).map((write) => [write]), [4, 3, 5, 2]])(
    "after so many durable writes of each process (%i, ...) loses and doubles nothing that it was told",
    { tags: ["kill", "long"], timeout: 600_000 },
    async (...deaths) => {
      const { told: unkilled } = await whole;
      expect(unkilled).toMatchObject({ status: "finished", heard: ["user#1", "aside", "one", "two", "three"] });
      const { told, killed } = await survive(scheduler, deaths);
      if (deaths.every((write) => write <= SURE_WRITES)) expect(killed).toBe(deaths.length);
      expect(told).toEqual(unkilled);
    },
  );
});
