import { UsageError } from "../../kernel/errors.ts";
import { EVENT_TYPES } from "../../runtime/record/event.ts";
import type { Journal, RunInfo } from "../../runtime/record/journal.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { seen } from "../ndjson.ts";
import { eventAt } from "../pick-run.ts";
import { findRun } from "../run-id.ts";
import { eventLine } from "../screen/record-lines.ts";
import { shown } from "../screen/text.ts";
import { inSession } from "../session.ts";
import type { Flags } from "../settings.ts";
import { withRuns } from "../store.ts";
import { tellLines } from "../tell-lines.ts";

/** The options of `troupe runs events`. */
export interface EventsFlags extends Flags {
  readonly from?: string;
  readonly type?: string;
}

/** `troupe runs events <id>`: what happened, one line each; with `--json` the events themselves. */
export function runsEventsCommand(host: Host, id: string, flags: EventsFlags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const [from, type] = [fromOf(flags.from), typeOf(flags.type)];
    return withRuns<ExitCode>(session, flags, async ({ journal }) => {
      const runs = await journal.runs();
      const runId = findRun(
        runs.map((run) => run.runId),
        id,
      );
      const info = runs.find((run) => run.runId === runId) ?? { runId, events: 0 };
      await tellLines(session, linesOf(journal, info, { from, type, isJson: session.output.isJson }));
      return 0;
    });
  });
}

interface Wish {
  readonly from: number;
  readonly type: string | undefined;
  readonly isJson: boolean;
}

async function* linesOf(journal: Journal, info: RunInfo, { from, type, isJson }: Wish): AsyncIterable<string> {
  const began = isJson ? 0 : ((await eventAt(journal, info, 0))?.time ?? 0);
  for await (const event of journal.read(info.runId, from)) {
    if (type !== undefined && event.type !== type) continue;
    yield isJson ? seen(JSON.stringify(event)) : eventLine(event, began);
  }
}

function fromOf(text = "0"): number {
  if (/^\d{1,10}$/.test(text.trim())) return Number(text);
  throw new UsageError("OPTION_INVALID", `Expected --from to be the number of an event, such as 12, got "${shown(text, 60)}".`);
}

function typeOf(text: string | undefined): string | undefined {
  if (text === undefined || Object.hasOwn(EVENT_TYPES, text)) return text;
  throw new UsageError("OPTION_INVALID", `Expected --type to be one of ${Object.keys(EVENT_TYPES).join(", ")}, got "${shown(text, 60)}".`);
}
