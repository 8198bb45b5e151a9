import { UsageError } from "../../kernel/errors.ts";
import { canonicalJson } from "../../kernel/json.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { HiredRoles, Opening } from "../hired-roles.ts";
import { assertNotErased } from "../record/erased-event.ts";
import type { RunEvent, RunStarted } from "../record/event.ts";
import type { RunLog } from "../record/run-log.ts";
import type { RoleMemories } from "../role-memories.ts";

export interface AdoptingWorld {
  readonly log: RunLog;
  readonly hired: HiredRoles;
  readonly opening: Opening | undefined;
  readonly memories: RoleMemories;
}

/**
 * Folds the record of a run into a new environment, as if it had lived all along: its start and the roles that it hires are known already.
 * @throws UsageError `TEAM_CHANGED` for an environment that was made another way
 */
export async function adoptRecord(events: AsyncIterable<RunEvent>, { log, hired, opening, memories }: AdoptingWorld): Promise<void> {
  const { state } = log;
  for await (const event of events) {
    if (event.type === "run.started") assertSameStart(state.runId, event, opening?.start());
    const isKnown = event.type === "run.started" || (event.type === "role.hired" && event.roles.every(({ name }) => state.roles.has(name)));
    log.take(event, isKnown);
    if (memories.isUsed) memories.learn(event);
  }
  assertNotErased(state);
  const gone = [...state.roles.values()].find((role) => role.isHired && !hired.has(role.name));
  if (gone !== undefined) throw changed(state.runId, `role ${gone.name}, which was hired during the run, is not hired now`);
}

function assertSameStart(runId: string, recorded: RunStarted, now: RunStarted | undefined): void {
  const [before, after] = [partsOf(recorded), partsOf(now)];
  const name = Object.keys({ ...before, ...after }).find((one) => canonicalJson(before[one] ?? null) !== canonicalJson(after[one] ?? null));
  if (name !== undefined) throw changed(runId, `${name} was ${valueText(before[name])} and is ${valueText(after[name])}`);
}

function partsOf(start: RunStarted | undefined): Readonly<Record<string, unknown>> {
  if (start === undefined) return {};
  const { seed, scheduler, parameters, arrival, edges, roles } = start;
  const prints = Object.fromEntries(roles.map(({ name, fingerprint }) => [`role ${name}`, fingerprint]));
  return { seed, scheduler, parameters, arrival, edges, ...prints };
}

function changed(runId: string, difference: string): UsageError {
  return new UsageError(
    "TEAM_CHANGED",
    `Expected the environment that the record of run ${runId} began with, but ${difference}. Make it the same way: with the seed, the roles and the scheduler of its start.`,
  );
}
