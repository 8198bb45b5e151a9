import { relative } from "node:path";
import { WaitingError } from "../kernel/errors.ts";
import type { HumanPort, HumanQuestion } from "../tool/human-port.ts";
import type { Role } from "../role/role.ts";
import type { Team } from "../team/team.ts";
import type { FileWorkspace } from "../workspace/file-workspace.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import type { Journal } from "../run/journal.ts";
import { crewOf } from "./crew.ts";
import { canAsk, type Host } from "./host.ts";
import type { ChosenModel } from "./model-choice.ts";
import { promptLine } from "./prompt.ts";
import { LONGEST_QUESTION, shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import type { CompanySettings } from "./settings.ts";

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
}

/**
 * Opens the folder and hires everyone.
 *
 * @throws WorkspaceError, UsageError when the folder cannot be used
 */
export async function openCompany(session: Session, parts: CompanyParts): Promise<Company> {
  const [{ openWorkspace }, { Team: Employer }] = await Promise.all([import("../workspace/open-workspace.ts"), import("../team/team.ts")]);
  const { settings, sandbox, folder, journal, isGoingOn } = parts;
  const { model, budget, secrets } = parts.chosen;
  const { signal } = session.interruptions;
  const workspace = await openWorkspace({ root: folder, force: isGoingOn || settings.force, signal });
  const { name, roles } = await crewOf({ settings, workspace, sandbox });
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
  return { team, roles, workspace };
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
