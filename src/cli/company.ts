import type { KeptDocuments } from "../../actions/company/specify.ts";
import { mkdir, readdir, rmdir } from "node:fs/promises";
import { softwareCompany, waterfallCompany } from "../../roles/index.ts";
import { untilAborted } from "../kernel/abort.ts";
import type { Logger } from "../kernel/emit.ts";
import { UsageError, WorkspaceError } from "../kernel/errors.ts";
import { defined, mapped } from "../kernel/value-kind.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { Role } from "../role/role.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { Team } from "../team/team.ts";
import { chooseSandbox } from "../workspace/choose-sandbox.ts";
import { openWorkspace } from "../workspace/open-workspace.ts";
import { type RecordedFiles, sha256Of } from "../workspace/recorded-files.ts";
import { type Refusal, refusedSandbox, type Sandbox } from "../workspace/sandbox.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { AgentRoleParts } from "./agent-role.ts";
import { documentsBeside } from "./kept-documents.ts";
import { openedCrew } from "./crew-file.ts";
import { NO_SERVERS, openServers } from "./mcp.ts";
import { allowWorker, outsideWorker, workerSettings } from "./outside-worker.ts";
import type { Host } from "./host.ts";
import { modelOfRecord, modelsByRole } from "./model-choice.ts";
import type { ChosenModel } from "./model-settings.ts";
import type { ReadFile } from "./permission.ts";
import { humanPort } from "./prompt.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import type { CompanySettings, CrewSettings, Worker } from "./settings.ts";
import { join, resolve } from "node:path";
import { systemCode } from "../kernel/system-error.ts";
import type { LoadedRun } from "./stored-run.ts";
import { aboutOf, recordedSettings, standingOf } from "./about.ts";
import { assertOurs, isOurs, type Store } from "./store.ts";
import type { Flags } from "./options.ts";

export const COMPANY = "software company";

const MAX_PLAN = 2_000;
/** More paths with changes of the user's are not kept with a run; then nothing is committed. */
const MAX_DIRTY = 2_000;

export interface CompanyParts {
  readonly settings: CompanySettings;
  readonly chosen: Pick<ChosenModel, "model" | "budget" | "secrets" | "modelOf">;
  readonly sandbox: Sandbox;
  readonly folder: string;
  readonly runId: string;
  readonly journal: Journal;
  /** Default: warnings go to the screen. */
  readonly logger?: Logger;
  readonly past: RecordedFiles | undefined;
}

export type Company = Awaited<ReturnType<typeof openCompany>>;

