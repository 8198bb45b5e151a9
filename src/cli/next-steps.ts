import type { RunResult } from "../runtime/run-result.ts";
import type { Store } from "./store.ts";
import { shellWord } from "./shell-word.ts";

/** What to type next. */
export interface NextSteps {
  /** Goes on with the run; undefined when it is finished. */
  readonly goOn?: string;
  /** Answers the questions that wait, in their order. */
  readonly answers: readonly string[];
}

/** What the lines depend on besides the result. */
export interface NextFacts {
  /** Names the run. */
  readonly short: string;
  readonly store: Pick<Store, "option">;
  /** Micro-dollars; undefined when nothing binds. */
  readonly budget: number | undefined;
  /** Whether it works in a folder that holds other files. */
  readonly isForced: boolean;
}

/** Fewest letters of a question's id that are shown. */
const LEAST = 4;

/** The command lines that go on with a run, or answer what it asks. */
export function nextSteps(
  { status, questions }: Pick<RunResult, "status" | "questions">,
  { short, store, budget, isForced }: NextFacts,
): NextSteps {
  const run = `${shellWord(short)}${store.option}`;
  const ids = questions.map(({ id }) => id);
  const answers = ids.map((id) => `troupe answer ${run} ${shortest(id, ids)} "..."`);
  if (status === "finished") return { answers };
  const more = status === "budget" && budget !== undefined ? ` --budget ${(2 * budget) / 1_000_000}` : "";
  return { goOn: `troupe resume ${run}${more}${isForced ? " --force" : ""}`, answers };
}

function shortest(id: string, ids: readonly string[]): string {
  for (let length = LEAST; length < id.length; length++) {
    const short = id.slice(0, length);
    if (!ids.some((other) => other !== id && other.startsWith(short))) return short;
  }
  return id;
}
