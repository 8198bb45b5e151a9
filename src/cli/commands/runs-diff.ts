import { FailureWatch } from "../../research/detectors/failure-watch.ts";
import type { FailureFinding } from "../../research/detectors/detectors.ts";
import { type AlignedEntry, type AlignedPair, alignRuns, type DifferentPart } from "../../runtime/replay/alignment.ts";
import { difference, differenceText } from "../../runtime/replay/difference.ts";
import type { ExitCode } from "../errors.ts";
import type { Flags } from "../options.ts";
import { counted, plural } from "../screen/amounts.ts";
import { tableLines, type TextStyle } from "../screen/layout.ts";
import { shown } from "../screen/text.ts";
import { printResult, type Session } from "../session.ts";
import { eventsOf, loadRun, storedRun, withRun } from "../stored-run.ts";

const LISTED = 60;

export function runsDiff(session: Session, flags: Flags, a: string, b: string): Promise<ExitCode> {
  return withRun<ExitCode>(session, flags, a, async ({ journal }, left) => {
    const right = await storedRun(journal, b);
    const { signal } = session.interruptions;
    const [one, other] = [await eventsOf(journal, left, signal), await eventsOf(journal, right, signal)];
    const found = difference(one, other);
    const facts = { type: "diff", left, right, equal: found === undefined };
    const text = found && differenceText(found);
    const pairs = found && alignRuns(one, other);
    await printResult(session, { ...facts, text, difference: found, pairs }, (o) =>
      text === undefined || pairs === undefined ? ["equal"] : [...text.split("\n"), "", ...pairLines(pairs, o)],
    );
    return found === undefined ? 0 : 1;
  });
}

function pairLines(pairs: readonly AlignedPair[], o: TextStyle): readonly string[] {
  const count = (kind: AlignedPair["kind"]): number => pairs.filter((pair) => pair.kind === kind).length;
  const title = `${counted(count("same"))} the same, ${counted(count("changed"))} changed, ${counted(count("left"))} only left, ${counted(count("right"))} only right.`;
  const rows = grouped(pairs);
  const more = rows.length > LISTED ? [o.style.faint(`and ${plural(rows.length - LISTED, "row")} more; --json has them all`)] : [];
  return [title, ...tableLines(["", "LEFT", "RIGHT", "DIFFERENCE"], rows.slice(0, LISTED), o), ...more];
}

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

export function runsCheck(session: Session, flags: Flags, id: string): Promise<ExitCode> {
  return withRun<ExitCode>(session, flags, id, async ({ journal }, runId) => {
    const watch = new FailureWatch({ roles: flags.allRoles === true ? "all" : "models" });
    const found: FailureFinding[] = [];
    await loadRun(journal, runId, { signal: session.interruptions.signal, visit: (event) => found.push(...watch.add(event)) });
    const exitCode = found.length === 0 ? 0 : 1;
    await printResult(session, { type: "checked", runId, exitCode, findings: found }, (o) => findingLines(found, o));
    return exitCode;
  });
}

function findingLines(found: readonly FailureFinding[], o: TextStyle): readonly string[] {
  if (found.length === 0) return ["No failure of coordination was found."];
  const rows = found.slice(0, LISTED).map(({ seq, failure, mode, text }) => [`${seq}`, failure, mode.slice(0, 6), shown(text, 400)]);
  const more = found.length > LISTED ? [o.style.faint(`and ${found.length - LISTED} more; --json has them all`)] : [];
  return [`${plural(found.length, "finding")}.`, ...tableLines(["EVENT", "FAILURE", "MODE", "FOUND"], rows, o), ...more];
}
