import { basename } from "node:path";
import type { Logger } from "../kernel/emit.ts";
import { JournalError, UsageError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import type { MicroUsd } from "../model/money.ts";
import type { OpenedTeam, TeamOpener, TeamRequest } from "../server/server-options.ts";
import { Team } from "../team/team.ts";
import { restoreFiles } from "../workspace/restore-files.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { aboutFor, aboutOf, recordedSettings, type RunAbout, standingOf } from "./about.ts";
import { chosenRun } from "./chosen-run.ts";
import { scratchReplay } from "./commands/replay.ts";
import { changesProject, type CompanyParts, crewOf, openCompany, sandboxFor } from "./company.ts";
import { assertSameModule, assertSound, NO_PORTS } from "./crew-file.ts";
import { demoIdeas, matchIdea } from "./demo-script.ts";
import type { Host } from "./host.ts";
import { modelOfRecord, noModel, realModel, scriptModel } from "./model-choice.ts";
import type { ChosenModel } from "./model-settings.ts";
import { withoutFixed } from "./option-values.ts";
import type { Flags } from "./options.ts";
import { inOutFolder, slugOf } from "./out-folder.ts";
import type { Session } from "./session.ts";
import type { CompanySettings } from "./settings.ts";
import { assertOurs, sealOf, type Store } from "./store.ts";
import { loadRun } from "./stored-run.ts";

export interface ServedCompanyParts {
  readonly session: Session;
  readonly store: Store;
  readonly flags: Flags;
  readonly logger: Logger;
}

/**
 * The company of `troupe serve`: each run gets a team and a folder of its own, as `troupe run` gives it. A run that goes on gets the ones
 * it was begun with. Nobody is asked at a terminal: questions wait for the server's clients.
 */
export async function servedCompany(parts: ServedCompanyParts): Promise<TeamOpener> {
  const session: Session = { ...parts.session, host: withoutPerson(parts.session.host) };
  const { settings, crew } = await chosenRun(session, parts.flags);
  if (settings.out !== undefined) {
    throw new UsageError(
      "OPTION_CONFLICT",
      "Expected no --out and no --in for a server: each run gets a folder of its own below ./workspace.",
    );
  }
  const { model } = settings;
  const chosen = model.kind === "model" ? await realModel(model.model, settings) : undefined;
  if (model.kind === "none" && model.asked !== undefined) throw noModel(model.asked, await demoIdeas());
  if (chosen !== undefined && crew !== undefined) await assertSound(session, crew, settings, chosen);
  const sandbox = await sandboxFor(session, settings, chosen === undefined);
  const company = new ServedCompany({ ...parts, session }, { settings, chosen, sandbox });
  return (request) => company.open(request);
}

interface Choices {
  readonly settings: CompanySettings;
  /** Undefined without a model: bundled ideas play from their scripts. */
  readonly chosen: ChosenModel | undefined;
  readonly sandbox: Sandbox;
}

class ServedCompany {
  readonly #parts: ServedCompanyParts;
  readonly #choices: Choices;

  constructor(parts: ServedCompanyParts, choices: Choices) {
    this.#parts = parts;
    this.#choices = choices;
  }

  open(request: TeamRequest): Promise<OpenedTeam> {
    switch (request.purpose) {
      case "start":
        return this.#start(request);
      case "resume":
      case "message":
        return this.#resume(request);
      case "fork":
        return this.#fork(request);
      case "replay":
        return this.#replay(request);
      case "look":
        return this.#look();
    }
  }

  async #start({ runId, idea = "" }: TeamRequest): Promise<OpenedTeam> {
    const { session } = this.#parts;
    const { chosen, settings, sandbox } = await this.#choicesFor(idea);
    const folder = await this.#folder(slugOf(idea));
    return this.#inFolder(folder, { settings, chosen, sandbox, folder: folder.path, runId, past: undefined }, async ({ agent }) =>
      aboutFor({
        ...{ idea, chosen, sandbox, folder: folder.path, version: session.host.version },
        settings: { ...settings, agent },
        seal: await sealOf(this.#parts.store, runId),
      }),
    );
  }

  async #resume({ runId, onTeamChange }: TeamRequest): Promise<OpenedTeam> {
    const { session, store, flags } = this.#parts;
    const run = await loadRun(store.journal, runId);
    const about = aboutOf(runId, run.state.about);
    await assertOurs(store, runId, about, false);
    const settings = recordedSettings(about, standingOf(run.state, false), withoutFixed(flags));
    if (onTeamChange !== "continue") await assertSameModule(session.host, about.crew, run.state);
    const chosen = await modelOfRecord(session, about, settings, withoutFixed(flags));
    const budget = chosen.budget ?? (run.state.budget as MicroUsd | undefined);
    const sandbox = await sandboxFor(session, settings, chosen.isScripted);
    const folder = { path: about.out, release: (): void => undefined };
    const parts = { settings, chosen: { ...chosen, budget }, sandbox, folder: about.out, runId, past: run.files };
    return this.#inFolder(folder, parts, undefined);
  }

  async #fork({ runId, parent }: TeamRequest): Promise<OpenedTeam> {
    const { session, store, flags } = this.#parts;
    if (parent === undefined) throw new JournalError("RUN_UNKNOWN", `Expected the run that ${runId} is forked from, got none.`);
    const { state } = await loadRun(store.journal, parent.runId, { at: parent.at });
    const about = aboutOf(parent.runId, state.about);
    await assertOurs(store, parent.runId, about, false);
    assertOwnProject(about);
    const settings = { ...recordedSettings(about, standingOf(state, false), withoutFixed(flags)), out: undefined };
    const chosen = await modelOfRecord(session, about, settings, withoutFixed(flags));
    const sandbox = await sandboxFor(session, settings, chosen.isScripted);
    const folder = await this.#folder(basename(about.out));
    return this.#inFolder(folder, { settings, chosen, sandbox, folder: folder.path, runId, past: undefined }, async ({ workspace }) => {
      const { signal } = session.interruptions;
      await restoreFiles(workspace, store.journal.read(parent.runId, 0), { at: state.seq - 1, signal });
      const kept = { idea: about.idea, settings, chosen, sandbox, folder: folder.path, version: session.host.version };
      return aboutFor({ ...kept, seal: await sealOf(store, runId) });
    });
  }

  async #replay({ runId }: TeamRequest): Promise<OpenedTeam> {
    const { store, session } = this.#parts;
    const { team, remove } = await scratchReplay(store.journal, runId, session.interruptions.signal);
    return {
      team,
      close: async () => {
        const left = await remove();
        if (left !== undefined) this.#parts.logger.warn(left, { run: runId });
      },
    };
  }

  async #look(): Promise<OpenedTeam> {
    const { name, roles, reserve = [] } = await crewOf(this.#choices.settings, NO_PORTS);
    return { team: new Team({ name: name === "" ? "software company" : name, roles, reserve }) };
  }

  /** The choices of a run with this idea: those of the server or, without a model, the script of a bundled idea. */
  async #choicesFor(idea: string): Promise<Choices & { readonly chosen: ChosenModel }> {
    const { settings, chosen, sandbox } = this.#choices;
    if (chosen !== undefined) return { settings, chosen, sandbox };
    const bundled = await demoIdeas();
    const known = matchIdea(idea, bundled);
    if (known === undefined) throw noModel(undefined, bundled);
    const scripted: CompanySettings = { ...settings, crew: { kind: known.crew === "waterfall" ? "waterfall" : "software-company" } };
    return { settings: scripted, chosen: scriptModel(known, scripted, this.#parts.session), sandbox };
  }

  async #inFolder(
    folder: ClaimedFolder,
    parts: Omit<CompanyParts, "journal" | "logger">,
    about: ((company: Awaited<ReturnType<typeof openCompany>>) => Promise<Json>) | undefined,
  ): Promise<OpenedTeam> {
    const { session, store, logger } = this.#parts;
    try {
      const company = await openCompany(session, { ...parts, journal: store.journal, logger });
      const close = async (): Promise<void> => {
        await company.close().finally(() => folder.release());
      };
      try {
        const kept = about === undefined ? {} : { about: (await about(company)) as { readonly [key: string]: Json } };
        return { team: company.team, rounds: parts.settings.rounds, close, ...kept };
      } catch (error) {
        await company.close();
        throw error;
      }
    } catch (error) {
      folder.release();
      throw error;
    }
  }

  async #folder(name: string): Promise<ClaimedFolder> {
    const { cwd } = this.#parts.session.host;
    return new Promise<ClaimedFolder>((resolve, reject) => {
      inOutFolder({ cwd, out: undefined, name, force: false }, (path) => {
        return new Promise<void>((release) => resolve({ path, release }));
      }).catch(reject);
    });
  }
}

interface ClaimedFolder {
  readonly path: string;
  readonly release: () => void;
}

function assertOwnProject(about: RunAbout): void {
  if (!changesProject(about.crew)) return;
  const expected = "Expected a run that made a project of its own, got one that changed a project that was there";
  throw new UsageError("FORK_CHANGE", `${expected}, whose files it does not have. Begin a new run.`);
}

/** The same process without a terminal: a server asks nobody there. */
function withoutPerson(host: Host): Host {
  const stdin = Object.create(host.stdin, { isTTY: { value: false } }) as Host["stdin"];
  return Object.create(host, { stdin: { value: stdin, enumerable: true } }) as Host;
}
