import { writeSync } from "node:fs";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { TroupeError } from "../../src/kernel/errors.ts";
import { EVENT_VERSION, type RunEvent } from "../../src/runtime/record/event.ts";

/** The task of a separate process with the journal at `file`; it reports by lines on its output. */
export type Task =
  /** Claims the run, says `claimed` or why not, and stays. */
  | { readonly do: "hold"; readonly file: string; readonly run: string }
  /** Claims the run, takes its commands, says `claimed`, and has nothing more to do. */
  | { readonly do: "leave"; readonly file: string; readonly run: string }
  /** Goes on with every run for ever and says `run seq` for each event that is durable. */
  | { readonly do: "append"; readonly file: string; readonly runs: readonly string[] }
  /** Appends so many events, one by one, to a new run, and ends. */
  | { readonly do: "fill"; readonly file: string; readonly run: string; readonly count: number }
  /** Reads a run and says how many events it has and by how many bytes the process grew. */
  | { readonly do: "weigh"; readonly file: string; readonly run: string };

/** The event that stands at `seq` of a run that a child writes. */
export function childEvent(runId: string, seq: number): RunEvent {
  const team = `${runId} at ${seq} ${"x".repeat(seq % 300)}`;
  return { v: EVENT_VERSION, runId, seq, time: seq, type: "run.started", team, roles: [], seed: "1", scheduler: "rounds" };
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

/** Does the task and tells a typed error by its code. */
export async function main(task: Task): Promise<void> {
  try {
    await work(task);
  } catch (error) {
    say(TroupeError.isInstance(error) ? error.code : String(error));
  }
}

async function work(task: Task): Promise<void> {
  const journal = sqlite({ path: task.file });
  if (task.do === "hold") {
    await journal.claim(task.run);
    say("claimed");
    setInterval(() => {}, 60_000);
    return;
  }
  if (task.do === "leave") {
    await journal.claim(task.run, { command: async () => null });
    return say("claimed");
  }
  if (task.do === "append") return void (await Promise.all(task.runs.map((run) => append(journal, run))));
  if (task.do === "fill") return fill(journal, task.run, task.count);
  await weigh(journal, task.run);
}

async function append(journal: ReturnType<typeof sqlite>, run: string): Promise<void> {
  const { epoch } = await journal.claim(run);
  let seq = 0;
  for await (const _ of journal.read(run, 0)) seq += 1;
  for (;;) {
    // Batches of one to three: a kill between them must not cut one in two.
    const events = Array.from({ length: 1 + (seq % 3) }, (_, place) => childEvent(run, seq + place));
    await journal.append(run, epoch, seq, events);
    seq += events.length;
    say(`${run} ${seq}`);
  }
}

async function fill(journal: ReturnType<typeof sqlite>, run: string, count: number): Promise<void> {
  await journal.create(run);
  const { epoch } = await journal.claim(run);
  for (let seq = 0; seq < count; seq += 1) await journal.append(run, epoch, seq, [childEvent(run, seq)]);
  await journal.close();
  say("done");
}

async function weigh(journal: ReturnType<typeof sqlite>, run: string): Promise<void> {
  await journal.runs();
  const before = process.resourceUsage().maxRSS;
  let events = 0;
  for await (const _ of journal.read(run, 0)) events += 1;
  say(`${events} ${(process.resourceUsage().maxRSS - before) * 1024}`);
}
