import { resolve } from "node:path";
import { growthOf, type LastEvent, lastOf } from "../../fleet/growth.ts";
import { submitAnswer } from "../../fleet/index.ts";
import { giveCommand, isUnowned } from "../../fleet/remote-runs.ts";
import { nameOf, restoreProject } from "../../fleet/run-workspaces.ts";
import { throwIfAborted } from "../../kernel/abort.ts";
import { sleep } from "../../kernel/clock.ts";
import { JournalError, TimeoutError, UsageError } from "../../kernel/errors.ts";
import { freshRunId } from "../../kernel/id.ts";
import { maskSecrets } from "../../kernel/mask.ts";
import type { RunEvent } from "../../runtime/record/event.ts";
import { type Journal, newestRuns } from "../../runtime/record/journal.ts";
import { pendingQuestions } from "../../runtime/record/questions.ts";
import { listedSummary, type RunSummary } from "../../runtime/record/run-summary.ts";
import { recordedState } from "../../runtime/snapshot/snapshot.ts";
import { eventsOf, type JobInfo, submitRun } from "../../team/run-driver.ts";
import { fileWorkspace } from "../../workspace/file-workspace.ts";
import { type Fleet, knownRun, LOOK, MAX_JOBS, recordedRun, untilBegun, withFleet, workerFolders } from "../fleet.ts";
import { folderName, secretsIn, valueIn } from "../host.ts";
import { type IdeaSource, ideaSource, readIdea } from "../idea.ts";
import { invalidOption } from "../option-words.ts";
import type { Flags } from "../options.ts";
import { conflict } from "../settings.ts";
import { onlyQuestion, withRun } from "../stored-run.ts";
import { ageText, counted, plural, shown } from "../screen/text.ts";
import { printLines, printTable, report, type Session } from "../session.ts";
import { eventLines } from "./runs-events.ts";

const DEFAULT_LIMIT = 30;
const STOP_LIMIT = 30_000;
const DRAIN_LIMIT = 120_000;

/** A look may miss a live worker: after a restart of the database it connects later than this command, and a busy one answers late. */
const UNSEEN = 3_000;

export async function submit(session: Session, flags: Flags, ...words: string[]): Promise<void> {
  if (flags.answer !== undefined || flags.question !== undefined) return submitAnswered(session, words, flags);
  const { host, json } = session;
  const isAsked = words.length > 0 || flags.file !== undefined || flags.id === undefined;
  const idea = isAsked ? await readIdea(ideaIn(words, flags), host) : undefined;
  return withFleet(session, flags, async ({ journal, driver }) => {
    const mask = maskSecrets(secretsIn(host.env));
    const runId = flags.id ?? freshRunId(host.clock.now());
    const known = (await eventsOf(journal, runId)) === 0 ? undefined : await beginningOf(journal, runId);
    if (known === undefined && idea === undefined) ideaIn([], flags);
    assertSameBeginning(runId, known, { team: flags.team, idea: idea && mask(idea) });
    const { team: name = known?.team ?? "" } = flags;
    if (name.trim() === "") throw invalidOption("--team", "the name of a team", name);
    await submitRun({ name, journal, mask, driver }, { runId, idea: known === undefined ? idea : undefined, about: undefined });
    if (json === undefined) host.stdout.write(`${runId}\n`);
    else await json.write({ type: "submitted", run: runId, team: name });
  });
}

async function submitAnswered(session: Session, words: readonly string[], flags: Flags): Promise<void> {
  const { id: runId = "", answer = "", team, file } = flags;
  if (runId === "" || answer.trim() === "" || words.length > 0 || file !== undefined || team !== undefined) {
    const expected = "Expected --answer with a text and --id with the run that waits, and no idea and no team";
    throw new UsageError("OPTION_CONFLICT", `${expected}. Say: troupe submit --id <run> --answer "yes"`);
  }
  return withFleet(session, flags, async ({ journal, driver }) => {
    const { signal } = session.interruptions;
    const { state } = await recordedState(journal, runId, (from) => journal.read(runId, from));
    const question = flags.question ?? onlyQuestion(pendingQuestions(state), runId, "in --question");
    const secrets = secretsIn(session.host.env);
    await submitAnswer(runId, question, answer, { journal, driver, secrets, clock: session.host.clock, signal });
    await report(session, `The answer is recorded, and ${shown(runId, 60)} continues.`, { type: "answered", run: runId });
  });
}

