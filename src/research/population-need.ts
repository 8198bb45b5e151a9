import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import { aCount, takes } from "../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { UsageError } from "../kernel/errors.ts";

/** The size of a population. */
export interface PopulationSize {
  readonly roles: number;
  /** The most messages on their way at one time. Default: one for each role. */
  readonly messages?: number;
}

const sizeParts: Known<PopulationSize> = { roles: kinds.count, messages: kinds.count };

/** Bytes of a hired step role with a state of one number: measured 330 by `node bench/population.mjs`. */
const BYTES_PER_ROLE = 350;
/** Bytes of a message without a payload on its way, with the garbage of the round before. */
const BYTES_PER_MESSAGE = 900;
/** Bytes of an environment without roles. */
const BYTES_OF_A_PROGRAM = 60_000_000;
/** Measured 1.6 GB for a million roles with `--max-semi-space-size=32 --max-old-space-size=1900`. */
const PROCESS_PER_HEAP = 1.25;

/** The memory that a population needs, in bytes. */
export interface PopulationNeed {
  /** Of the heap: at least what `--max-old-space-size` must allow. */
  readonly heap: number;
  /** Of the process, where the limit of the heap is not much higher than `heap`. With a higher limit Node.js takes more, up to twice the heap. */
  readonly process: number;
}

/**
 * Returns about how much memory a population of step roles needs, whose states are a number and whose messages have no payload.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`, `ARGUMENT_INVALID`
 * @example
 * import { populationNeed } from "troupe/research";
 *
 * console.log(populationNeed({ roles: 1_000_000 }).process < 2e9); // true
 */
export function populationNeed(size: PopulationSize): PopulationNeed {
  checkGivenOptions("populationNeed", size, sizeParts);
  const { roles, messages = roles } = size;
  takes("populationNeed", "roles", roles, aCount);
  const heap = BYTES_OF_A_PROGRAM + roles * BYTES_PER_ROLE + messages * BYTES_PER_MESSAGE;
  return { heap, process: Math.ceil(heap * PROCESS_PER_HEAP) };
}

/**
 * Refuses a population that needs more heap than this process may take, or more memory than the machine has, before it is hired.
 *
 * @throws UsageError `POPULATION_TOO_LARGE` with the need and the limit; as {@link populationNeed}
 * @example
 * import { assertPopulationFits } from "troupe/research";
 *
 * assertPopulationFits({ roles: 50_000 });
 */
export function assertPopulationFits(size: PopulationSize): void {
  const need = populationNeed(size);
  const [heap, memory] = [getHeapStatistics().heap_size_limit, memoryOfMachine()];
  if (need.process > memory) {
    throw tooLarge(size, need.process, memory, "this machine has", "Take a larger machine, or fewer roles.");
  }
  if (need.heap <= heap) return;
  const flag = `--max-old-space-size=${megabytes(need.heap)}`;
  throw tooLarge(size, need.heap, heap, "the heap of this process may take", `Start Node.js with ${flag}, or hire fewer roles.`);
}

function memoryOfMachine(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

function tooLarge({ roles }: PopulationSize, need: number, limit: number, whose: string, todo: string): UsageError {
  return new UsageError(
    "POPULATION_TOO_LARGE",
    `Expected a population that fits the memory, got ${roles} roles, which need about ${megabytes(need)} MB of the ${megabytes(limit)} MB that ${whose}. ${todo}`,
    { data: { need, limit } },
  );
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1_048_576);
}
