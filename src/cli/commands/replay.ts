import { silentLogger } from "../../kernel/emit.ts";
import { ControlError, DifferenceError, JournalError, UsageError } from "../../kernel/errors.ts";
import type { ChatModel } from "../../model/chat-model.ts";
import type { RunEvent } from "../../runtime/record/event.ts";
import type { Journal } from "../../runtime/record/journal.ts";
import { difference, differenceText, requestDifference, requestDifferenceText } from "../../runtime/replay/difference.ts";
import type { ReplayDifference } from "../../runtime/replay/replay.ts";
import type { Run } from "../../team/run.ts";
import { Team } from "../../team/team.ts";
import { fileWorkspace } from "../../workspace/file-workspace.ts";
import { temporaryFolder } from "../../workspace/project-copy.ts";
import { refusedSandbox, type Sandbox } from "../../workspace/sandbox.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { aboutOf, type RunAbout } from "../about.ts";
import { crewOf } from "../company.ts";
import type { ExitCode } from "../errors.ts";
import { replayTools } from "../mcp.ts";
import { mapped } from "../../kernel/value-kind.ts";
import { modelsByRole } from "../model-choice.ts";
import type { Flags } from "../options.ts";
import { counted, plural, shown, tableLines, type TextStyle } from "../screen/text.ts";
import { printResult, type Session } from "../session.ts";
import { eventsOf, loadRun, storedRun, withRun } from "../stored-run.ts";
import { FailureWatch } from "../../research/detectors/failure-watch.ts";
import type { FailureFinding } from "../../research/detectors/detectors.ts";
import { type ActivationPair, compareRuns } from "../../inspector/view/run-comparison.ts";
import { RunTimeline } from "../../inspector/view/run-timeline.ts";

export function replay(session: Session, flags: Flags, id: string): Promise<ExitCode> {
  return withRun(session, flags, id, async ({ journal }, runId) => {
    const replayed = await replayRecorded(session, journal, runId);
    await print(session, runId, replayed);
    return replayed.isEqual ? 0 : 1;
  });
}

async function print(session: Session, runId: string, replayed: Awaited<ReturnType<typeof replayRecorded>>): Promise<void> {
  const { isEqual, events, steps, files, isWhole } = replayed;
  const found = isEqual ? {} : { text: replayed.text, difference: replayed.difference };
  const facts = { type: "replay", runId, equal: isEqual, events, steps, files, calls: 0, whole: isWhole, ...found };
  const did = `${plural(steps, "step")} answered from the record, no call, ${plural(files, "file")} made again in a folder that is gone`;
  const how = isWhole ? "equal" : "equal as far as the record goes";
  const unequal = `Run ${shown(runId, 100)} does not happen again as it was recorded.`;
  await printResult(session, facts, () => (isEqual ? [`${how}: ${did}.`] : [unequal, ...replayed.text.split("\n")]));
}

async function replayRecorded({ interruptions, screen }: Session, journal: Journal, runId: string) {
  const { signal } = interruptions;
  const { team, workspace, recorded, isWhole, remove } = await scratchReplay(journal, runId, signal);
  try {
    const run = team.replay(runId, { signal });
    const again: RunEvent[] = [];
    for await (const event of run) again.push(event);
    const found = await foundIn(run, recorded, again);
    const steps = again.filter((event) => event.type === "step.ended").length;
    const files = (await workspace.list()).length;
    return { ...found, isWhole, events: recorded.length, steps, files };
  } finally {
    const left = await remove();
    if (left !== undefined) screen.warn(left);
  }
}

export async function scratchReplay(journal: Journal, runId: string, signal: AbortSignal) {
  const recorded: RunEvent[] = [];
  const { state } = await loadRun(journal, runId, { signal, visit: (event) => recorded.push(event) });
  const about = aboutOf(runId, state.about);
  const scratch = temporaryFolder("troupe-replay-");
  const workspace = fileWorkspace({ root: scratch.path, git: false });
  const team = await replayTeam(about, recorded, journal, workspace);
  const isWhole = state.phase.phase === "ended";
  return { team, workspace, recorded, isWhole, remove: () => Promise.resolve(scratch.remove()) };
}

async function foundIn(run: Run, recorded: readonly RunEvent[], again: readonly RunEvent[]) {
  const { error } = await run.result;
  if (error instanceof DifferenceError) return { isEqual: false, text: replayText(error), difference: error.data };
  if (error instanceof ControlError || error instanceof JournalError || error instanceof UsageError) throw error;
  const found = difference(recorded, again);
  return { isEqual: found === undefined, text: found === undefined ? "" : differenceText(found), difference: found };
}

function replayText(error: DifferenceError): string {
  const { recorded, now } = error.data as ReplayDifference;
  const found = requestDifference(recorded, now);
  return found === undefined ? error.message : `${error.message}\n${requestDifferenceText(found, ["recorded", "now"])}`;
}

async function replayTeam(about: RunAbout, recorded: readonly RunEvent[], journal: Journal, workspace: Workspace): Promise<Team> {
  const kind = testedIn(recorded) ?? about.sandboxKind;
  // The sandbox's kind is recorded with the tests.
  const sandbox = { ...refusedSandbox("this is a replay", "Run the tests in the project's folder with: node --test"), kind };
  const more = replayTools(about.agent?.mcpTools ?? []);
  const named = mapped(about.models ?? {}, (model) => replayModel({ model }));
  const { name, roles } = await crewOf(about, { workspace, sandbox, more, models: named });
  const models = modelsByRole(roles, named, (model) => model);
  return new Team({ name, roles, model: replayModel(about), models, journal, logger: silentLogger });
}

function replayModel({ model: { id, price } }: Pick<RunAbout, "model">): ChatModel {
  const refuse = (): never => {
    throw new UsageError("REPLAY_CALL", `Expected a replay to ask no model, but it asked ${id}. This is a fault of this program.`);
  };
  return { id, ...(price === undefined ? {} : { price }), chat: refuse, stream: refuse };
}

const KINDS: readonly Sandbox["kind"][] = ["bubblewrap", "none", "refused"];

function testedIn(recorded: readonly RunEvent[]): Sandbox["kind"] | undefined {
  for (const event of recorded) {
    if (event.type !== "step.started" || event.name !== "run tests") continue;
    const { sandbox } = (event.request ?? {}) as { readonly sandbox?: unknown };
    const kind = KINDS.find((known) => known === sandbox);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

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
