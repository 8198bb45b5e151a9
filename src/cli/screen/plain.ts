import { formatCost, type MicroUsd } from "../../model/money.ts";
import type { Observed } from "../../runtime/record/event.ts";
import { nameText, type Progress, roleOfAct, saidText, topicOf } from "./progress.ts";
import { brief, shown } from "./text.ts";

/**
 * The line that tells of a state change where no terminal is drawn on, or undefined when nothing worth a line happened.
 *
 * @param progress what is known after it
 * @param profiles what each role does in the company
 */
export function plainLine(progress: Progress, observed: Observed, profiles: ReadonlyMap<string, string>): string | undefined {
  const [role, text] = changeIn(progress, observed) ?? [];
  return role === undefined || text === undefined ? undefined : `${nameText(role, profiles)}  ${text}`;
}

function changeIn(progress: Progress, observed: Observed): readonly [role: string, text: string] | undefined {
  switch (observed.type) {
    case "step.started":
      return stepChange(observed);
    case "step.ended":
      return triedInVain(observed);
    case "act.ended":
      return observed.said.length === 0 ? undefined : [observed.role, `said ${shown(saidText(observed))}${costText(progress)}`];
    case "act.failed":
      return [observed.role, `failed${observed.then === "retry" ? ", tries again" : ""}: ${shown(observed.error.message, 300)}`];
    default:
      return undefined;
  }
}

/** A try that was cut short, by Ctrl-C for one, has no error and did not fail. */
function triedInVain({
  act,
  retry,
  try: attempt,
  error,
}: Extract<Observed, { type: "step.ended" }>): readonly [string, string] | undefined {
  return retry === true && error !== undefined ? [roleOfAct(act), `try ${attempt} failed (${shown(error.code, 60)})`] : undefined;
}

/** What takes long is told when it begins: a model, a person, the project's tests. */
function stepChange({
  act,
  kind,
  name,
  request,
  try: attempt,
}: Extract<Observed, { type: "step.started" }>): readonly [string, string] | undefined {
  const topic = topicOf(request);
  if (attempt > 1) return undefined;
  if (kind === "model") return [roleOfAct(act), topic === undefined ? "asks the model" : shown(topic, 120)];
  if (kind === "human") return [roleOfAct(act), "asks a person"];
  return topic === undefined && !QUICK.has(name) ? [roleOfAct(act), shown(name, 60)] : undefined;
}

/** Steps of the bundled actions that are over before one could read of them. */
const QUICK: ReadonlySet<string> = new Set(["commit", "read files", "hash files"]);

function costText({ spent, unpriced, tokens }: Progress): string {
  return tokens === 0 ? "" : `; so far ${formatCost({ known: spent as MicroUsd, unpriced })}, ${brief(tokens)} tokens`;
}