function ideaIn(words: readonly string[], { file }: Flags): IdeaSource {
  const example = 'Say what to work on: troupe submit --team writers "a poem"';
  return ideaSource(words, file, { isMeant: true, example });
}

type Beginning = Awaited<ReturnType<typeof beginningOf>>;

async function beginningOf(journal: Journal, runId: string) {
  let team: string | undefined;
  for await (const event of journal.read(runId, 0)) {
    if (event.type === "run.started") ({ team } = event);
    if (event.type === "message") return { team, idea: event.message.content };
  }
  return { team, idea: undefined };
}

function assertSameBeginning(runId: string, known: Beginning | undefined, { team, idea }: Beginning): void {
  const name = shown(runId, 60);
  if (known?.team !== undefined && team !== undefined && team !== known.team)
    throw invalidOption("--team", `the team of ${name}, which is "${shown(known.team, 60)}", or none`, team);
  if (known?.idea === undefined || idea === undefined || idea === known.idea) return;
  const expected = `Expected the idea that ${name} was begun with, or none, got another`;
  throw new JournalError("RUN_IDEA_DIFFERS", `${expected}. To continue it: troupe submit --id ${name}, or leave out --id for a new run.`);
}

export function ps(session: Session, flags: Flags): Promise<void> {
  const limit = flags.limit ?? DEFAULT_LIMIT;
  return withFleet(session, flags, async ({ journal, driver }) => {
    const [jobs, workers, infos] = await Promise.all([
      driver.list({ limit: MAX_JOBS }),
      driver.workers(),
      newestRuns(journal, { limit, tallies: true }),
    ]);
    const known = new Map(jobs.map((job) => [job.runId, job]));
    const rows: PsRow[] = [];
    for (const info of infos) {
      throwIfAborted(session.interruptions.signal);
      const { id, status, moved, events, idea, team } = await listedSummary(journal, info);
      rows.push({ run: id, team, status: statusOf(status, known.get(id)), moved, events, idea });
      known.delete(id);
    }
    const queued = [...known.values()].map((job): PsRow => {
      const { runId, team } = job;
      return { run: runId, team, status: statusOf("queued", job), moved: null, events: 0, idea: "" };
    });
    await print(session, [...queued.slice(0, limit), ...rows], workers);
  });
}

type PsRow = Pick<RunSummary, "team" | "moved" | "events" | "idea"> & { readonly run: string; readonly status: string };

function statusOf(recorded: string, job: JobInfo | undefined): string {
  if (job === undefined) return recorded;
  return job.state === "delivered" ? "running" : "waits for a worker";
}

async function print(session: Session, rows: readonly PsRow[], workers: Awaited<ReturnType<Fleet["driver"]["workers"]>>): Promise<void> {
  const now = session.host.clock.now();
  await printTable(session, {
    type: "run",
    rows,
    heads: ["RUN", "TEAM", "LAST", "STATUS", "EVENTS", "IDEA"],
    cells: ({ run, team, status, moved, events, idea }) => {
      const last = moved === null ? "" : ageText(now - moved);
      return [shown(run, 60), shown(team, 40), last, status, counted(events), shown(idea, 200)];
    },
    empty: "No runs are kept or queued here yet.",
  });
  if (session.json === undefined && workers.length > 0) await printLines(session, [""]);
  await printTable(session, {
    type: "worker",
    rows: workers,
    heads: ["WORKER", "ADDRESS", "RUNS", "UP"],
    cells: ({ id, address, jobs, since }) => [id, address, counted(jobs), ageText(now - since)],
    empty: "No worker is connected. Start one: troupe worker ./teams.js",
  });
}

