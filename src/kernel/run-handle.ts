import { UsageError } from "./errors.ts";

/** Names of members, with the name that the result has for each: words of other frameworks differ. */
export type ResultMembers = { readonly [name: string]: string };

/** Members of a result throw where they are read from the run itself: a program that forgets `.result` would continue with undefined. */
export function guardResult<T extends object>(run: T, call: string, members: ResultMembers): T {
  for (const [name, inResult] of Object.entries(members)) {
    Object.defineProperty(run, name, {
      configurable: true,
      get: () => {
        throw new UsageError(
          "RESULT_NOT_AWAITED",
          `Expected ${name} to be read from the result of a run, got the run itself. Write (await ${call}.result).${inResult}: await ${call} alone does not wait for its end.`,
        );
      },
    });
  }
  return run;
}

/** The member of a journal with which a new environment of a known id continues its run. Set where a program is run again. */
export const CONTINUES: unique symbol = Symbol.for("troupe.continues");
