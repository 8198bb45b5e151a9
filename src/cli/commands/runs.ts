import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { JournalError, UsageError } from "../../kernel/errors.ts";
import type { Scope } from "../../kernel/scope.ts";
import { thrownText } from "../../kernel/value-text.ts";
import type { MessageStore } from "../../memory/message-store.ts";
import { formatUsd } from "../../model/money.ts";
import type { Journal } from "../../runtime/record/journal.ts";
import { exportRun, importRun, linesOf } from "../../runtime/record/transfer.ts";
import { forget } from "../../team/forget.ts";
import { Team } from "../../team/team.ts";
import type { ExitCode } from "../errors.ts";
import { assertMemories, memoryPlace } from "../memory-store.ts";
import { invalidOption } from "../option-values.ts";
import type { Flags } from "../options.ts";
import { confirmRemoval } from "../prompt.ts";
import { plural } from "../screen/amounts.ts";
import { shown } from "../screen/text.ts";
import { exportLines, printCompaction, report, type Session } from "../session.ts";
import { isStore, withRuns, withStore } from "../store.ts";
import { storedRun, withRun } from "../stored-run.ts";
import { allSummaries } from "./runs-ls.ts";

export async function runsExport(session: Session, flags: Flags, id: string, file?: string): Promise<void> {
  if (flags.html !== undefined) return (await import("./inspect.ts")).runsHtml(session, flags, id, file);
  if (flags.otlp !== undefined) return (await import("./runs-otlp.ts")).runsOtlp(session, flags, id, file);
  if (flags.content === true)
    throw new UsageError("OPTION_CONFLICT", "Expected --content with --otlp: an export without it has all texts.");
  return withRun(session, flags, id, async ({ journal }, runId) => {
    const name = shown(runId, 60);
    const lines = exportRun(journal, runId, { signal: session.interruptions.signal });
    const told = (count: number): [string, object] => {
      // The first and the last line are no events.
      const events = count - 2;
      return [`Exported run ${name}, ${plural(events, "event")}, to ${shown(file ?? "", 200)}.`, { runId, events }];
    };
    await exportLines(session, { file, example: `troupe runs export ${name} ${name}.ndjson`, lines, told });
  });
}

export async function runsImport(session: Session, flags: Flags, file: string): Promise<void> {
  const { host } = session;
  const id = flags.as === undefined ? {} : { id: plainId(flags.as) };
  const pieces = file === "-" ? decoded(host.stdin) : await piecesOf(resolve(host.cwd, file), file);
  return withStore(session, flags, async ({ journal, ready }) => {
    await ready();
    const { signal } = session.interruptions;
    const { runId, events } = await importRun(journal, linesOf(pieces), { signal, ...id }).catch(adviseOnTaken);
    const text = `Imported run ${shown(runId, 100)}, ${plural(events, "event")}.`;
    await report(session, text, { type: "imported", runId, events });
  });
}

function adviseOnTaken(error: unknown): never {
  if (!(error instanceof JournalError && error.code === "RUN_EXISTS")) throw error;
  const expected = "Expected a run that is not here yet, got one whose id is taken";
  const advice = "Give it another: --as <id>, or forget the one that is here: troupe runs rm <id>.";
  throw new JournalError(error.code, `${expected}. ${advice}`, { cause: error });
}

/** Ids are typed and printed: new ones are plain. */
function plainId(given: string): string {
  if (/^[\w.-]{1,100}$/.test(given)) return given;
  throw invalidOption("--as", 'an id of letters, digits, ".", "_" and "-"', given);
}

async function piecesOf(place: string, file: string): Promise<AsyncIterable<string>> {
  const found = await stat(place).catch((error: unknown) => {
    throw unreadable(file, thrownText(error), error);
  });
  // Opening a pipe waits for a writer.
  if (!found.isFile()) throw unreadable(file, `it is no regular file; a pipe is read as input: troupe runs import - < ${shown(file, 100)}`);
  return decoded(createReadStream(place));
}

async function* decoded(stream: AsyncIterable<unknown>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) yield decoder.decode(Buffer.from(chunk as Uint8Array | string), { stream: true });
  yield decoder.decode();
}

function unreadable(file: string, why: string, cause?: unknown): UsageError {
  const text = `Expected to read a run from "${shown(file, 200)}", but ${shown(why, 200)}.`;
  return new UsageError("FILE_UNREADABLE", text, cause === undefined ? {} : { cause });
}

