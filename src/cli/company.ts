import { readdir } from "node:fs/promises";
import { relative } from "node:path";
import { untilAborted } from "../kernel/abort.ts";
import type { Logger } from "../kernel/emit.ts";
import type { Role } from "../role/role.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { Team } from "../team/team.ts";
import type { ExistingProject } from "../workspace/existing-project.ts";
import type { FileWorkspace } from "../workspace/file-workspace.ts";
import type { IsOwn } from "../workspace/kept-files.ts";
import type { RecordedFiles } from "../workspace/recorded-files.ts";
import type { Refusal, Sandbox } from "../workspace/sandbox.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { AgentRoleParts } from "./agent-work.ts";
import type { Host } from "./host.ts";
import { NO_SERVERS, openServers } from "./mcp.ts";
import { type ChosenModel, modelsByRole } from "./model-choice.ts";
import type { ReadFile } from "./permission.ts";
import { humanPort } from "./prompt.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import type { AgentSettings, CompanySettings, CrewSettings, Worker } from "./settings.ts";

/** The name of the company: a part of its models' prompts. */
export const COMPANY = "software company";

/** Characters of a plan that a line shows. */
const LONGEST_PLAN = 2_000;

export interface CompanyParts {
  readonly settings: CompanySettings;
  readonly chosen: Pick<ChosenModel, "model" | "budget" | "secrets" | "modelOf">;
  readonly sandbox: Sandbox;
  readonly folder: string;
  readonly runId: string;
  readonly journal: Journal;
  /** Default: warnings go to the screen. */
  readonly logger?: Logger;
  /** The files that the folder has already, of a run that continues. */
  readonly past: RecordedFiles | undefined;
}

export interface Company {
  readonly team: Team;
  readonly roles: readonly Role[];
  readonly workspace: FileWorkspace;
  /** Disconnects the servers of tools. Never rejects. */
  readonly close: () => Promise<void>;
  /** The project of the user's that is changed. */
  readonly existing?: ExistingProject | undefined;
  /** Causes of the messages that are a crew's result. */
  readonly output?: readonly string[] | undefined;
  /** The agent that works instead of a company, with the state of its folder. */
  readonly agent: AgentSettings | undefined;
}

