import type { TroupeError } from "../kernel/errors.ts";
import { defined } from "../kernel/value-kind.ts";
import type { Message } from "../message/message.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import type { PendingQuestion } from "../runtime/record/questions.ts";
import { type FailedActivation, noteEnd, type SummaryStatus } from "../runtime/record/run-summary.ts";

/** The replies of the roles to what a person said in a conversation, until the run is at rest. */
export interface SayResult {
  /** The messages of the roles, in their order. */
  readonly messages: readonly Message[];
  /** The last of them. Left out without any. */
  readonly output?: Message;
  /** `open`: the run was lost from sight before it came to rest, and may continue. */
  readonly status: SummaryStatus;
  /** The first question to a person that waits for an answer. */
  readonly question?: PendingQuestion;
  /** The reason why the run did not finish, or why its end is not known. Left out if it finished or a question waits. */
  readonly error?: TroupeError;
  /** The activations that failed since, also if the run continued without them. Left out without any. */
  readonly failures?: readonly FailedActivation[];
}

export class Replies {
  readonly #messages: Message[] = [];
  readonly #failures = new Map<string, FailedActivation>();

  add(event: RunEvent): void {
    if (event.type === "act.ended") this.#messages.push(...event.said.map(({ message }) => message));
    if (event.type === "act.ended" || event.type === "act.failed") noteEnd(this.#failures, event);
  }

  result(status: SummaryStatus, question?: PendingQuestion, error?: TroupeError): SayResult {
    const output = this.#messages.at(-1);
    return {
      messages: this.#messages,
      status,
      ...defined({ output, question, error }),
      ...(this.#failures.size === 0 ? {} : { failures: [...this.#failures.values()] }),
    };
  }
}
