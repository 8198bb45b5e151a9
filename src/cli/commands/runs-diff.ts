import { FailureWatch } from "../../research/detectors/failure-watch.ts";
import type { FailureFinding } from "../../research/detectors/detectors.ts";
import { type ActivationPair, compareRuns } from "../../inspector/view/run-comparison.ts";
import { RunTimeline } from "../../inspector/view/run-timeline.ts";
import type { RunEvent } from "../../runtime/record/event.ts";
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
    const pairs = found && compareRuns(timelineOf(one), timelineOf(other)).pairs.map(rowOf);
    await printResult(session, { ...facts, text, difference: found, pairs }, (o) =>
      text === undefined || pairs === undefined ? ["equal"] : [...text.split("\n"), "", ...pairLines(pairs, o)],
    );
    return found === undefined ? 0 : 1;
  });
}

function timelineOf(events: readonly RunEvent[]): RunTimeline {
  const timeline = new RunTimeline();
  timeline.add(events);
  return timeline;
}

function rowOf({ role, n, difference: kind, leftText, rightText }: ActivationPair) {
  return { name: `${role}#${n}`, difference: kind, left: leftText, right: rightText };
}

function pairLines(pairs: readonly ReturnType<typeof rowOf>[], o: TextStyle): readonly string[] {
  const others = pairs.filter((pair) => pair.difference !== "equal");
  const rows = others
    .slice(0, LISTED)
    .map(({ name, difference: kind, left, right }) => [shown(name, 40), kind, shown(left, 60), shown(right, 60)]);
  const more = others.length > LISTED ? [o.style.faint(`and ${plural(others.length - LISTED, "row")} more; --json has them all`)] : [];
  const title = `${counted(pairs.length - others.length)} of ${plural(pairs.length, "activation")} the same.`;
  return [title, ...tableLines(["ACTIVATION", "DIFFERENCE", "LEFT", "RIGHT"], rows, o), ...more];
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
