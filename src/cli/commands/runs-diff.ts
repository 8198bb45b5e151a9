import { FailureWatch } from "../../research/detectors/failure-watch.ts";
import type { FailureFinding } from "../../research/detectors/finding.ts";
import { type AlignedEntry, type AlignedPair, alignRuns, type DifferentPart } from "../../runtime/replay/alignment.ts";
import { difference, differenceText } from "../../runtime/replay/difference.ts";
import type { ExitCode } from "../errors.ts";
import type { Flags } from "../options.ts";
import { printLines, resultStyle } from "../output.ts";
import { counted, plural } from "../screen/amounts.ts";
import { tableLines, type TextStyle } from "../screen/layout.ts";
import { shown } from "../screen/text.ts";
import type { Session } from "../session.ts";
import { eventsOf, loadRun, storedRun, withRun } from "../stored-run.ts";

/** Most rows of the table. */
const LISTED = 60;

/** `troupe runs diff <a> <b>`: the first difference of two runs, and how their activations correspond. Ends with 1 when there is one, as diff does. */
export function runsDiff(session: Session, flags: Flags, a: string, b: string): Promise<ExitCode> {
  return withRun<ExitCode>(session, flags, a, async ({ journal }, left) => {
    const right = await storedRun(journal, b);
    const { signal } = session.interruptions;
    const [one, other] = [await eventsOf(journal, left, signal), await eventsOf(journal, right, signal)];
    const found = difference(one, other);
    const facts = { type: "diff", left, right, equal: found === undefined };
    if (found === undefined) {
      if (session.json === undefined) await printLines(session, ["equal"]);
      else await session.json.write(facts);
      return 0;
    }
    const text = differenceText(found);
    const pairs = alignRuns(one, other);
    if (session.json !== undefined) await session.json.write({ ...facts, text, difference: found, pairs });
    else await printLines(session, [...text.split("\n"), "", ...pairLines(pairs, resultStyle(session))]);
    return 1;
  });
}

function pairLines(pairs: readonly AlignedPair[], o: TextStyle): readonly string[] {
  const count = (kind: AlignedPair["kind"]): number => pairs.filter((pair) => pair.kind === kind).length;
  const title = `${counted(count("same"))} the same, ${counted(count("changed"))} changed, ${counted(count("left"))} only left, ${counted(count("right"))} only right.`;
  const rows = grouped(pairs);
  const more = rows.length > LISTED ? [o.style.faint(`and ${plural(rows.length - LISTED, "row")} more; --json has them all`)] : [];
  return [title, ...tableLines(["", "LEFT", "RIGHT", "DIFFERENCE"], rows.slice(0, LISTED), o), ...more];
}

/** A row for each pair that differs; neighbours that are the same share one. */
function grouped(pairs: readonly AlignedPair[]): readonly (readonly string[])[] {
  const rows: (readonly string[])[] = [];
  let same: (AlignedPair & { readonly kind: "same" })[] = [];
  const flush = (): void => {
    const [first, last] = [same[0], same.at(-1)];
    if (first === undefined || last === undefined) return;
    const [left, right] = [spanText(first.left, last.left), spanText(first.right, last.right)];
    rows.push(["", left, right, same.length === 1 ? "the same" : `${counted(same.length)} the same`]);
    same = [];
  };
  for (const pair of pairs) {
    if (pair.kind === "same") same.push(pair);
    else {
      flush();
      rows.push(rowOf(pair));
    }
  }
  flush();
  return rows;
}

const WORDS: Readonly<Record<DifferentPart, string>> = { asked: "asks", answered: "is answered", said: "says", kept: "keeps" };

function rowOf(pair: Exclude<AlignedPair, { readonly kind: "same" }>): readonly string[] {
  if (pair.kind === "left") return ["-", nameText(pair.left), "", `only left: ${workText(pair.left)}`];
  if (pair.kind === "right") return ["+", "", nameText(pair.right), `only right: ${workText(pair.right)}`];
  const parts = pair.parts.map((part) => WORDS[part]).join(", ");
  return ["~", nameText(pair.left), nameText(pair.right), `${parts} something else: ${workText(pair.right)}`];
}

/** Returns the messages of an activation, else its steps, in words. */
function workText({ said, steps }: AlignedEntry): string {
  const texts = said.map(({ causeBy, content }) => `${shown(causeBy, 40)}: ${shown(content, 60)}`);
  if (texts.length > 0) return texts.slice(0, 2).join("; ");
  return steps.length === 0
    ? "says nothing"
    : steps
        .slice(0, 3)
        .map((step) => shown(step, 40))
        .join(", ");
}

function spanText(first: AlignedEntry, last: AlignedEntry): string {
  return first === last ? nameText(first) : `${nameText(first)} ... ${nameText(last)}`;
}

function nameText({ name }: AlignedEntry): string {
  return shown(name, 40);
}

/** `troupe runs check <id>`: looks for failures of coordination in the record of a run. Ends with 1 when there are some, as runs diff does. */
export function runsCheck(session: Session, flags: Flags, id: string): Promise<ExitCode> {
  return withRun<ExitCode>(session, flags, id, async ({ journal }, runId) => {
    const watch = new FailureWatch({ roles: flags.allRoles === true ? "all" : "models" });
    const found: FailureFinding[] = [];
    await loadRun(journal, runId, { signal: session.interruptions.signal, visit: (event) => found.push(...watch.add(event)) });
    const exitCode = found.length === 0 ? 0 : 1;
    if (session.json === undefined) await printLines(session, findingLines(found, resultStyle(session)));
    else await session.json.write({ type: "checked", runId, exitCode, findings: found });
    return exitCode;
  });
}

function findingLines(found: readonly FailureFinding[], o: TextStyle): readonly string[] {
  if (found.length === 0) return ["No failure of coordination was found."];
  const rows = found.slice(0, LISTED).map(({ seq, failure, mode, text }) => [`${seq}`, failure, mode.slice(0, 6), shown(text, 400)]);
  const more = found.length > LISTED ? [o.style.faint(`and ${found.length - LISTED} more; --json has them all`)] : [];
  return [`${plural(found.length, "finding")}.`, ...tableLines(["EVENT", "FAILURE", "MODE", "FOUND"], rows, o), ...more];
}
