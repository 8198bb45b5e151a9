import { throwIfAborted } from "../kernel/abort.ts";
import { AbortedError } from "../kernel/errors.ts";
import type { MicroUsd } from "../model/money.ts";
import type { Run } from "../team/run.ts";
import type { ResumeOptions } from "../team/team-options.ts";
import type { Team } from "../team/team.ts";
import type { ChangedFile } from "../workspace/changed-files.ts";
import type { RunAbout } from "./about.ts";
import { aboutOf } from "./about.ts";
import { isYes } from "./confirm.ts";
import { demoIdeas } from "./demo-ideas.ts";
import type { ExitCode } from "./exit-code.ts";
import { canAsk, canDraw } from "./host.ts";
import type { LoadedRun } from "./loaded-run.ts";
import { type ChosenModel, noModel, realModel, scriptModel } from "./model-choice.ts";
import { produce } from "./production.ts";
import { promptLine } from "./prompt.ts";
import { recordedModel, recordedSettings } from "./recorded-settings.ts";
import { sandboxFor } from "./sandbox-choice.ts";
import { shown } from "./screen/text.ts";
import { assertOurs } from "./seal.ts";
import type { Session } from "./session.ts";
import { type CompanySettings, type Flags, reuseOf } from "./settings.ts";
import type { Store } from "./store.ts";

/** Files that a screen names. */
const NAMED = 50;

/** How a run of the record goes on. */
export interface GoingOn {
  readonly store: Store;
  readonly run: LoadedRun;
  readonly flags: Flags;
  /** Lets it go on; `o` is what the team is told. */
  readonly begin: (team: Team, o: ResumeOptions) => Run;
}

/**
 * Goes on with a run, in the folder and with the model it was begun with.
 *
 * @throws UsageError `RUN_FOREIGN`, `RUN_ELSEWHERE`, `OPTION_INVALID`; WorkspaceError `WORKSPACE_CHANGED`; JournalError what the team refuses by
 */
export async function goOn(session: Session, { store, run, flags, begin }: GoingOn): Promise<ExitCode> {
  const about = aboutOf(run.runId, run.state.about);
  await assertOurs(store, run.runId, about, flags.force === true);
  const settings = recordedSettings(about, run.state, flags);
  const reuse = reuseOf(flags);
  const { signal } = session.interruptions;
  await checkFiles(session, about, run, settings.force);
  const chosen = await chosenAgain(session, about, settings, flags);
  const budget = chosen.budget ?? (run.state.budget as MicroUsd | undefined);
  const sandbox = await sandboxFor(session, settings, chosen.isScripted);
  throwIfAborted(signal);
  const { rounds, force } = settings;
  return produce(session, {
    settings,
    chosen: { ...chosen, budget },
    sandbox,
    folder: about.out,
    store,
    runId: run.runId,
    past: { progress: run.progress, held: run.held, hasFiles: true },
    begin: ({ team }) => begin(team, { rounds, signal, force, reuse }),
  });
}

/** The model of a recorded run: its script, or where it is reached now. @throws ModelError `MODEL_AUTH`, UsageError */
export async function chosenAgain(session: Session, about: RunAbout, settings: CompanySettings, flags: Flags): Promise<ChosenModel> {
  const { host, output } = session;
  const bundled = await demoIdeas();
  const script = bundled.find(({ id }) => id === about.demo);
  if (script !== undefined) return scriptModel(script, settings, { isWatched: canDraw(host) && !output.isQuiet });
  const choice = recordedModel(about, flags, host.env);
  if (choice.kind === "none") throw noModel(choice.asked, bundled);
  return realModel(choice.model, settings);
}

/** Tells which files are not as the run left them. Going on writes over some of them, so somebody has to agree. */
async function checkFiles(session: Session, { out, agent }: RunAbout, { files, runId }: LoadedRun, isForced: boolean): Promise<void> {
  const [{ fileWorkspace }, { changesSince, assertUnchanged }] = await Promise.all([
    import("../workspace/file-workspace.ts"),
    import("../workspace/changed-files.ts"),
  ]);
  const all = await changesSince(files, fileWorkspace({ root: out, git: false }));
  // An agent works among files of others, and writes over none that it has not seen.
  const changes = agent === undefined ? all : all.filter(({ change }) => change !== "added");
  if (changes.length === 0) return;
  const { screen, host, interruptions } = session;
  screen.insist([screen.style.warn("Since the run stopped, its folder has changed:"), ...changeLines(changes)], 4);
  if (isForced) return;
  if (!canAsk(host)) assertUnchanged(changes, out);
  const answer = await screen.aside(() =>
    promptLine(host, interruptions, "Go on with them as they are? The company may write over them. [y/N] "),
  );
  if (!isYes(answer, false)) throw new AbortedError(`run ${runId} was not gone on with`);
}

function changeLines(changes: readonly ChangedFile[]): readonly string[] {
  const named = changes.slice(0, NAMED).map(({ path, change }) => `  ${change.padEnd(7)}  ${shown(path, 200)}`);
  return changes.length > named.length ? [...named, `  and ${changes.length - named.length} more`] : named;
}
