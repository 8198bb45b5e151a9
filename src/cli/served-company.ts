import { basename } from "node:path";
import type { Logger } from "../kernel/emit.ts";
import { JournalError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import type { MicroUsd } from "../model/money.ts";
import type { OpenedTeam, TeamOpener, TeamRequest } from "../server/server-options.ts";
import { Team } from "../team/team.ts";
import { restoreFiles } from "../workspace/restore-files.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { aboutFor } from "./about.ts";
import { scratchReplay } from "./commands/replay.ts";
import {
  assertOwnProject,
  type Company,
  COMPANY,
  type CompanyParts,
  crewOf,
  inOutFolder,
  openCompany,
  recordedParts,
  sandboxFor,
  slugOf,
} from "./company.ts";
import { assertSameModule, assertSound, chosenRun, NO_PORTS } from "./crew-file.ts";
import { demoIdeas, matchIdea } from "./demo-script.ts";
import type { Host } from "./host.ts";
import { noModel, realModel, scriptModel } from "./model-choice.ts";
import type { ChosenModel } from "./model-settings.ts";
import { withoutFixed } from "./option-values.ts";
import type { Flags } from "./options.ts";
import type { Session } from "./session.ts";
import { type CompanySettings, conflict } from "./settings.ts";
import { sealOf, type Store } from "./store.ts";
import { loadRun } from "./stored-run.ts";

export interface ServedCompanyParts {
  readonly session: Session;
  readonly store: Store;
  readonly flags: Flags;
  readonly logger: Logger;
}

/** Each run gets a team and a folder of its own. A run that continues gets the ones it was begun with. Questions wait for the server's clients. */
export async function servedCompany(given: ServedCompanyParts): Promise<TeamOpener> {
  const session: Session = { ...given.session, host: withoutTerminal(given.session.host) };
  const parts = { ...given, session, flags: { ...withoutFixed(given.flags), force: undefined } };
  const { settings, crew } = await chosenRun(session, given.flags);
  if (settings.out !== undefined)
    throw conflict("Expected no --out and no --in for a server: each run gets a folder of its own below ./workspace.");
  const { model } = settings;
  const chosen = model.kind === "model" ? await realModel(model.model, settings) : undefined;
  if (model.kind === "none" && model.asked !== undefined) throw noModel(model.asked, await demoIdeas());
  if (chosen !== undefined && crew !== undefined) await assertSound(session, crew, settings, chosen);
  const choices = { settings, chosen, sandbox: await sandboxFor(session, settings, chosen === undefined) };
  return async (request) => {
    switch (request.purpose) {
      case "start":
        return started(parts, choices, request);
      case "resume":
      case "message":
        return resumed(parts, request);
      case "fork":
        return forked(parts, request);
      case "replay":
        return replayed(parts, request);
      case "look": {
        const { name, roles, reserve = [] } = await crewOf(settings, NO_PORTS);
        return { team: new Team({ name: name === "" ? COMPANY : name, roles, reserve }) };
      }
    }
  };
}

/** `chosen` is undefined without a model: bundled ideas play from their scripts. */
type Choices = { readonly settings: CompanySettings; readonly chosen: ChosenModel | undefined; readonly sandbox: Sandbox };

async function started(parts: ServedCompanyParts, choices: Choices, { runId, idea = "" }: TeamRequest): Promise<OpenedTeam> {
  const { session, store } = parts;
  const { sandbox, chosen: model } = choices;
  const { chosen, settings } = model === undefined ? await scripted(session, choices, idea) : { ...choices, chosen: model };
  const folder = await claimedFolder(session.host, slugOf(idea));
  const run = { settings, chosen, sandbox, folder: folder.path, runId, past: undefined };
  return openedIn(parts, folder, run, async ({ agent }) =>
    aboutFor({ ...run, idea, version: session.host.version, settings: { ...settings, agent }, seal: await sealOf(store, runId) }),
  );
}

async function scripted(session: Session, { settings }: Choices, idea: string) {
  const bundled = await demoIdeas();
  const known = matchIdea(idea, bundled);
  if (known === undefined) throw noModel(undefined, bundled);
  const played: CompanySettings = { ...settings, crew: { kind: known.crew } };
  return { settings: played, chosen: scriptModel(known, played, session) };
}

async function resumed(parts: ServedCompanyParts, { runId, onTeamChange }: TeamRequest): Promise<OpenedTeam> {
  const run = await loadRun(parts.store.journal, runId);
  const { about, chosen, ...rest } = await recordedParts(parts.session, parts.store, run, parts.flags);
  if (onTeamChange !== "continue") await assertSameModule(parts.session.host, about.crew);
  const budget = chosen.budget ?? (run.state.budget as MicroUsd | undefined);
  const company = { ...rest, chosen: { ...chosen, budget }, folder: about.out, runId, past: run.files };
  return openedIn(parts, { path: about.out, release: () => undefined }, company, undefined);
}

async function forked(parts: ServedCompanyParts, { runId, parent }: TeamRequest): Promise<OpenedTeam> {
  const { session, store } = parts;
  if (parent === undefined) throw new JournalError("RUN_UNKNOWN", `Expected the run that ${runId} is forked from, got none.`);
  const run = await loadRun(store.journal, parent.runId, { at: parent.at });
  const { about, ...rest } = await recordedParts(session, store, run, parts.flags);
  assertOwnProject(about);
  const folder = await claimedFolder(session.host, basename(about.out));
  const company = { ...rest, settings: { ...rest.settings, out: undefined }, folder: folder.path, runId, past: undefined };
  return openedIn(parts, folder, company, async ({ workspace }) => {
    const { signal } = session.interruptions;
    await restoreFiles(workspace, store.journal.read(parent.runId, 0), { at: run.state.seq - 1, signal });
    return aboutFor({ ...company, idea: about.idea, version: session.host.version, seal: await sealOf(store, runId) });
  });
}

async function replayed({ session, store, logger }: ServedCompanyParts, { runId }: TeamRequest): Promise<OpenedTeam> {
  const { team, remove } = await scratchReplay(store.journal, runId, session.interruptions.signal);
  const close = async (): Promise<void> => {
    const left = await remove();
    if (left !== undefined) logger.warn(left, { run: runId });
  };
  return { team, close };
}

async function openedIn(
  { session, store, logger }: ServedCompanyParts,
  folder: ClaimedFolder,
  parts: Omit<CompanyParts, "journal" | "logger">,
  about: ((company: Company) => Promise<Json>) | undefined,
): Promise<OpenedTeam> {
  let company: Company | undefined;
  const close = async (): Promise<void> => {
    await company?.close();
    folder.release();
  };
  try {
    company = await openCompany(session, { ...parts, journal: store.journal, logger });
    const kept = about === undefined ? {} : { about: (await about(company)) as { readonly [key: string]: Json } };
    return { team: company.team, rounds: parts.settings.rounds, close, ...kept };
  } catch (error) {
    await close();
    throw error;
  }
}

interface ClaimedFolder {
  readonly path: string;
  readonly release: () => void;
}

function claimedFolder({ cwd }: Host, name: string): Promise<ClaimedFolder> {
  return new Promise<ClaimedFolder>((resolve, reject) => {
    inOutFolder({ cwd, out: undefined, name, force: false }, (path) => {
      return new Promise<void>((release) => resolve({ path, release }));
    }).catch(reject);
  });
}

/** The same process without a terminal: a server asks no one there. */
function withoutTerminal(host: Host): Host {
  const stdin = Object.create(host.stdin, { isTTY: { value: false } }) as Host["stdin"];
  return Object.create(host, { stdin: { value: stdin, enumerable: true } }) as Host;
}
