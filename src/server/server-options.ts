import { takes } from "../kernel/argument.ts";
import type { BudgetPool } from "../kernel/budget.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { defaultLogger } from "../kernel/default-logger.ts";
import type { Logger } from "../kernel/emit.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { Cache } from "../memory/cache.ts";
import { checkForgetful } from "../memory/forget.ts";
import type { MessageStore } from "../memory/message-store.ts";
import type { MicroUsd } from "../model/money.ts";
import { checkWhole } from "../runtime/environment-options.ts";
import { aJournal, type Journal } from "../runtime/record/journal.ts";
import type { Team } from "../team/team.ts";
import type { OnTeamChange } from "../team/crew.ts";
import { sureLogger } from "./json-logger.ts";
import type { Tenant } from "./tenants.ts";

/** The purpose for which a team is opened. */
export interface TeamRequest {
  readonly runId: string;
  /** The name of the tenant; empty without tenants. */
  readonly tenant: string;
  /** `message`: a message, or a role that is hired or retired, comes into a run at rest. `look`: the team is described. */
  readonly purpose: "start" | "resume" | "fork" | "replay" | "message" | "look";
  /** For a run that continues: whether it may do so with another team. The server compares the roles of the team by itself. */
  readonly onTeamChange?: OnTeamChange;
  /** The idea of a run that starts. */
  readonly idea?: string;
  /** The run that is forked, with the last shared event where it was given. */
  readonly parent?: { readonly runId: string; readonly at?: number };
  /** The pool of the tenant, which the server gives to the run: for spending of the opener's own. */
  readonly pool?: BudgetPool;
  /** Aborts when the server closes: then the team is not needed any more. */
  readonly signal?: AbortSignal;
}

/** A team that works on one run. */
export interface OpenedTeam {
  readonly team: Team;
  /** An object that is kept with a run that starts, for `TeamRequest` of a later process. Default: none. */
  readonly about?: { readonly [key: string]: Json };
  /** Most rounds of the run, where its record or the client does not say. */
  readonly rounds?: number;
  /** Called once when the run is at rest. */
  close?(): Promise<void> | void;
}

/** Opens a team for one run: with a folder, tools or connections of its own. Its journal is the server's. */
export type TeamOpener = (request: TeamRequest) => Promise<OpenedTeam>;

/** Options of {@link createServer}. It needs either `team`, or `teams` and `journal`. */
export interface ServerOptions {
  /** The team that works on every run. Its journal keeps the runs. */
  readonly team?: Team;
  /** Opens a team for each run. */
  readonly teams?: TeamOpener;
  /** Keeps the runs of `teams`. */
  readonly journal?: Journal;
  /** Users with runs of their own. Default: one user, who has all runs of the journal. */
  readonly tenants?: readonly Tenant[];
  /** The token of the one user, of at least 16 characters. Default: none, so that only this machine may ask. */
  readonly token?: string;
  /**
   * Micro-dollars that all runs of the one user may spend together, past ones of the journal included; or a pool that is kept elsewhere.
   * Tenants have budgets of their own. Default: no bound.
   */
  readonly budget?: MicroUsd | BudgetPool;
  /** Names of the server besides those of this machine: requests under others are refused. Default: none. */
  readonly hosts?: readonly string[];
  /** Origins of pages elsewhere that may ask. Default: none. */
  readonly origins?: readonly string[];
  /** Limit on the bytes of the body of a request. Default 1,000,000. */
  readonly bodyLimit?: number;
  /** The page at `/`: one HTML file with its scripts and styles in it. Default: none. */
  readonly page?: string | (() => Promise<string | undefined>);
  /** The version in the OpenAPI document. Default "0". */
  readonly version?: string;
  /** Resumes the runs that a former process left, at the start. Default true. */
  readonly recover?: boolean;
  /**
   * For a run whose team differs from the present one, such as after an upgrade: see `ResumeOptions.onTeamChange`. It holds for what the server does
   * by itself, and for requests that do not say. Default `refuse`.
   */
  readonly onTeamChange?: OnTeamChange;
  /** As the option of the same name of a team, for every run of the server: checked at its start. Default never. */
  readonly uncertainAfter?: number;
  /** Stores that `POST /api/forget` cannot know from the roles: a function makes these. Default: none. */
  readonly stores?: readonly MessageStore[];
  /** The caches of brain memories that have a scope as their key, for `POST /api/forget`. Default: none. */
  readonly caches?: readonly Cache[];
  /** Receives requests, runs and faults. Default: warnings and errors go to stderr. */
  readonly logger?: Logger;
  /** Strings that never go into a log or an answer, besides tokens. Default: none. */
  readonly secrets?: readonly string[];
  readonly clock?: Clock;
}

const serverOptions: Known<ServerOptions> = {
  team: kinds.having("a team", "run", "resume", "answer", "send", "fork", "replay"),
  teams: kinds.function,
  journal: kinds.journal,
  tenants: kinds.list(kinds.object),
  token: kinds.secret,
  budget: kinds.checked,
  hosts: kinds.texts,
  origins: kinds.texts,
  bodyLimit: kinds.size,
  page: kinds.either(kinds.text, kinds.function),
  version: kinds.text,
  recover: kinds.boolean,
  onTeamChange: kinds.oneOf("refuse", "continue"),
  uncertainAfter: kinds.milliseconds,
  stores: kinds.list(kinds.messageStore),
  caches: kinds.list(kinds.cache),
  logger: kinds.logger,
  secrets: kinds.secrets,
  clock: kinds.clock,
};

/** The options of a server, each with its value. */
export type ServerSettings = ReturnType<typeof serverSettings>;

/** @throws UsageError `OPTION_UNKNOWN`, `OPTION_INVALID`, `ARGUMENT_INVALID` */
export function serverSettings(options: ServerOptions = {}) {
  checkKnownOptions("createServer", options, serverOptions);
  const { team, teams, tenants = [], token, budget, hosts = [], origins = [], bodyLimit = 1_000_000, page, uncertainAfter } = options;
  const { secrets = [], stores = [], caches = [] } = options;
  const journal = options.journal ?? team?.journal;
  const open = teams ?? (team === undefined ? undefined : (): Promise<OpenedTeam> => Promise.resolve({ team }));
  if (open === undefined || journal === undefined || (team !== undefined && (teams !== undefined || options.journal !== undefined))) {
    throw new UsageError(
      "OPTION_INVALID",
      "Expected createServer to get a team, or teams with their journal. Write createServer({ team }) or createServer({ teams, journal }).",
    );
  }
  takes("createServer", "journal", journal, aJournal);
  checkForgetful("createServer", { stores, caches });
  if (uncertainAfter !== undefined) checkWhole(uncertainAfter, "uncertainAfter", 0, "Leave it out to wait for ever.");
  const { version = "0", recover = true, onTeamChange = "refuse", logger = defaultLogger, clock = systemClock } = options;
  return {
    ...{ journal, open, tenants, token, budget, hosts, origins, bodyLimit, version, clock, onTeamChange, stores, caches },
    logger: sureLogger(logger),
    page: typeof page === "function" ? page : () => Promise.resolve(page),
    recovers: recover,
    uncertainAfter,
    secrets: [...secrets, ...tenants.map((tenant) => tenant.token), ...(token === undefined ? [] : [token])],
  };
}
