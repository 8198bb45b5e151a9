import { UsageError } from "../../kernel/errors.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { nearestWord } from "../../kernel/known-options.ts";
import { shortId } from "../run-id.ts";
import { type RunRow, runRows } from "../run-row.ts";
import { column, counted, fitted, shown, widthOf } from "../screen/text.ts";
import { ageText } from "../screen/time-text.ts";
import { inSession, type Session } from "../session.ts";
import type { Flags } from "../settings.ts";
import { isStore, storePlace, withStore } from "../store.ts";
import { tellLines } from "../tell-lines.ts";
import { resultStyle } from "../tell-result.ts";

/** What `troupe runs` can be followed by. */
export const RUNS_COMMANDS: readonly string[] = ["ls", "show", "events", "flow", "diff", "export", "import", "rm", "gc"];

/** `troupe runs ls`: the runs of the store, the newest first. @param words what followed: there is nothing that may */
export function runsLsCommand(host: Host, words: readonly string[], flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    refuseWords(words);
    const place = storePlace(flags, host);
    if (!(await isStore(place.path))) {
      session.screen.say(`No runs are kept in ${shown(place.name, 300)} yet.`);
      return 0;
    }
    return withStore<ExitCode>(session, flags, async ({ journal }) => {
      const rows = (await runRows(journal, session.interruptions.signal)).toReversed();
      await tell(session, rows);
      return 0;
    });
  });
}

function refuseWords([word]: readonly string[]): void {
  if (word === undefined) return;
  const near = nearestWord(word, RUNS_COMMANDS);
  const guess = near === undefined ? "" : ` Did you mean: troupe runs ${near}?`;
  throw new UsageError(
    "COMMAND_INVALID",
    `Expected one of ${RUNS_COMMANDS.join(", ")} after troupe runs, got "${shown(word, 60)}".${guess}`,
  );
}

async function tell(session: Session, rows: readonly RunRow[]): Promise<void> {
  if (session.json !== undefined) {
    for (const row of rows) await session.json.write({ type: "run", ...row });
    return;
  }
  if (rows.length === 0) session.screen.say("No runs are kept here yet.");
  else await tellLines(session, tableOf(session, rows));
}

function tableOf(session: Session, rows: readonly RunRow[]): readonly string[] {
  const { style, width } = resultStyle(session);
  const now = session.host.clock.now();
  const ids = rows.map(({ runId }) => runId);
  const cells = rows.map((row) => [
    shown(shortId(row.runId, ids), 60),
    row.moved === null ? "" : ageText(now - row.moved),
    row.status,
    counted(row.events),
    `${shown(row.idea, 200)}${row.parent === undefined ? "" : ` (fork of ${shown(row.parent.runId, 60)})`}`,
  ]);
  const heads = ["RUN", "LAST", "STATUS", "EVENTS", "IDEA"];
  const widths = heads.map((head, nth) => Math.max(widthOf(head), ...cells.map((row) => widthOf(row[nth] ?? ""))));
  const line = (row: readonly string[]): string => {
    const text = row.map((cell, nth) => (nth === row.length - 1 ? cell : column(cell, widths[nth] ?? 0))).join("  ");
    return width === Infinity ? text : fitted(text, width);
  };
  return [style.faint(line(heads)), ...cells.map(line)];
}
