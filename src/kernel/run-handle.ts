import { UsageError } from "./errors.ts";

/** Members of a result, with the name under which the result has them. Words of other frameworks have another name than the member. */
export type ResultMembers = { readonly [name: string]: string };

/**
 * Lets the members of a result, read from the run itself, say where they are: a program without types that forgets `.result` reads a member
 * that the run has not, and goes on with undefined. They are not enumerable, so that a run can be shown and compared.
 *
 * @param call how a run is begun: `team.run(idea)`
 */
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
