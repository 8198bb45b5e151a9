import { writeSync } from "node:fs";
import { postgres } from "../../src/adapters/postgres.ts";
import { TroupeError } from "../../src/kernel/errors.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { begin, relayTeam } from "./postgres-relay.ts";
import { childEvent } from "./sqlite-child.ts";

/** The task of a separate process with a journal in Postgres; it reports by lines on its output. */
export type Task = { readonly url: string; readonly schema: string } & (
  | /** Goes on with a run for ever, and says `lost` and the code of the error that ends it. */ {
      readonly do: "append";
      readonly run: string;
    }
  /** Runs teams until all runs have ended, and says the id of each that has. */
  | { readonly do: "relay"; readonly runs: readonly string[] }
);

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

/** Does the task and tells a typed error by its code. */
export async function main(task: Task): Promise<void> {
  const journal = postgres({ url: task.url, schema: task.schema, grace: 500 });
  try {
    if (task.do === "append") await append(journal, task.run);
    else await Promise.all(task.runs.map((run) => relay(journal, run)));
  } catch (error) {
    say(TroupeError.isInstance(error) ? error.code : String(error));
  }
  await journal.close();
}

async function append(journal: Journal, run: string): Promise<void> {
  const { epoch, former } = await journal.claim(run, { lost: () => say("lost") });
  say(`claimed ${former}`);
  let seq = 0;
  for await (const _ of journal.read(run, 0)) seq += 1;
  for (;;) {
    const events = Array.from({ length: 1 + (seq % 3) }, (_, place) => childEvent(run, seq + place));
    await journal.append(run, epoch, seq, events);
    seq += events.length;
    say(`${run} ${seq}`);
  }
}

async function relay(journal: Journal, run: string): Promise<void> {
  const { status, error } = await relayTeam(journal, () => say(`called ${run}`), 40).run(begin, { id: run }).result;
  say(`${status} ${run} ${error?.code ?? ""}`);
}
