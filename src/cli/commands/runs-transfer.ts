import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { JournalError, UsageError } from "../../kernel/errors.ts";
import { linesOf } from "../../runtime/record/run-import.ts";
import { exportRun, importRun } from "../../runtime/record/transfer.ts";
import type { ExitCode } from "../errors.ts";
import type { Host } from "../host.ts";
import { printLines, report } from "../output.ts";
import { plural, shown } from "../screen/text.ts";
import { inSession } from "../session.ts";
import { type Flags, invalidOption } from "../settings.ts";
import { withStore } from "../store.ts";
import { withRun } from "../stored-run.ts";
import { refuseTerminal, writeNewFile } from "../text-file.ts";

/** `troupe runs export <id> [file]`: a run as lines of JSON that can be imported elsewhere, on standard output without a file. */
export function runsExportCommand(host: Host, id: string, file: string | undefined, flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, (session) =>
    withRun<ExitCode>(session, flags, id, async ({ journal }, runId) => {
      const lines = exportRun(journal, runId, { signal: session.interruptions.signal });
      if (file === undefined || file === "-") {
        const name = shown(runId, 60);
        refuseTerminal(host, `troupe runs export ${name} ${name}.ndjson`);
        await printLines(session, lines);
        return 0;
      }
      const place = resolve(host.cwd, file);
      // The first and the last line are no events.
      const events = (await writeNewFile(place, lines)) - 2;
      const text = `Exported run ${shown(runId, 100)}, ${plural(events, "event")}, to ${shown(file, 200)}.`;
      await report(session, text, { type: "exported", runId, events, file: place });
      return 0;
    }),
  );
}

/** `troupe runs import <file>`: takes an exported run into the store, whole or not at all. */
export function runsImportCommand(host: Host, file: string, flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const id = flags.as === undefined ? {} : { id: plainId(flags.as) };
    const pieces = file === "-" ? decoded(host.stdin) : await piecesOf(resolve(host.cwd, file), file);
    return withStore<ExitCode>(session, flags, async ({ journal, ready }) => {
      await ready();
      const { signal } = session.interruptions;
      const { runId, events } = await importRun(journal, linesOf(pieces), { signal, ...id }).catch(adviseOnTaken);
      const text = `Imported run ${shown(runId, 100)}, ${plural(events, "event")}.`;
      await report(session, text, { type: "imported", runId, events });
      return 0;
    });
  });
}

/** @throws JournalError `RUN_EXISTS` with advice */
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

/** @throws UsageError `FILE_UNREADABLE` */
async function piecesOf(place: string, file: string): Promise<AsyncIterable<string>> {
  const found = await stat(place).catch((error: unknown) => {
    throw unreadable(file, error instanceof Error ? error.message : String(error), error);
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
