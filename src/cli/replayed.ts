import { tmpdir } from "node:os";
import { requestDifference, requestDifferenceText, difference, differenceText } from "../runtime/replay/difference.ts";
import type { ReplayDifference } from "../runtime/replay/replay.ts";
import { ControlError, DifferenceError, JournalError, UsageError } from "../kernel/errors.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { Run } from "../team/run.ts";
import type { Team } from "../team/team.ts";
import type { TemporaryFolder } from "../workspace/project-copy.ts";
import { refusedSandbox, type Sandbox } from "../workspace/sandbox.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { aboutOf, type RunAbout } from "./about.ts";
import { crewOf } from "./crew.ts";
import { loadRun } from "./loaded-run.ts";
import type { Session } from "./session.ts";

/** What came of a replay. */
export interface Replayed {
  readonly isEqual: boolean;
  /** Whether the record has an end. */
  readonly isWhole: boolean;
  readonly events: number;
  /** Steps that the record answered. */
  readonly steps: number;
  /** Files made in the scratch folder. */
  readonly files: number;
  /** The first difference: in words with both sides, and as data. */
  readonly text: string;
  readonly difference: unknown;
}

/**
 * Replays a run of this command in a scratch folder, with a model that cannot be asked.
 *
 * @throws UsageError `RUN_FOREIGN`; JournalError `TEAM_CHANGED`, `JOURNAL_DAMAGED`; ControlError when an interruption comes
 */
export async function replayRecorded({ interruptions, screen }: Session, journal: Journal, runId: string): Promise<Replayed> {
  const { fileWorkspace } = await import("../workspace/file-workspace.ts");
  const { signal } = interruptions;
  const recorded: RunEvent[] = [];
  const { state } = await loadRun(journal, runId, { signal, visit: (event) => recorded.push(event) });
  const about = aboutOf(runId, state.about);
  const scratch = await scratchFolder();
  try {
    const workspace = fileWorkspace({ root: scratch.path, git: false });
    const run = (await teamOf(about, recorded, { journal, workspace })).replay(runId, { signal });
    const again: RunEvent[] = [];
    for await (const event of run) again.push(event);
    const found = await foundIn(run, recorded, again);
    const steps = again.filter((event) => event.type === "step.ended").length;
    const files = (await workspace.list()).length;
    return { ...found, isWhole: state.phase.phase === "ended", events: recorded.length, steps, files };
  } finally {
    const left = await scratch.remove();
    if (left !== undefined) screen.warn(left);
  }
}

/** @throws WorkspaceError when there is no place for temporary files */
async function scratchFolder(): Promise<TemporaryFolder> {
  const [{ temporaryFolder }, { ioError }] = await Promise.all([
    import("../workspace/project-copy.ts"),
    import("../workspace/io-error.ts"),
  ]);
  try {
    return temporaryFolder("troupe-replay-");
  } catch (error) {
    throw ioError(error, "make a temporary folder", tmpdir());
  }
}

async function foundIn(
  run: Run,
  recorded: readonly RunEvent[],
  again: readonly RunEvent[],
): Promise<Pick<Replayed, "isEqual" | "text" | "difference">> {
  const { error } = await run.result;
  if (error instanceof DifferenceError) return { isEqual: false, text: replayText(error), difference: error.data };
  if (error instanceof ControlError || error instanceof JournalError || error instanceof UsageError) throw error;
  const found = difference(recorded, again);
  return found === undefined
    ? { isEqual: true, text: "", difference: undefined }
    : { isEqual: false, text: differenceText(found), difference: found };
}

/** What differs, with the record's side and that of now. */
function replayText(error: DifferenceError): string {
  const { recorded, now } = error.data as ReplayDifference;
  const found = requestDifference(recorded, now);
  return found === undefined ? error.message : `${error.message}\n${requestDifferenceText(found, ["recorded", "now"])}`;
}

interface TeamParts {
  readonly journal: Journal;
  readonly workspace: Workspace;
}

/** The company of the run as its record knows it: it looks the same and can do nothing. */
async function teamOf(about: RunAbout, recorded: readonly RunEvent[], { journal, workspace }: TeamParts): Promise<Team> {
  const { Team: Employer } = await import("../team/team.ts");
  const sandbox = muteSandbox(testedIn(recorded) ?? about.sandboxKind);
  const { muteTools } = await import("./mcp-tools.ts");
  const agentParts = { more: muteTools(about.agent?.mcpTools ?? []) };
  const { name, roles } = await crewOf({ settings: about, workspace, sandbox, agentParts });
  const quiet = (): void => {};
  return new Employer({
    name,
    roles,
    model: muteModel(about),
    journal,
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
}

/** What the model is decides what it is asked; nobody asks it. */
function muteModel({ model: { id, price } }: RunAbout): ChatModel {
  const refuse = (): never => {
    throw new UsageError("REPLAY_CALL", `Expected a replay to ask no model, but it asked ${id}. This is a fault of this program.`);
  };
  return { id, ...(price === undefined ? {} : { price }), chat: refuse, stream: refuse };
}

/** The same for the sandbox: its kind is a part of what the tests are recorded under. */
function muteSandbox(kind: Sandbox["kind"]): Sandbox {
  return { ...refusedSandbox("this is a replay", "Run the tests in the project's folder with: node --test"), kind };
}

/** Where the tests of a run ran, which may be another place than it was begun with. */
function testedIn(recorded: readonly RunEvent[]): Sandbox["kind"] | undefined {
  for (const event of recorded) {
    if (event.type !== "step.started" || event.name !== "run tests") continue;
    const { sandbox } = (event.request ?? {}) as { readonly sandbox?: unknown };
    const kind = KINDS.find((known) => known === sandbox);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

const KINDS: readonly Sandbox["kind"][] = ["bubblewrap", "none", "refused"];
