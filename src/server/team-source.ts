import type { Json } from "../kernel/json.ts";
import type { BudgetPool } from "../kernel/budget.ts";
import type { Team } from "../team/team.ts";
import type { OnTeamChange } from "../team/team-change.ts";

/** The purpose for which a team is opened. */
export interface TeamRequest {
  readonly runId: string;
  /** The name of the tenant; empty without tenants. */
  readonly tenant: string;
  /** `message`: a message, or a role that is hired or retired, comes into a run that nobody drives. `look`: the team is described. */
  readonly purpose: "start" | "resume" | "fork" | "replay" | "message" | "look";
  /** For a run that goes on: whether it may do so with a team that differs from its own. The server compares the roles of the team by itself. */
  readonly onTeamChange?: OnTeamChange;
  /** The idea of a run that starts. */
  readonly idea?: string;
  /** The run that is forked, with the last shared event where it was given. */
  readonly parent?: { readonly runId: string; readonly at?: number };
  /** The pool of the tenant, which the server gives to the run: for spending of the opener's own. */
  readonly pool?: BudgetPool;
  /** Aborts when the server closes: a team that is opened after that is not needed any more. */
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

/** Returns the opener of one team for all runs. */
export function openerOf(team: Team): TeamOpener {
  return () => Promise.resolve({ team });
}
