import { UsageError } from "../kernel/errors.ts";
import type { MicroUsd } from "../model/money.ts";
import type { RunState } from "../runtime/record/run-state.ts";
import { placeOf, type RunAbout } from "./about.ts";
import {
  askedModel,
  baseURLIn,
  companySettings,
  type CompanySettings,
  type Flags,
  type ModelChoice,
  reachedModel,
  type Variables,
} from "./settings.ts";

/**
 * How the model of a recorded run is reached now: where the options say, else where it was, else where the environment says.
 *
 * @throws UsageError `OPTION_INVALID`
 */
export function recordedModel({ model }: RunAbout, flags: Flags, env: Variables): ModelChoice {
  const now = baseURLIn(env);
  // Of the same place the environment may know more: a record keeps nothing that may be secret.
  const baseUrl = flags.baseUrl ?? (placeOf(now) === model.baseURL ? now : (model.baseURL ?? now));
  const id = askedModel(flags) ?? model.id;
  const choice = reachedModel(id, baseUrl === undefined ? flags : { ...flags, baseUrl }, env);
  if (choice.kind === "none" || flags.price !== undefined || id !== model.id) return choice;
  return { kind: "model", model: { ...choice.model, price: model.price } };
}

/**
 * How a recorded run goes on: as it was begun, unless the options say otherwise.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_CONFLICT`, `ROUNDS_USED` for a limit of rounds that is reached already
 */
export function recordedSettings(about: RunAbout, recorded: Pick<RunState, "round" | "budget" | "bounds">, flags: Flags): CompanySettings {
  const { round, budget, bounds } = recorded;
  const given = companySettings(flags);
  const isLimited = (flags.rounds ?? flags.nRound) !== undefined;
  if (isLimited && given.rounds <= round) {
    throw new UsageError(
      "ROUNDS_USED",
      `Expected --rounds to be more than the ${round} rounds that the run has had, got ${given.rounds}. It counts all rounds of the run.`,
    );
  }
  return {
    budget: given.isBudgetExplicit || budget === undefined ? given.budget : (budget as MicroUsd),
    isBudgetExplicit: given.isBudgetExplicit,
    allowUnpriced: given.allowUnpriced || about.allowUnpriced,
    rounds: isLimited ? given.rounds : roundsLeft(bounds.rounds ?? about.rounds, about.rounds, round),
    out: about.out,
    force: given.force,
    seed: about.seed,
    sandbox: flags.sandbox === undefined ? about.sandbox : given.sandbox,
    codeReview: about.codeReview,
    runTests: about.runTests,
    agent: about.agent,
  };
}

/** As many in all as its record says; a run that has used them up gets as many again as it was begun with. */
function roundsLeft(bound: number, again: number, round: number): number {
  return round < bound ? bound : round + again;
}