export function logs(session: Session, flags: Flags, id: string): Promise<void> {
  const from = flags.from ?? 0;
  return withFleet(session, flags, async (fleet) => {
    const { journal } = fleet;
    const runId = await (flags.follow === true ? knownRun(fleet, id) : recordedRun(journal, id));
    if (flags.follow === true) await untilBegun(session, fleet, runId);
    const events = flags.follow === true ? followed(session, journal, runId, from) : journal.read(runId, from);
    await printLines(session, eventLines(events, { isJson: session.output.isJson }));
  });
}

async function* followed({ host, interruptions }: Session, journal: Journal, runId: string, from: number): AsyncIterable<RunEvent> {
  const leave = new AbortController();
  const signal = AbortSignal.any([leave.signal, interruptions.signal]);
  let next = from;
  try {
    for await (const _change of growthOf(journal, runId, { clock: host.clock, signal })) {
      let last: RunEvent | undefined;
      for await (const event of journal.read(runId, next)) {
        next = event.seq + 1;
        last = event;
        yield event;
      }
      if (last?.type === "run.ended") return;
      throwIfAborted(interruptions.signal);
    }
  } finally {
    leave.abort();
  }
}

export function stop(session: Session, flags: Flags, id: string): Promise<void> {
  return isOfFleet(session, flags) ? stopInFleet(session, flags, id) : stopHere(session, flags, id);
}

/** True for a run of the fleet, false for one of a store, which other processes of this machine drive. */
function isOfFleet({ host }: Session, { store, journal, schema, engine }: Flags): boolean {
  const isNamed = [journal, schema, engine].some((given) => given !== undefined);
  if (store !== undefined && isNamed) throw conflict("Expected --store, or the options of a fleet, got both. Name the place of the run.");
  return isNamed || (store === undefined && valueIn(host.env, "TROUPE_JOURNAL") !== undefined);
}

function stopInFleet(session: Session, flags: Flags, id: string): Promise<void> {
  return withFleet(session, flags, async (fleet) => {
    const { journal, driver } = fleet;
    const runId = await knownRun(fleet, id);
    await driver.cancel(runId);
    const name = shown(runId, 60);
    const { last } = await lastOf(journal, runId);
    const begin = `It had not begun, so its idea is gone. To begin it: troupe submit --team <name> --id ${name} "..."`;
    if (last === undefined) return stopped(session, runId, `is taken from the queue. ${begin}`);
    await isStopped(session, journal, runId, flags);
    await stopped(session, runId, `is stopped. To continue it: troupe submit --id ${name}`);
  });
}

function stopHere(session: Session, flags: Flags, id: string): Promise<void> {
  return withRun(session, flags, id, async ({ journal, option }, runId) => {
    const next = `To continue it: troupe resume ${shown(runId, 60)}${option}`;
    if (await isStopped(session, journal, runId, flags)) return stopped(session, runId, `is stopped. ${next}`);
    const expected = `Expected a run that a process drives, but none drives ${shown(runId, 60)}`;
    throw new UsageError("RUN_AT_REST", `${expected}, so there is nothing to stop. ${next}`);
  });
}

function stopped(session: Session, runId: string, how: string): Promise<void> {
  return report(session, `${shown(runId, 60)} ${how}`, { type: "stopped", run: runId });
}

async function isStopped(session: Session, journal: Journal, runId: string, { grace: limit = STOP_LIMIT }: Flags): Promise<boolean> {
  if (!isUnderWay(await lastOf(journal, runId)) || !(await isCommanded(session, journal, runId, limit))) return false;
  await untilEnded(session, journal, runId, limit);
  return true;
}

function isUnderWay({ last }: LastEvent): boolean {
  return last !== undefined && last.type !== "run.ended";
}

async function isCommanded({ interruptions: { signal } }: Session, journal: Journal, runId: string, timeout: number): Promise<boolean> {
  try {
    await giveCommand(journal, runId, { do: "stop", reason: "troupe stop" }, { timeout, signal });
    return true;
  } catch (error) {
    if (isUnowned(error)) return false;
    throw error instanceof TimeoutError ? notStopped(runId, timeout, error) : error;
  }
}