export function runsSettle(session: Session, flags: Flags, id: string): Promise<void> {
  const { clock } = session.host;
  const cost = flags.cost === undefined ? {} : { cost: flags.cost };
  return withRun(session, flags, id, async ({ journal }, runId) => {
    const settled = await new Team({ journal, clock }).settle(runId, { ...cost, signal: session.interruptions.signal });
    const text = `Settled ${plural(settled.calls, "call")} of run ${shown(runId, 100)} at ${formatUsd(settled.cost)}; ${formatUsd(settled.kept)} had been kept for them.`;
    await report(session, text, { type: "settled", ...settled });
  });
}

const DEFAULT_AGE = 30 * 86_400_000;

export function runsRm(session: Session, flags: Flags, ...given: string[]): Promise<void> {
  return withRuns(session, flags, async ({ journal }) => {
    const chosen = [...new Set(await Promise.all(given.map((id) => storedRun(journal, id))))];
    await assertFree(journal, chosen);
    await confirmRemoval(session, `Forget ${chosen.map((id) => shown(id, 60)).join(", ")}? Their projects stay.`, flags.yes === true);
    await removeRuns(session, journal, chosen);
    if (session.json === undefined) session.screen.say(`Forgot ${plural(chosen.length, "run")}.`);
  });
}

export async function runsGc(session: Session, flags: Flags): Promise<ExitCode> {
  const { host } = session;
  const before = host.clock.now() - (flags.olderThan ?? DEFAULT_AGE);
  const { path, removed } = await withRuns(session, flags, async ({ journal, path: file }) => {
    const runs = await allSummaries(journal, session.interruptions.signal);
    const isOld = (moved: number | null): boolean => moved !== null && moved < before;
    const old = runs.filter(({ status, told, moved }) => status === "finished" && told === undefined && isOld(moved)).map(({ id }) => id);
    const question = `Forget ${plural(old.length, "finished run")}? Their projects stay.`;
    await confirmRemoval(session, question, flags.yes === true || old.length === 0);
    await removeRuns(session, journal, old);
    return { path: file, removed: old.length };
  });
  const { compactFile, JOURNAL } = await import("../../adapters/sqlite-file.ts");
  await printCompaction(session, () => compactFile(path, JOURNAL), { removed }, `Forgot ${plural(removed, "run")}`);
  return 0;
}

async function removeRuns({ json }: Session, journal: Journal, ids: readonly string[]): Promise<void> {
  for (const runId of ids) {
    await journal.remove(runId);
    await json?.write({ type: "removed", runId });
  }
}

/** Of several runs all are removed, or none. */
async function assertFree(journal: Journal, ids: readonly string[]): Promise<void> {
  for (const runId of ids) {
    try {
      const { epoch } = await journal.claim(runId);
      await journal.release(runId, epoch);
    } catch (error) {
      // A damaged run can still be removed.
      if (error instanceof JournalError && error.code === "RUN_OWNED") throw error;
    }
  }
}

export function runsForget(session: Session, flags: Flags): Promise<void> {
  const { user, tenant } = flags;
  return withRuns(session, flags, async ({ journal }) => {
    const conversation = flags.conversation === undefined ? undefined : await storedRun(journal, flags.conversation);
    const scope: Scope = {
      ...(user === undefined ? {} : { user }),
      ...(tenant === undefined ? {} : { tenant }),
      ...(conversation === undefined ? {} : { conversation }),
    };
    const whose = Object.entries(scope).map(([part, name]) => `${part} ${shown(String(name), 60)}`);
    if (whose.length === 0)
      throw new UsageError("OPTION_INVALID", "Expected whose words to forget, got nobody. Say --user, --conversation or --tenant.");
    const memories = await memoriesOf(session, flags);
    try {
      await confirmRemoval(
        session,
        `Erase what was said for ${whose.join(", ")}, in runs and memories? It is gone for good.`,
        flags.yes === true,
      );
      const forgotten = await forget(scope, { journal, stores: memories, clock: session.host.clock });
      const { runs, texts, messages } = forgotten;
      // A call that was killed before it wrote the files again cannot be told from one that found nothing.
      for (const kept of runs + messages === 0 ? [journal, ...memories] : []) await kept.purge?.();
      const text = `Forgot ${plural(runs, "run")} with ${plural(texts, "text")}, and ${plural(messages, "message")} of memories.`;
      await report(session, text, { type: "forgotten", ...forgotten });
      return;
    } finally {
      for (const store of memories) await store.close();
    }
  });
}

/** The store of memories; none where the usual place has none. */
async function memoriesOf(session: Session, { memory }: Flags): Promise<readonly MessageStore[]> {
  const place = memoryPlace(memory === undefined ? {} : { store: memory }, session);
  if (place.isDefault && !(await isStore(place.path))) return [];
  await assertMemories(place, "--memory");
  const { sqliteStore } = await import("../../adapters/sqlite-store.ts");
  return [sqliteStore({ path: place.path })];
}
