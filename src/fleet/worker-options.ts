import { having, type Shape, takes } from "../kernel/argument.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { defaultLogger } from "../kernel/default-logger.ts";
import type { Logger } from "../kernel/emit.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { isCount, isList } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import { aJournal, type Journal } from "../runtime/record/journal.ts";
import { aRunDriver, type RunDriver } from "../team/run-driver.ts";
import type { OnTeamChange } from "../team/team-change.ts";
import type { Team } from "../team/team.ts";
import type { RunWorkspaces } from "./run-workspaces.ts";

/** Options of {@link startWorker}. */
export interface WorkerOptions {
  readonly driver: RunDriver;
  /** Keeps the runs. Every team must have it. */
  readonly journal: Journal;
  /** The teams whose runs this worker takes; each name once. */
  readonly teams: readonly Team[];
  /** Runs at the same time. Default 64. */
  readonly concurrency?: number;
  /** Milliseconds that steps in flight get to end when the worker drains. Default 30,000. */
  readonly grace?: number;
  /**
   * Refusals after which a run is given up: deliveries that ended with an error which does not pass by itself, such as another version of its team.
   * Default 20.
   */
  readonly tries?: number;
  /** For a run whose team was another when it began: see `ResumeOptions.onTeamChange`. Default "refuse": the run goes back to the queue. */
  readonly onTeamChange?: OnTeamChange;
  /**
   * Brings the folder of a run here before it goes on, and stores it when it comes to rest, when it is drained, and after a round. Default:
   * the folders do not move. See {@link runWorkspaces}.
   */
  readonly workspaces?: RunWorkspaces;
  /** Fewest milliseconds between two stores of the folder of a run that goes on. Default 60,000. */
  readonly workspaceEvery?: number;
  /** Told of the runs as they come and go. Default: none. */
  readonly logger?: Logger;
  readonly clock?: Clock;
}

const workerOptions: Known<WorkerOptions> = {
  driver: kinds.runDriver,
  journal: kinds.journal,
  teams: kinds.checked,
  concurrency: kinds.size,
  grace: kinds.milliseconds,
  tries: kinds.size,
  onTeamChange: kinds.oneOf("refuse", "continue"),
  workspaces: kinds.having("workspaces of runs", "folderOf", "fetch", "put"),
  workspaceEvery: kinds.milliseconds,
  logger: kinds.logger,
  clock: kinds.clock,
};

/** Options of a worker with their defaults. */
export interface WorkerSettings extends Required<Omit<WorkerOptions, "teams" | "workspaces">> {
  readonly workspaces: RunWorkspaces | undefined;
  readonly teams: ReadonlyMap<string, Team>;
}

const CONCURRENCY = 64;
const GRACE = 30_000;
const TRIES = 20;
const WORKSPACE_EVERY = 60_000;

const aTeam: Shape = having("a team", "run", "resume", "send");

/** @throws UsageError `ARGUMENT_INVALID`, `OPTION_INVALID`, `OPTION_UNKNOWN` */
export function workerSettings(options: WorkerOptions): WorkerSettings {
  checkGivenOptions("startWorker", options, workerOptions);
  const { driver, journal, concurrency = CONCURRENCY, grace = GRACE, tries = TRIES } = options;
  const { workspaces, workspaceEvery = WORKSPACE_EVERY } = options;
  const { onTeamChange = "refuse", logger = defaultLogger, clock = systemClock } = options;
  takes("startWorker", "driver", driver, aRunDriver);
  takes("startWorker", "journal", journal, aJournal);
  for (const [name, count] of Object.entries({ concurrency, tries })) {
    if (isCount(count) && count > 0) continue;
    throw new UsageError("OPTION_INVALID", `Expected ${name} to be a whole number of 1 or more, got ${valueText(count)}.`);
  }
  if (workspaces !== undefined) takes("startWorker", "workspaces", workspaces, having("workspaces of runs", "folderOf", "fetch", "put"));
  for (const [name, ms] of Object.entries({ grace, workspaceEvery })) {
    if (Number.isFinite(ms) && ms >= 0) continue;
    throw new UsageError("OPTION_INVALID", `Expected ${name} to be milliseconds of 0 or more, got ${valueText(ms)}.`);
  }
  const moving = { workspaces, workspaceEvery };
  return { ...moving, driver, journal, teams: teamsByName(options.teams, journal), concurrency, grace, tries, onTeamChange, logger, clock };
}

function teamsByName(teams: unknown, journal: Journal): ReadonlyMap<string, Team> {
  if (!isList(teams) || teams.length === 0) throw new UsageError("OPTION_INVALID", `Expected at least one team, got ${valueText(teams)}.`);
  const named = new Map<string, Team>();
  for (const given of teams) {
    takes("startWorker", "teams", given, aTeam);
    // Its shape was checked above.
    const team = given as Team;
    if (team.journal !== journal) {
      const expected = `Expected the team ${valueText(team.name)} to have the journal of its worker, got another one`;
      throw new UsageError("OPTION_INVALID", `${expected}. Make it with: new Team({ journal }).`);
    }
    if (named.has(team.name)) {
      const expected = `Expected teams with different names, got ${valueText(team.name)} twice: a run would not know its team`;
      throw new UsageError("OPTION_INVALID", `${expected}. Give each a name: new Team({ name }).`);
    }
    named.set(team.name, team);
  }
  return named;
}
