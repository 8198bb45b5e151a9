import { resolve } from "node:path";
import type { RunWorkspaces } from "../fleet/index.ts";
import type { Logger } from "../kernel/emit.ts";
import { UsageError } from "../kernel/errors.ts";
import { isObject } from "../kernel/value-kind.ts";
import { listed, thrownText, valueText } from "../kernel/value-text.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { RunDriver } from "../team/run-driver.ts";
import type { Team } from "../team/team.ts";
import { shown } from "./screen/text.ts";
import { importedModule, isFile } from "./text-file.ts";

export interface TeamMeans {
  /** Every team must have it. */
  readonly journal: Journal;
  readonly driver: RunDriver;
  readonly logger: Logger;
  /** The folders of runs, below `--folder`: roles of a run are made with `folderOf(runId)`. */
  readonly workspaces: Pick<RunWorkspaces, "folderOf">;
}

const HINT = "Export functions that return a team: export const writers = ({ journal }) => new Team({ name, roles, model, journal });";

/** Makes the teams of a module: each function that it exports returns a team, also in a list. Other exports are left alone. */
export async function teamsOf(file: string, cwd: string, means: TeamMeans): Promise<readonly Team[]> {
  const path = resolve(cwd, file);
  const name = shown(file, 200);
  if (!(await isFile(path))) throw new UsageError("TEAMS_UNREADABLE", `Expected a module of teams at ${name}, got no such file. ${HINT}`);
  const loaded = await importedModule(path, "a module of teams", "TEAMS_UNREADABLE");
  const makers = Object.entries(loaded).flatMap(([key, given]) => {
    const all: readonly unknown[] = Array.isArray(given) ? given : [given];
    return all.some((one) => isMaker(one) || isTeam(one)) ? all.map((maker) => [key, maker] as const) : [];
  });
  if (makers.length === 0) {
    const names = Object.keys(loaded).map((key) => shown(key, 60));
    throw invalid(`${name} to export functions that return teams`, names.length === 0 ? "nothing" : listed(names, 10));
  }
  const teams: Team[] = [];
  for (const [key, maker] of makers) teams.push(await made(`${name}, export ${shown(key, 60)}`, maker, means));
  return teams;
}

async function made(where: string, maker: unknown, means: TeamMeans): Promise<Team> {
  if (!isMaker(maker)) throw invalid(`a function that returns a team in ${where}`, valueText(maker));
  let team: unknown;
  try {
    team = await maker(means);
  } catch (cause) {
    const text = `Expected a team of ${where}, but its function failed: ${shown(thrownText(cause), 300)}`;
    throw new UsageError("TEAMS_INVALID", text, { cause });
  }
  if (!isTeam(team)) throw invalid(`a team of ${where}`, valueText(team));
  if (team.journal === means.journal) return team;
  throw invalid(`the team of ${where} to have the journal that its function was given`, "another one");
}

function invalid(expected: string, got: string): UsageError {
  return new UsageError("TEAMS_INVALID", `Expected ${expected}, got ${got}. ${HINT}`);
}

/** True for a function that is no class. */
function isMaker(value: unknown): value is (means: TeamMeans) => unknown {
  return typeof value === "function" && !/^class\b/.test(Function.prototype.toString.call(value));
}

/** A module may have another copy of this package than the command. */
function isTeam(value: unknown): value is Team {
  if (!isObject(value)) return false;
  return ["run", "resume", "send", "submit"].every((name) => typeof (value as Record<string, unknown>)[name] === "function");
}
