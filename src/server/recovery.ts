import type { Logger } from "../kernel/emit.ts";
import { errorRecord, JournalError } from "../kernel/errors.ts";
import { apply } from "../runtime/record/apply.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { pendingQuestions } from "../runtime/record/questions.ts";
import { isFinished, RunState } from "../runtime/record/run-state.ts";
import { spenderOf } from "../team/drive.ts";
import { SERVER_CLOSING } from "./driven-run.ts";
import type { ServedRuns } from "./served-runs.ts";
import { serverMark } from "./server-mark.ts";
import type { TenantAccount } from "./tenants.ts";

/** Runs that go on at the same time while the server starts. */
const AT_ONCE = 16;

/** The parts of a recovery. */
export interface RecoveryParts {
  readonly journal: Journal;
  readonly accounts: readonly TenantAccount[];
  readonly runs: ServedRuns;
  readonly logger: Logger;
  /** False: money is counted, and no run goes on. */
  readonly recovers: boolean;
}

/**
 * Brings a server to where a former process was: the pools of tenants in this process know what every recorded run has spent, and the runs
 * that were under way go on. Those of other programs on the same journal stay as they are. A run that cannot go on is logged, and the others go on.
 */
export async function recover({ journal, accounts, runs, logger, recovers }: RecoveryParts): Promise<number> {
  const unfinished: (readonly [TenantAccount, string])[] = [];
  for (const { runId } of await journal.runs()) {
    const account = accounts.find((one) => one.owns(runId));
    if (account === undefined) continue;
    try {
      const state = await stateOf(journal, runId);
      await charge(account, state);
      if (recovers && goesOn(state)) unfinished.push([account, runId]);
      else if (recovers && isServed(state)) runs.watchDeadlines(account, runId, pendingQuestions(state), -Infinity);
    } catch (error) {
      if (!(error instanceof JournalError)) throw error;
      logger.warn("A run cannot be read.", { run: runId, tenant: account.name, code: error.code });
    }
  }
  let gone = 0;
  const work = unfinished[Symbol.iterator]();
  const goOn = async (): Promise<void> => {
    for (const [account, runId] of work) {
      try {
        await runs.resume(account, runId, {});
        gone += 1;
      } catch (error) {
        const { code, message } = errorRecord(error);
        logger.warn("A run does not go on.", { run: runId, tenant: account.name, code, reason: message });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, goOn));
  return gone;
}

async function stateOf(journal: Journal, runId: string): Promise<RunState> {
  const state = new RunState(runId);
  for await (const event of journal.read(runId, 0)) apply(state, event);
  return state;
}

/** Charges the pool of a tenant with what a run has spent. A pool that knows it charges nothing. */
async function charge({ pool }: TenantAccount, state: RunState): Promise<void> {
  const { runId, done } = state;
  for (let level = pool; level !== undefined; level = level.parent) {
    // Another process may have the account of the run open.
    if (level.isDurable === true) continue;
    const spender = spenderOf(state);
    // A run that went on after its end has an account for each of the two parts.
    if (done !== undefined && done.spent > 0) await (await level.open(runId, { spent: done.spent })).close(true);
    if (spender.spent > 0) await (await level.open(spender.name, { spent: spender.spent })).close(isFinished(state));
  }
}

/** True for a run that a server began. */
function isServed({ seq, about }: Pick<RunState, "seq" | "about">): boolean {
  return seq > 0 && serverMark(about).tenant !== undefined;
}

/** True for a run that a server drove when its process ended. */
function goesOn({ seq, about, phase }: RunState): boolean {
  if (!isServed({ seq, about })) return false;
  return phase.phase === "running" || (phase.status === "stopped" && phase.error?.code === SERVER_CLOSING);
}
