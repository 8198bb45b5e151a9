import { readdir } from "node:fs/promises";
import { relative } from "node:path";
import { WaitingError } from "../kernel/errors.ts";
import type { HumanPort, HumanQuestion } from "../tool/approval.ts";
import type { Role } from "../role/role.ts";
import type { Team } from "../team/team.ts";
import type { FileWorkspace } from "../workspace/file-workspace.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { Tool } from "../tool/tool.ts";
import { NO_SERVERS, openServers } from "./mcp-tools.ts";
import { foundBefore } from "./agent-commit.ts";
import type { AgentSettings } from "./agent-settings.ts";
import { crewOf } from "./crew.ts";
import { canAsk, type Host } from "./host.ts";
import type { ChosenModel } from "./model-choice.ts";
import { promptLine } from "./prompt.ts";
import { LONGEST_QUESTION, shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import type { CompanySettings } from "./settings.ts";

/** Characters of a plan that a line shows. */
const LONGEST_PLAN = 2_000;

/** What a company is made of, once everything is chosen. */
export interface CompanyParts {
  readonly settings: CompanySettings;
  readonly chosen: Pick<ChosenModel, "model" | "budget" | "secrets">;
  readonly sandbox: Sandbox;
  readonly folder: string;
  readonly journal: Journal;
  /** Whether the folder may hold files. */
  readonly isGoingOn: boolean;
}

/** A company ready to run. */
export interface Company {
  readonly team: Team;
  readonly roles: readonly Role[];
  readonly workspace: FileWorkspace;
  /** Lets go of what was opened for it besides its folder. Never rejects. */
  readonly close: () => Promise<void>;
  /** The agent that works instead of a company, with what was found where it works. */
  readonly agent: AgentSettings | undefined;
}

/**
 * Opens the folder and hires everyone.
 *
 * @throws WorkspaceError, UsageError when the folder cannot be used
 */
export async function openCompany(session: Session, parts: CompanyParts): Promise<Company> {
  const { openWorkspace } = await import("../workspace/open-workspace.ts");
  const { settings, folder, isGoingOn } = parts;
  const { signal } = session.interruptions;
  // An agent that is sent to a folder works on what is there; no repository is made of somebody's folder.
  const isSent = settings.agent !== undefined && settings.out !== undefined;
  const git = isSent && (await holdsFilesAlone(folder)) ? false : "auto";
  const workspace = await openWorkspace({ root: folder, force: isGoingOn || settings.force || isSent, git, signal });
  const found = settings.agent === undefined || isGoingOn ? {} : await foundBefore(workspace, signal);
  const servers = settings.agent?.mcp === undefined ? NO_SERVERS : await openServers(session, settings.agent.mcp);
  const { close, tools: more } = servers;
  try {
    const offered = more.length === 0 ? {} : { mcpTools: more.map(({ spec }) => spec) };
    const agent = settings.agent === undefined ? undefined : { ...settings.agent, ...found, ...offered };
    return { ...(await hired(session, parts, workspace, more)), workspace, agent, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function hired(
  session: Session,
  { settings, chosen, sandbox, journal }: CompanyParts,
  workspace: FileWorkspace,
  more: readonly Tool[],
): Promise<Pick<Company, "team" | "roles">> {
  const { Team: Employer } = await import("../team/team.ts");
  const { model, budget, secrets } = chosen;
  const { screen } = session;
  const agentParts = { more, tell: (line: string) => screen.say(screen.style.faint(shown(line, LONGEST_PLAN))) };
  const { name, roles } = await crewOf({ settings, workspace, sandbox, agentParts });
  const human = humanPort(session);
  const quiet = (): void => {};
  const team = new Employer({
    name,
    roles,
    model,
    journal,
    secrets,
    allowUnpriced: settings.allowUnpriced,
    logger: { debug: quiet, info: quiet, warn: (text) => session.screen.warn(text), error: (text) => session.screen.warn(text) },
    ...(budget === undefined ? {} : { budget }),
    ...(settings.seed === undefined ? {} : { seed: settings.seed }),
    ...(human === undefined ? {} : { human }),
  });
  return { team, roles };
}

/** Whether a folder holds files and no repository. */
async function holdsFilesAlone(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.some((name) => name !== ".troupe") && !names.includes(".git");
}

/** The person at the terminal, one question at a time. Without one, a question ends the run with status `waiting`. */
export function humanPort(session: Session): HumanPort | undefined {
  if (!canAsk(session.host)) return undefined;
  let line: Promise<unknown> = Promise.resolve();
  return (question, { signal }) => {
    const answer = line.then(() => askPerson(session, question, signal));
    line = answer.catch(() => undefined);
    return answer;
  };
}

function askPerson(session: Session, { id, role, text }: HumanQuestion, signal: AbortSignal): Promise<string> {
  const { host, screen, interruptions } = session;
  return screen.aside(async () => {
    screen.insist([
      screen.style.strong(`${shown(role)} asks you:`),
      ...text.split("\n").map((line) => `  ${shown(line, LONGEST_QUESTION)}`),
    ]);
    const answer = await promptLine(host, interruptions, "> ", signal);
    if (answer === undefined) throw new WaitingError({ questionId: id, question: text, role });
    return answer;
  });
}

/** A folder as the user would type it: relative when it lies below, absolute when not. */
export function folderName(host: Host, folder: string): string {
  const path = relative(host.cwd, folder);
  return path === "" ? "." : path.startsWith("..") ? folder : path;
}
