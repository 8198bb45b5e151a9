import { UsageError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import type { Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { type Mask, masked } from "../kernel/mask.ts";
import type { Scope } from "../kernel/scope.ts";
import type { Message } from "../message/message.ts";
import { type Journal, knownRun } from "../runtime/record/journal.ts";
import { maskedMessage } from "../runtime/record/masking.ts";
import type { RunDriver } from "./run-driver.ts";

/** Options of {@link Team.submit}. */
export interface SubmitOptions {
  /** Default: a new id. A run that the journal has is resumed, and its idea stays. */
  readonly id?: string;
  readonly about?: Json;
  readonly scope?: Scope;
}

export const submitOptions: Known<SubmitOptions> = { id: kinds.text, about: kinds.checked, scope: kinds.object };

export interface SubmittingTeam {
  readonly name: string;
  readonly journal: Journal;
  readonly mask: Mask;
  readonly driver: RunDriver | undefined;
}

export interface Submission {
  readonly runId: string;
  /** Undefined for a started run. */
  readonly idea: string | Message | undefined;
  readonly about: Json | undefined;
  readonly scope?: Scope | undefined;
}

export async function submitRun({ name, journal, mask, driver }: SubmittingTeam, { runId, idea, about, scope }: Submission): Promise<void> {
  if (driver === undefined) {
    throw new UsageError(
      "OPTION_INVALID",
      "Expected a team with a driver, got one without: no worker would take the run. Give it one: new Team({ driver }), or use run.",
    );
  }
  // The queue is a store, and stores get no secrets.
  const safe = typeof idea === "object" ? maskedMessage(mask, idea) : idea && mask(idea);
  await driver.submit({
    runId,
    team: name,
    ...(safe === undefined ? {} : { idea: safe }),
    ...(about === undefined ? {} : { about: masked(mask, about) }),
    ...(scope === undefined ? {} : { scope }),
    events: await eventsOf(journal, runId),
  });
}

/** Returns the number of events of a run; 0 for an unknown run. */
export async function eventsOf(journal: Pick<Journal, "read" | "runs" | "info">, runId: string): Promise<number> {
  return (await knownRun(journal, runId))?.events ?? 0;
}
