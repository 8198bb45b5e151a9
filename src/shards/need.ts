import { getHeapStatistics } from "node:v8";
import { object, takes } from "../kernel/argument.ts";
import { isCount } from "../kernel/value-kind.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";

/** The size of a population. */
export interface PopulationSize {
  /** The number of hired roles. */
  readonly roles: number;
  /** The most messages on their way at one time. Default: one for each role. */
  readonly messages?: number;
}

const sizeParts: Known<PopulationSize> = { roles: true, messages: true };

/** Bytes of a hired step role with a state of one number: measured 330 by `node bench/population.mjs`. */
const BYTES_PER_ROLE = 350;
/** Bytes of a message without a payload on its way, and of what is left of the round before until the next collection. */
const BYTES_PER_MESSAGE = 900;
/** Bytes of an environment without roles. */
const BYTES_OF_A_PROGRAM = 60_000_000;

/**
 * Returns about how many bytes of heap a population of step roles needs, whose states are a number and whose messages have no payload. Larger
 * states and payloads come on top.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`, `ARGUMENT_INVALID`
 * @example
 * import { populationNeed } from "troupe/shards";
 *
 * console.log(populationNeed({ roles: 1_000_000 }) < 2_000_000_000); // true
 */
export function populationNeed(size: PopulationSize): number {
  takes("populationNeed", "size", size, object("an object with the number of roles"));
  checkKnownOptions("populationNeed", size, sizeParts);
  const { roles, messages = roles } = size;
  for (const [name, count] of [
    ["roles", roles],
    ["messages", messages],
  ] as const) {
    if (!isCount(count))
      throw new UsageError("OPTION_INVALID", `Expected ${name} to be a whole number of 0 or more, got ${valueText(count)}.`);
  }
  return BYTES_OF_A_PROGRAM + roles * BYTES_PER_ROLE + messages * BYTES_PER_MESSAGE;
}

/**
 * Refuses a population that needs more heap than this process or thread may take, before it is hired.
 *
 * @throws UsageError `POPULATION_TOO_LARGE` with the need and the limit; as {@link populationNeed}
 * @example
 * import { assertPopulationFits } from "troupe/shards";
 *
 * assertPopulationFits({ roles: 100_000 });
 */
export function assertPopulationFits(size: PopulationSize): void {
  const need = populationNeed(size);
  const limit = getHeapStatistics().heap_size_limit;
  if (need <= limit) return;
  const [needed, has] = [megabytes(need), megabytes(limit)];
  throw new UsageError(
    "POPULATION_TOO_LARGE",
    `Expected a population that fits the heap, got ${size.roles} roles, which need about ${needed} MB of the ${has} MB that this process may take. Start Node.js with --max-old-space-size=${needed}, or hire fewer roles.`,
    { data: { need, limit } },
  );
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1_048_576);
}