/** Opens the folder and makes the team. @throws WorkspaceError, UsageError when the folder cannot be used */
export async function openCompany(session: Session, parts: CompanyParts): Promise<Company> {
  const [{ openWorkspace }, { sha256Of }] = await Promise.all([
    import("../workspace/open-workspace.ts"),
    import("../workspace/recorded-files.ts"),
  ]);
  const { settings, folder, past } = parts;
  const isContinued = past !== undefined;
  const { signal } = session.interruptions;
  const isGuest = worksInNamedFolder(settings);
  const git = isGuest && (await holdsFilesAlone(folder)) ? false : "auto";
  // An agent in a user's folder changes files that it was asked to change; it has seen them.
  const isOwn = (path: string, content: Uint8Array): boolean => isGuest || past?.expected(path)?.has(sha256Of(content)) === true;
  const existing = await openedProject(parts, isOwn, signal);
  const workspace =
    existing?.workspace ?? (await openWorkspace({ root: folder, force: isContinued || settings.force || isGuest, git, signal, isOwn }));
  const dirty = settings.agent === undefined || isContinued ? {} : await dirtyIn(workspace, signal);
  const { close, tools } = settings.agent?.mcp === undefined ? NO_SERVERS : await openServers(session, settings.agent.mcp);
  try {
    const mcpTools = tools.length === 0 ? {} : { mcpTools: tools.map(({ spec }) => spec) };
    const agent = settings.agent && { ...settings.agent, ...dirty, ...mcpTools };
    const { screen } = session;
    const tell = (line: string): void => screen.say(screen.style.faint(shown(line, LONGEST_PLAN)));
    const diff = existing && (async (now: AbortSignal): Promise<string> => (await existing.changes(now)).diff);
    const crew = await crewOf(settings, { workspace, sandbox: parts.sandbox, more: tools, tell, diff });
    const { name, roles, reserve = [], output } = crew;
    const team = await teamOf(session, parts, { name, roles, reserve }, (path) => workspace.read(path));
    return { team, roles, output, workspace, existing, agent, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The project that is changed, where the crew changes one. @throws WorkspaceError */
async function openedProject(
  { settings: { crew, agent }, folder, runId, past }: CompanyParts,
  isOwn: IsOwn,
  signal: AbortSignal,
): Promise<ExistingProject | undefined> {
  if (agent !== undefined || !changesProject(crew)) return undefined;
  const { openExisting } = await import("../workspace/existing-project.ts");
  return openExisting({ root: folder, name: runId, isOwn, earlier: past?.paths ?? [], signal });
}

/** True for a crew that changes a project that is there. */
export function changesProject(crew: CrewSettings): boolean {
  return crew.kind === "software-company" && crew.existing === true;
}

async function teamOf(
  session: Session,
  { settings, chosen, journal, logger = session.screen.logger }: CompanyParts,
  crew: RunCrew,
  read: ReadFile,
): Promise<Team> {
  const { Team: TeamClass } = await import("../team/team.ts");
  const { model, budget, secrets, modelOf } = chosen;
  const { allowUnpriced, seed, models = {}, allowed = [] } = settings;
  const human = humanPort(session, { read, allowed });
  return new TeamClass({
    ...crew,
    model,
    models: modelsByRole([...crew.roles, ...(crew.reserve ?? [])], models, modelOf),
    journal,
    secrets,
    allowUnpriced,
    logger,
    ...(budget === undefined ? {} : { budget }),
    ...(seed === undefined ? {} : { seed }),
    ...(human === undefined ? {} : { human }),
  });
}

export interface RunCrew {
  /** Their common name: a part of their models' prompts. */
  readonly name: string;
  readonly roles: readonly Role[];
  /** Roles that no run begins with, and that a run can hire. */
  readonly reserve?: readonly Role[];
  /** Causes of the messages that are the result. */
  readonly output?: readonly string[] | undefined;
}

/** The software company, or the one agent of `troupe agent`. */
export async function crewOf(
  { agent, crew, codeReview, runTests }: Pick<CompanySettings, "codeReview" | "runTests" | "agent" | "crew">,
  parts: {
    readonly workspace: Workspace;
    readonly sandbox: Sandbox;
    /** Returns the difference to a project that is changed. */
    readonly diff?: ((signal: AbortSignal) => Promise<string>) | undefined;
  } & Pick<AgentRoleParts, "more" | "tell">,
): Promise<RunCrew> {
  if (agent !== undefined) {
    const { agentRole } = await import("./agent-work.ts");
    return { name: "", roles: [agentRole(agent, parts)] };
  }
  const { softwareCompany, waterfallCompany } = await import("../../roles/index.ts");
  const { workspace, sandbox } = parts;
  switch (crew.kind) {
    case "software-company":
      return { name: "", roles: softwareCompany({ workspace, sandbox, ...companyParts(crew, parts), review: codeReview }) };
    case "waterfall":
      return { name: COMPANY, roles: waterfallCompany({ workspace, sandbox, codeReview, runTests, implement: crew.implement !== false }) };
    case "file":
    case "module": {
      const { openedCrew } = await import("./crew-file.ts");
      return openedCrew(crew, { workspace, sandbox });
    }
  }
}

function companyParts(
  { size, stack, existing, approve, asks, allowInstall, implement }: Extract<CrewSettings, { kind: "software-company" }>,
  { diff = () => Promise.resolve("") }: Pick<Parameters<typeof crewOf>[1], "diff">,
) {
  return { size, stack, approve, asks, allowInstall, implement, ...(existing === true ? { existing, diff } : {}) };
}

/** True for a crew whose result is a delivery. */
export function provesProduct({ agent, crew }: Pick<CompanySettings, "agent" | "crew">): boolean {
  return (
    agent === undefined &&
    ((crew.kind === "software-company" && crew.implement !== false) || (crew.kind === "file" && crew.use === "software-company"))
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

/** True when a folder holds files and no repository. */
async function holdsFilesAlone(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.some((name) => name !== ".troupe") && !names.includes(".git");
}

/** More paths with changes of the user's are not kept with a run; then nothing is committed. */
const MOST_DIRTY = 2_000;

async function dirtyIn(workspace: FileWorkspace, signal: AbortSignal): Promise<Pick<AgentSettings, "dirty">> {
  const state = await workspace.inspectGit(signal);
  return state === undefined || state.changed.length > MOST_DIRTY ? {} : { dirty: state.changed };
}

/** A folder as the user would type it: relative when it lies below, absolute when not. */
export function folderName(host: Host, folder: string): string {
  const path = relative(host.cwd, folder);
  return path === "" ? "." : path.startsWith("..") ? folder : path;
}

/**
 * The sandbox for a project's tests; a warning is printed where it is not the expected one. Code of a model runs in bubblewrap or, unless the
 * user allows it, not at all. The bundled scripts are part of this package, so their tests also run without it.
 *
 * @throws ControlError when an interruption comes while bubblewrap is tried
 */
export async function sandboxFor(
  { screen, host, interruptions }: Session,
  settings: Pick<CompanySettings, "sandbox" | "runTests"> & Partial<Pick<CompanySettings, "crew">>,
  isScripted: boolean,
): Promise<Sandbox> {
  const [{ chooseSandbox }, { refusedSandbox }] = await Promise.all([
    import("../workspace/choose-sandbox.ts"),
    import("../workspace/sandbox.ts"),
  ]);
  if (!settings.runTests) return refusedSandbox("nothing is to run (--no-run-tests)", "Leave that option out.");
  const sandbox = await untilAborted(chooseSandbox(settings.sandbox), interruptions.signal);
  if (sandbox.kind === "none" && !isScripted) {
    screen.say(screen.style.warn("What the model writes runs without isolation, because of --sandbox none: it can do whatever you can."));
  }
  if (sandbox.kind !== "refused") {
    const { crew } = settings;
    const mayBePage = crew?.kind === "software-company" && (crew.stack ?? "page") === "page";
    const lack = mayBePage ? (await import("../checks/chromium.ts")).missingPageMeans(sandbox) : undefined;
    if (lack !== undefined)
      screen.say(screen.style.warn(`No page can be opened here, so criteria of a page are not checked: ${shown(lack)}`));
    return sandbox;
  }
  if (isScripted && settings.sandbox === "auto") {
    screen.say(screen.style.faint("Bubblewrap does not work here; these tests are part of the bundled script and run without it."));
    return chooseSandbox("none");
  }
  const { reason, hint } = (await sandbox.run({ root: host.cwd, command: ["node"] })) as Refusal;
  screen.say(screen.style.warn(`The project's tests will not run: ${shown(reason)}. ${shown(hint)}`));
  return sandbox;
}
