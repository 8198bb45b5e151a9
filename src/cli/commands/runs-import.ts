import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { JournalError, UsageError } from "../../kernel/errors.ts";
import { linesOf } from "../../runtime/record/run-import.ts";
import { importRun } from "../../runtime/record/transfer.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { plural, shown } from "../screen/text.ts";
import { inSession } from "../session.ts";
import type { Flags } from "../settings.ts";
import { withStore } from "../store.ts";

/** The options of `troupe runs import`. */
export interface ImportFlags extends Flags {
  readonly as?: string;
}

/** `troupe runs import <file>`: takes an exported run into the store, whole or not at all. */
export function runsImportCommand(host: Host, file: string, flags: ImportFlags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const id = idOf(flags.as);
    const pieces = file === "-" ? decoded(host.stdin) : await piecesOf(resolve(host.cwd, file), file);
    return withStore<ExitCode>(session, flags, async ({ journal, ready }) => {
      await ready();
      const { signal } = session.interruptions;
      const { runId, events } = await importRun(journal, linesOf(pieces), { signal, ...id }).catch(taken);
      if (session.json === undefined) session.screen.say(`Imported run ${shown(runId, 100)}, ${plural(events, "event")}.`);
      else await session.json.write({ type: "imported", runId, events });
      return 0;
    });
  });
}

/** @throws JournalError `RUN_EXISTS` with what to do about it */
function taken(error: unknown): never {
  if (!(error instanceof JournalError && error.code === "RUN_EXISTS")) throw error;
  throw new JournalError(
    error.code,
    "Expected a run that is not here yet, got one whose id is taken. Give it another: --as <id>, or forget the one that is here: troupe runs rm <id>.",
    {
      cause: error,
    },
  );
}

/** Ids are typed and shown: new ones are plain. */
function idOf(given: string | undefined): { readonly id?: string } {
  if (given === undefined) return {};
  if (/^[\w.-]{1,100}$/.test(given)) return { id: given };
  throw new UsageError("OPTION_INVALID", `Expected --as to be an id of letters, digits, ".", "_" and "-", got "${shown(given, 60)}".`);
}

/** @throws UsageError `FILE_UNREADABLE` */
async function piecesOf(place: string, file: string): Promise<AsyncIterable<string>> {
  const found = await stat(place).catch((error: unknown) => {
    throw unreadable(file, error instanceof Error ? error.message : String(error), error);
  });
  // Opening a pipe waits for somebody to write into it.
  if (!found.isFile()) throw unreadable(file, `it is no regular file; a pipe is read as input: troupe runs import - < ${shown(file, 100)}`);
  return decoded(createReadStream(place));
}

async function* decoded(stream: AsyncIterable<unknown>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) yield decoder.decode(Buffer.from(chunk as Uint8Array | string), { stream: true });
  yield decoder.decode();
}

function unreadable(file: string, why: string, cause?: unknown): UsageError {
  const detail = cause === undefined ? {} : { cause };
  return new UsageError("FILE_UNREADABLE", `Expected to read a run from "${shown(file, 200)}", but ${shown(why, 200)}.`, detail);
}