async function untilEnded({ host: { clock }, interruptions }: Session, journal: Journal, runId: string, limit: number): Promise<void> {
  const end = clock.now() + limit;
  while (isUnderWay(await lastOf(journal, runId))) {
    if (clock.now() > end) throw notStopped(runId, limit);
    await sleep(clock, LOOK, interruptions.signal);
  }
}

function notStopped(runId: string, limit: number, cause?: unknown): UsageError {
  const expected = `Expected the owner of ${shown(runId, 60)} to stop it within ${limit / 1000} s, but its record has no end`;
  const advice = "A step of it may take no notice of a stop. Wait longer: --grace, or look at its last events";
  return new UsageError("RUN_NOT_STOPPED", `${expected}. ${advice}`, { cause });
}

export function drain(session: Session, flags: Flags): Promise<void> {
  const limit = flags.grace ?? DRAIN_LIMIT;
  return withFleet(session, flags, async ({ driver }) => {
    const ids = await untilDrained(session, driver, { worker: flags.worker, limit });
    await report(session, `${plural(ids.length, "worker")} drained.`, { type: "drained", workers: ids });
  });
}

export async function untilDrained(
  { host: { clock }, interruptions: { signal } }: Pick<Session, "host" | "interruptions">,
  driver: Fleet["driver"],
  { worker, limit }: { readonly worker: string | undefined; readonly limit: number },
): Promise<readonly string[]> {
  const end = clock.now() + limit;
  const asked = new Set<string>();
  let first: number | undefined;
  let gone: number | undefined;
  for (;;) {
    const began = clock.now();
    const connected = (await driver.workers()).map(({ id }) => id).filter((id) => worker === undefined || id === worker);
    const now = clock.now();
    first ??= now;
    // A look itself may take seconds, so time counts from the end of one look to the beginning of another.
    const isBeginning = began - first < UNSEEN;
    const busy = connected.filter((id) => isBeginning || asked.has(id));
    for (const id of busy) asked.add(id);
    gone = busy.length > 0 ? undefined : (gone ?? now);
    if (gone !== undefined && began - gone >= UNSEEN) break;
    if (now > end && busy.length > 0) {
      const expected = `Expected the workers to end within the time, but ${plural(busy.length, "worker")} did not`;
      throw new UsageError("WORKERS_BUSY", `${expected}. Wait longer: --grace`);
    }
    // Repeated, because a worker that was just connecting has not heard it.
    await Promise.all([...asked].map((id) => driver.drain(id)));
    await sleep(clock, LOOK, signal);
  }
  if (worker !== undefined && asked.size === 0)
    throw new UsageError("WORKER_UNKNOWN", `Expected the id of a connected worker, got "${shown(worker, 60)}". See: troupe ps`);
  return [...asked];
}

export function bring(session: Session, flags: Flags, id: string): Promise<void> {
  return withFleet(session, flags, async ({ journal }) => {
    const { host, interruptions } = session;
    const { signal } = interruptions;
    const runId = await recordedRun(journal, id);
    const root = resolve(host.cwd, flags.out ?? nameOf(runId));
    const { moving } = await workerFolders(session, flags);
    if (moving === undefined) await restoreProject(root, { runId, journal, stored: undefined, signal });
    else await moving.copy(runId, journal, root, { signal });
    const files = (await fileWorkspace({ root, git: false }).list()).length;
    const name = shown(runId, 60);
    if (files === 0) {
      const hint = moving === undefined ? " Files that commands made come with --workspaces." : "";
      throw new UsageError("PROJECT_EMPTY", `Expected a run with files, but ${name} has none so far.${hint}`);
    }
    const text = `The project of ${name} is in ${shown(folderName(host, root))}, with ${plural(files, "file")}.`;
    await report(session, text, { type: "brought", run: runId, folder: root, files });
  });
}
