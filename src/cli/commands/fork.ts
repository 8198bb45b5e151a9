import { basename } from "node:path";
import { throwIfAborted } from "../../kernel/abort.ts";
import { freshRunId } from "../../kernel/id.ts";
import { aboutFor, aboutOf, type RunAbout } from "../about.ts";
import { folderName } from "../company.ts";
import { confirmPaidRun } from "../confirm.ts";
import { demoIdeas } from "../demo-ideas.ts";
import type { ExitCode } from "../exit-code.ts";
import { lostBehind, withWholePlace } from "../damaged-parent.ts";
import { type ForkFlags, type ForkPlan, forkPlan, forkWishes } from "../fork-plan.ts";
import { chosenAgain } from "../go-on.ts";
import type { Host } from "../host.ts";
import { type LoadedRun, loadRun } from "../loaded-run.ts";
import { type ChosenModel, noModel, realModel } from "../model-choice.ts";
import { inOutFolder } from "../out-folder.ts";
import { workerOf } from "../crew.ts";
import { boundsOf, type Production, produce, testsPlan } from "../production.ts";
import { recordedModel, recordedSettings } from "../recorded-settings.ts";
import { findRun } from "../run-id.ts";
import { sandboxFor } from "../sandbox-choice.ts";
import { shown } from "../screen/text.ts";
import { assertOurs, sealOf } from "../seal.ts";
import { inSession, type Session } from "../session.ts";
import { type CompanySettings, companySettings, reuseOf } from "../settings.ts";
import { type Store, withRuns } from "../store.ts";

/** `troupe fork <id>`: a new run that shares the past of another, in a folder of its own. */
export function forkCommand(host: Host, id: string, flags: ForkFlags): Promise<ExitCode> {
  return inSession(host, flags, (session) =>
    withRuns(session, flags, async (store) => {
      const ids = (await store.journal.runs()).map(({ runId }) => runId);
      const parentId = findRun(ids, id);
      return forked(session, { ...(await planned(session, store, parentId, flags)), store, flags });
    }),
  );
}

/** @throws JournalError `FORK_POINT`, `JOURNAL_DAMAGED`; UsageError see {@link forkWishes} and {@link forkPlan} */
async function planned(
  { host, interruptions }: Session,
  { journal }: Store,
  parentId: string,
  flags: ForkFlags,
): Promise<Pick<Fork, "parent" | "plan">> {
  try {
    const wishes = await forkWishes(host, journal, parentId, flags);
    const parent = await loadRun(journal, parentId, { at: wishes.at, signal: interruptions.signal });
    return { parent, plan: await forkPlan(wishes, parent.state) };
  } catch (error) {
    throw withWholePlace(error);
  }
}

interface Fork {
  readonly store: Store;
  /** As far as it is shared. */
  readonly parent: LoadedRun;
  readonly plan: ForkPlan;
  readonly flags: ForkFlags;
}

async function forked(session: Session, fork: Fork): Promise<ExitCode> {
  const { host, interruptions, screen } = session;
  const { parent, plan, flags } = fork;
  const about = aboutOf(parent.runId, parent.state.about);
  await assertOurs(fork.store, parent.runId, about, flags.force === true);
  const { out, seed = about.seed } = companySettings(flags);
  reuseOf(flags);
  const settings: CompanySettings = { ...recordedSettings(about, parent.state, flags), out, seed };
  const chosen = await chosenFor(session, about, settings, flags);
  const sandbox = await sandboxFor(session, settings, chosen.isScripted);
  screen.say(screen.style.strong(`Forking run ${shown(parent.runId, 100)} at event ${plan.at}.`));
  screen.insist((await lostBehind(fork.store.journal, parent.runId, plan.at, interruptions.signal)).map((line) => screen.style.warn(line)));
  return inOutFolder({ cwd: host.cwd, out: settings.out, name: basename(about.out), force: settings.force }, async (folder) => {
    if (chosen.isPaid && flags.yes !== true) {
      const by = workerOf(settings);
      const bounds = { by, model: chosen.text, budget: chosen.budget, bounds: boundsOf(settings), tests: testsPlan(settings, sandbox) };
      await confirmPaidRun(session, { idea: `fork of: ${about.idea}`, isDoubtful: false, folder: folderName(host, folder), ...bounds });
    }
    throwIfAborted(interruptions.signal);
    return produce(session, await productionOf(session, fork, { about, settings, chosen, sandbox, folder }));
  });
}

/** The parent's model, unless the options name another or another place. */
async function chosenFor(session: Session, about: RunAbout, settings: CompanySettings, flags: ForkFlags): Promise<ChosenModel> {
  if (about.demo === undefined || (flags.model === undefined && flags.baseUrl === undefined))
    return chosenAgain(session, about, settings, flags);
  const choice = recordedModel(about, flags, session.host.env);
  if (choice.kind === "none") throw noModel(choice.asked, await demoIdeas());
  return realModel(choice.model, settings);
}

type Chosen = Pick<Production, "settings" | "chosen" | "sandbox" | "folder"> & { readonly about: RunAbout };

async function productionOf({ host, interruptions }: Session, { store, parent, plan, flags }: Fork, parts: Chosen): Promise<Production> {
  const { about, settings } = parts;
  const { signal } = interruptions;
  const runId = freshRunId(host.clock.now());
  const own = aboutFor({ ...parts, idea: about.idea, version: host.version, seal: await sealOf(store, runId) });
  return {
    ...parts,
    store,
    runId,
    // Nothing of what the parent paid is paid here.
    past: { progress: { ...parent.progress, spent: 0, unpriced: 0, tokens: 0 }, held: 0, hasFiles: false },
    prepare: async ({ workspace }) => {
      const { restoreFiles } = await import("../../workspace/restore-files.ts");
      await restoreFiles(workspace, store.journal.read(parent.runId, 0), { at: plan.at, signal });
    },
    begin: ({ team }) =>
      team.fork(parent.runId, {
        id: runId,
        at: plan.at,
        change: plan.changes,
        add: plan.add,
        about: own,
        rounds: settings.rounds,
        reuse: reuseOf(flags),
        ...(settings.seed === undefined ? {} : { seed: settings.seed }),
        signal,
      }),
  };
}
