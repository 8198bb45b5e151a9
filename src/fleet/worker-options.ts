import { having, type Shape, takes } from "../kernel/argument.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { defaultLogger } from "../kernel/default-logger.ts";
import type { Logger } from "../kernel/emit.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { isList } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import { aJournal, type Journal } from "../runtime/record/journal.ts";
import { aRunDriver, type RunDriver } from "../team/run-driver.ts";
import type { OnTeamChange } from "../team/crew.ts";
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
  /** Deliveries that ended with a lasting error, such as another version of its team, after which a run is given up. Default 20. */
  readonly tries?: number;
  /** For a run whose team has changed: see `ResumeOptions.onTeamChange`. Default "refuse": the run goes back to the queue. */
  readonly onTeamChange?: OnTeamChange;
  /** Fetches the folder of a run before it continues, and stores it at rest, when it is drained, and after a round. Default: none moves. */
  readonly workspaces?: RunWorkspaces;
  /** Minimum of milliseconds between two stores of the folder of a run under way. Default 60,000. */
  readonly workspaceEvery?: number;
  readonly logger?: Logger;
  readonly clock?: Clock;
}

const workerOptions: Known<WorkerOptions> = {
  driver: kinds.runDriver,
  journal: kinds.journal,
  teams: kinds.checked,
  concurrency: kinds.size,
  grace: kinds.count,
  tries: kinds.size,
  onTeamChange: kinds.oneOf("refuse", "continue"),
  workspaces: kinds.having("workspaces of runs", "folderOf", "fetch", "put"),
  workspaceEvery: kinds.count,
  logger: kinds.logger,
  clock: kinds.clock,
};

export type WorkerSettings = ReturnType<typeof workerSettings>;

const CONCURRENCY = 64;
const GRACE = 30_000;
const TRIES = 20;
const WORKSPACE_EVERY = 60_000;

const aTeam: Shape = having("a team", "run", "resume", "send");

export function workerSettings(options: WorkerOptions) {
  checkGivenOptions("startWorker", options, workerOptions);
  const { driver, journal, concurrency = CONCURRENCY, grace = GRACE, tries = TRIES } = options;
  const { workspaces, workspaceEvery = WORKSPACE_EVERY } = options;
  const { onTeamChange = "refuse", logger = defaultLogger, clock = systemClock } = options;
  takes("startWorker", "driver", driver, aRunDriver);
  takes("startWorker", "journal", journal, aJournal);
  const moving = { workspaces, workspaceEvery };
  return { ...moving, driver, journal, teams: teamsByName(options.teams, journal), concurrency, grace, tries, onTeamChange, logger, clock };
}

function teamsByName(teams: unknown, journal: Journal): ReadonlyMap<string, Team> {
  if (!isList(teams) || teams.length === 0) throw new UsageError("OPTION_INVALID", `Expected at least one team, got ${valueText(teams)}.`);
  const named = new Map<string, Team>();
  for (const given of teams) {
    takes("startWorker", "teams", given, aTeam);
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
