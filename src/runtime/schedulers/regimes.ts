import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { eager } from "./eager.ts";
import { rounds } from "./rounds.ts";
import type { Scheduler } from "./scheduler.ts";

/** The regimes that have a name, by which a run's record tells them. */
const regimes: readonly Scheduler[] = [rounds, eager];

/** @throws UsageError `SCHEDULER_UNKNOWN` */
export function schedulerNamed(name: string): Scheduler {
  const scheduler = regimes.find((regime) => regime.name === name);
  if (scheduler !== undefined) return scheduler;
  throw new UsageError(
    "SCHEDULER_UNKNOWN",
    `Expected a scheduler "rounds" or "eager", got ${valueText(name)}. Use the program that began the run, or leave it out for rounds.`,
  );
}
