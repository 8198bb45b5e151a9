import { aNumber, aText, having, listOf, object, orNothing, type Shape, takes } from "../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";

/** The shape of criteria. Their checks have the form that `CriterionSchema` reads. */
export const criteriaShape: Shape = listOf(
  object("a criterion with id and check", { id: aText, check: object("a check", { kind: aText }) }),
);

/** The shape of reports of tests. */
export const suitesShape: Shape = listOf(
  object("a report of tests with language, kind and files", { language: aText, kind: aText, files: listOf(aText) }),
);

/** The members that every check of a project has. */
const PROJECT: { readonly [member: string]: Shape } = { root: aText, sandbox: having("a sandbox", "run"), timeout: orNothing(aNumber) };

/**
 * Refuses a request that a check of a project cannot use.
 *
 * @param door the function that takes it
 * @param known the names of all its members
 * @param members the shapes of its members besides root, sandbox and timeout
 * @throws UsageError `OPTION_UNKNOWN`, `OPTION_INVALID`; `ARGUMENT_INVALID` where a member has another shape
 */
export function checkRequest(
  door: string,
  request: object,
  known: Known<Record<string, unknown>>,
  members: { readonly [member: string]: Shape } = {},
): void {
  checkGivenOptions(door, request, known);
  const shapes = Object.entries({ ...PROJECT, ...members });
  for (const [name, shape] of shapes) takes(door, name, (request as { readonly [name: string]: unknown })[name], shape);
}