export async function openCompany(session: Session, parts: CompanyParts) {
  const { settings, folder, past, runId } = parts;
  const { screen } = session;
  const { signal } = session.interruptions;
  const isContinued = past !== undefined;
  const isGuest = worksInNamedFolder(settings);
  // An agent in a user's folder changes files that it was asked to change; it has seen them.
  const isOwn = (path: string, content: Uint8Array): boolean => isGuest || past?.expected(path)?.has(sha256Of(content)) === true;
  const { crew: chosen } = settings;
  const isChange = settings.agent === undefined && changesProject(chosen);
  const loaded = isChange ? await import("../workspace/existing-project.ts") : undefined;
  const existing = await loaded?.openExisting({
    root: folder,
    name: runId,
    isOwn,
    earlier: past?.paths ?? [],
    inFolder: chosen.kind === "software-company" && chosen.inFolder === true,
    signal,
  });
  const git = isGuest && (await holdsFilesAlone(folder)) ? false : "auto";
  const force = isContinued || settings.force || isGuest;
  const workspace = existing?.workspace ?? (await openWorkspace({ root: folder, force, git, signal, isOwn }));
  const state = settings.agent === undefined || isContinued ? undefined : await workspace.inspectGit(signal);
  const dirty = state === undefined || state.changed.length > MAX_DIRTY ? {} : { dirty: state.changed };
  const { close, tools } = settings.agent?.mcp === undefined ? NO_SERVERS : await openServers(session, settings.agent.mcp);
  try {
    const mcpTools = tools.length === 0 ? {} : { mcpTools: tools.map(({ spec }) => spec) };
    const agent = settings.agent && { ...settings.agent, ...dirty, ...mcpTools };
    const say = (line: string): void => screen.say(screen.style.faint(shown(line, MAX_PLAN)));
    const diff = existing && (async (now: AbortSignal): Promise<string> => (await existing.changes(now)).diff);
    const isWanted = chosen.kind === "software-company" && chosen.documents === true;
    const documents = existing && !isWanted ? await documentsBeside(workspace, folder) : undefined;
    const ports = { workspace, sandbox: parts.sandbox, host: session.host };
    const models = mapped(settings.models ?? {}, parts.chosen.modelOf);
    const crew = await crewOf(settings, { ...ports, more: tools, say, diff, documents, models });
    if (existing?.place.kind === "folder" && workerSettings(chosen) !== undefined) throw noWorktree(existing.place.reason);
    const { name, roles, reserve = [], output } = crew;
    const team = teamOf(session, parts, { name, roles, reserve }, (path) => workspace.read(path));
    return { team, roles, output, workspace, existing, agent, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function noWorktree(reason: string): UsageError {
  const expected = `Expected a git repository for the worktree of the worker, but ${reason}`;
  return new UsageError("WORKER_FOLDER", `${expected}. Leave out --worker or --in-folder, or make a repository with a commit: git init.`);
}

export function changesProject(crew: CrewSettings): boolean {
  return crew.kind === "software-company" && crew.existing === true;
}

export function assertOwnProject({ crew }: Pick<CompanySettings, "crew">): void {
  if (!changesProject(crew)) return;
  const expected = "Expected a run that made a project of its own, got one that changed a project that was there";
  throw new UsageError("FORK_CHANGE", `${expected}, whose files it does not have. Begin a new run: troupe --in <dir>`);
}

function teamOf(
  session: Session,
  { settings, chosen, journal, logger = session.screen.logger }: CompanyParts,
  crew: RunCrew,
  read: ReadFile,
): Team {
  const { model, budget, secrets, modelOf } = chosen;
  const { allowUnpriced, seed, models = {}, allowed = [] } = settings;
  return new Team({
    ...crew,
    model,
    models: modelsByRole([...crew.roles, ...(crew.reserve ?? [])], models, modelOf),
    journal,
    secrets,
    allowUnpriced,
    logger,
    ...defined({ budget, seed, human: humanPort(session, { read, allowed }) }),
  });
}

export interface RunCrew {
  readonly name: string;
  readonly roles: readonly Role[];
  readonly reserve?: readonly Role[];
  readonly output?: readonly string[] | undefined;
}

interface CrewParts extends Pick<AgentRoleParts, "more" | "say"> {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly diff?: ((signal: AbortSignal) => Promise<string>) | undefined;
  /** The folder and the environment of the command, of which a worker gets a part. */
  readonly host?: Pick<Host, "env" | "cwd">;
  readonly models?: Readonly<Record<string, ChatModel>>;
  readonly documents?: KeptDocuments | undefined;
}

export async function crewOf(
  { agent, crew, codeReview, runTests }: Pick<CompanySettings, "codeReview" | "runTests" | "agent" | "crew">,
  parts: CrewParts,
): Promise<RunCrew> {
  if (agent !== undefined) {
    const { host: _host, ...ports } = parts;
    const { agentRole } = await import("./agent-role.ts");
    return { name: "", roles: [agentRole(agent, ports)] };
  }
  const { workspace, sandbox, documents, diff = () => Promise.resolve("") } = parts;
  switch (crew.kind) {
    case "software-company": {
      const { existing, implement, isSpec, size, stack, approve, asks, allowInstall } = crew;
      const until = isSpec === true ? "criteria" : implement === false ? "design" : undefined;
      const outside = workerSettings(crew);
      const worker = outside === undefined ? undefined : await outsideWorker(parts.host ?? { env: {}, cwd: workspace.root }, outside);
      const options = { size, stack, approve, asks, allowInstall, worker };
      const change = existing === true ? { existing, diff, documents } : {};
      return { name: "", roles: softwareCompany({ workspace, sandbox, ...options, ...change, until, review: codeReview }) };
    }
    case "waterfall":
      return { name: COMPANY, roles: waterfallCompany({ workspace, sandbox, codeReview, runTests, implement: crew.implement !== false }) };
    case "file":
    case "module":
      return openedCrew(crew, { workspace, sandbox }, parts.models);
  }
}

export function provesProduct({ agent, crew }: Pick<CompanySettings, "agent" | "crew">): boolean {
  return (
    agent === undefined &&
    ((crew.kind === "software-company" && crew.implement !== false && crew.isSpec !== true) ||
      (crew.kind === "file" && crew.use === "software-company"))
  );
}

export function workerOf({ agent, crew }: { readonly agent?: unknown; readonly crew?: CrewSettings | undefined }): Worker {
  if (agent !== undefined) return "agent";
  return crew?.kind === "file" || crew?.kind === "module" ? "crew" : "company";
}

/** True for an agent or a crew in a folder that the user named: it works on the files there, and no repository is made of the folder. */
export function worksInNamedFolder(settings: CompanySettings): boolean {
  return workerOf(settings) !== "company" && settings.out !== undefined;
}

async function holdsFilesAlone(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.some((name) => name !== ".troupe") && !names.includes(".git");
}

/** Code of a model runs in bubblewrap or, unless the user allows it, not at all. Bundled scripts are trusted: they are part of this package. */
export async function sandboxFor(
  { screen, host, interruptions }: Session,
  { sandbox: wanted, runTests, crew }: Pick<CompanySettings, "sandbox" | "runTests"> & Partial<Pick<CompanySettings, "crew">>,
  isScripted: boolean,
): Promise<Sandbox> {
  const warn = (text: string): void => screen.say(screen.style.warn(text));
  if (!runTests) return refusedSandbox("nothing is to run (--no-run-tests)", "Leave that option out.");
  const sandbox = await untilAborted(chooseSandbox(wanted), interruptions.signal);
  if (sandbox.kind === "none" && !isScripted)
    warn("What the model writes runs without isolation, because of --sandbox none: it can do whatever you can.");
  if (sandbox.kind !== "refused") {
    const mayBePage = crew?.kind === "software-company" && (crew.stack ?? "page") === "page";
    const lack = mayBePage ? (await import("../checks/chromium.ts")).missingPageMeans(sandbox) : undefined;
    if (lack !== undefined) warn(`No page can be opened here, so criteria of a page are not checked: ${shown(lack)}`);
    return sandbox;
  }
  if (isScripted && wanted === "auto") {
    screen.say(screen.style.faint("Bubblewrap does not work here; these tests are part of the bundled script and run without it."));
    return chooseSandbox("none");
  }
  const { reason, hint } = (await sandbox.run({ root: host.cwd, command: ["node"] })) as Refusal;
  warn(`The project's tests will not run: ${shown(reason)}. ${shown(hint)}`);
  return sandbox;
}

const MAX_SIBLINGS = 1_000;
const SLUG_LENGTH = 40;
const OPENING =
  /^(please|can|could|you|i|want|need|would|like|to|let|us|lets|create|make|build|write|develop|implement|design|generate|code|program|me|us|a|an|the|some|simple|small)-/;

export interface OutFolderRequest {
  readonly cwd: string;
  readonly out: string | undefined;
  readonly name: string;
  readonly force: boolean;
}

/** A folder that the user did not name is made here, which only one process can; it is removed if it stays empty. */
export async function inOutFolder<T>({ cwd, out, name, force }: OutFolderRequest, work: (folder: string) => Promise<T>): Promise<T> {
  if (out !== undefined) return work(resolve(cwd, out));
  const shelf = join(cwd, "workspace");
  if (force) return work(join(shelf, name));
  // Other errors than a taken name are reported when the folder is opened.
  const made = await mkdir(shelf, { recursive: true }).catch(() => undefined);
  const folder = await newFolder(join(shelf, name));
  try {
    return await work(folder);
  } finally {
    for (const empty of [folder, ...(made === undefined ? [] : [shelf])]) await rmdir(empty).catch(() => {});
  }
}

async function newFolder(first: string): Promise<string> {
  for (let n = 1; n <= MAX_SIBLINGS; n++) {
    const folder = n === 1 ? first : `${first}-${n}`;
    const error = await mkdir(folder).then(() => undefined, systemCode);
    if (error !== "EEXIST") return folder;
  }
  const expected = `Expected a free folder beside "${shown(first)}", but ${MAX_SIBLINGS} are taken`;
  throw new WorkspaceError("WORKSPACE_CROWDED", `${expected}. Name one: --out <dir>.`);
}

export function slugOf(idea: string): string {
  const plain = idea
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\p{M}'’]/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  let words = plain;
  while (OPENING.test(words)) words = words.replace(OPENING, "");
  if (words.length <= SLUG_LENGTH) return words === "" ? "project" : words;
  const cut = words.slice(0, SLUG_LENGTH + 1);
  const atWord = cut.slice(0, Math.max(cut.lastIndexOf("-"), 0));
  return atWord === "" ? words.slice(0, SLUG_LENGTH) : atWord;
}

export async function recordedParts(
  session: Session,
  store: Store,
  { runId, state }: LoadedRun,
  flags: Flags,
  hasMessage: boolean = false,
) {
  const about = aboutOf(runId, state.about);
  await assertOurs(store, runId, about, flags.force === true);
  const worker = workerSettings(about.crew);
  // A run of this store was allowed when it began.
  if (worker !== undefined) await allowWorker(session, worker, flags.allowWorker === true || (await isOurs(store, runId, about)));
  const settings = recordedSettings(about, standingOf(state, hasMessage), flags);
  const chosen = await modelOfRecord(session, about, settings, flags);
  return { about, settings, chosen, sandbox: await sandboxFor(session, settings, chosen.isScripted) };
}
