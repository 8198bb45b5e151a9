import { type Human, type RoleContext, StepError } from "../../src/index.ts";

const MOST_ANSWERS = 10;
/** Answers in a row that say nothing about the proposal. */
const MOST_EMPTY = 3;

const APPROVE = "Is that what you want? Answer yes, say what is different, or say stop.";
const AGAIN = "Nothing goes on without your yes. Answer yes, say what is different, or say stop.";

const APPROVAL = {
  choices: [
    { value: "yes", label: "Yes, go on" },
    { value: "stop", label: "Stop: build nothing" },
  ],
  words: "say what is different",
} as const;

const YES = /^\W*(y|yes|ok|okay|yep|ja|oui|sí|si|approved?)\W*$/i;
const NO = /^\W*(n|no|nope|nein|non|never|not)?\W*$/i;
const STOP = /^\W*(stop|end|quit|exit|cancel|abort)\W*$/i;

/** As of this moment: a resumed run may have another wish, and a replay takes what was recorded. */
export function wantsApproval(steps: Pick<RoleContext["steps"], "step">, approves: boolean): Promise<boolean> {
  return steps.step({ kind: "step", name: "wants approval", request: {}, fresh: true }, () => Promise.resolve(approves));
}

export interface Proposal<T> {
  readonly value: T;
  readonly show: (value: T) => string;
  readonly change: (said: readonly string[]) => Promise<T>;
}

/**
 * Asks a person until they say yes. Words change the proposal; a plain no is asked about again.
 *
 * @throws StepError `NOT_APPROVED` when the person says stop, answers nothing three times in a row, or has not said yes in ten answers;
 * WaitingError without a person
 */
export async function approvedBy<T>(human: Pick<Human, "ask">, { value: first, show, change }: Proposal<T>): Promise<T> {
  const said: string[] = [];
  let [value, empty] = [first, 0];
  for (let answers = 0; answers < MOST_ANSWERS && empty < MOST_EMPTY; answers++) {
    const answer = (await human.ask(empty === 0 ? `${show(value)}\n\n${APPROVE}` : AGAIN, APPROVAL)).trim();
    if (YES.test(answer)) return value;
    if (STOP.test(answer)) throw notApproved("the answer was to stop");
    if (NO.test(answer)) {
      empty += 1;
      continue;
    }
    empty = 0;
    said.push(answer);
    value = await change(said);
  }
  throw notApproved(empty < MOST_EMPTY ? `none of ${MOST_ANSWERS} answers was one` : "the answers did not say what is different");
}

function notApproved(why: string): StepError {
  return new StepError(
    "NOT_APPROVED",
    `Expected a yes before the work goes on, but ${why}. Nothing was built. Begin again with other words, or resume the run with --reuse none to be asked again.`,
  );
}
