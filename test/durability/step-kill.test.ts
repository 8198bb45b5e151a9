import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../cli/fake-host.ts";
import { positionsOf, someOf } from "../long.ts";
import { start } from "./kills.ts";

/*
 * SIGKILL of a run of plain functions after a durable write, by real processes on a real disk. `npm test` tries a few writes under one
 * scheduler, and `npm run long -- kill` all of them under each; each tries several deaths in a row.
 */

const CHILD = fileURLToPath(new URL("step-child.mjs", import.meta.url));
const scratch = scratchFolder();
/** Durable writes of an unkilled run: a little more than there are, so that the last ones are tried too. */
const WRITES = 12;
const SURE_WRITES = 3;

interface Told {
  readonly status: string;
  readonly error?: string;
  readonly acts: number;
  readonly failed: number;
  readonly states: string;
  readonly canonical: string;
}

/** Lets processes go on with one run, each until its death, and a last one that lives. */
async function survive(scheduler: string, deaths: readonly number[]): Promise<{ readonly told: Told; readonly killed: number }> {
  const store = join(mkdtempSync(join(scratch, "steps-")), "runs.db");
  let killed = 0;
  for (const killAt of deaths) if ((await start({ store, scheduler, killAt }, CHILD).ended).signal === "SIGKILL") killed += 1;
  const { stdout, stderr } = await start({ store, scheduler }, CHILD).ended;
  if (stdout === "") throw new Error(`the last process told nothing: ${stderr}`);
  return { told: JSON.parse(stdout) as Told, killed };
}

describe.each(someOf(["rounds", "eager", "one-at-random"], 1))(
  "a run of plain functions under %s that is killed",
  { tags: "kill" },
  (scheduler) => {
    test(
      "goes on as if it had not been: the same messages, failures and states",
      { tags: ["kill", "long"], timeout: 600_000 },
      async () => {
        const { told: whole } = await survive(scheduler, []);
        expect(whole).toMatchObject({ status: "finished" });
        expect(whole.acts).toBeGreaterThan(1_000);
        expect(whole.failed).toBeGreaterThan(0);
        const points = positionsOf(WRITES, []);
        for (const lives of [...points.map((write) => [write]), [2, 1, 3]]) {
          const { told, killed } = await survive(scheduler, lives);
          if (lives.every((write) => write <= SURE_WRITES)) expect(killed).toBeGreaterThan(0);
          expect(told, `killed after ${lives.join()} writes`).toEqual(whole);
        }
      },
    );
  },
);
