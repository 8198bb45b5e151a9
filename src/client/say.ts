import { TroupeError } from "../kernel/errors.ts";
import type { Message } from "../message/message.ts";
import type { RunEnded } from "../runtime/record/event.ts";
import { type FailedActivation, noteEnd, type SummaryStatus } from "../runtime/record/run-summary.ts";
import type { PendingQuestion } from "../runtime/record/questions.ts";
import type { SayOptions } from "./call-options.ts";
import type { RunClient } from "./client.ts";
import { errorOf } from "./answers.ts";
import type { OutsideMessage } from "./wire.ts";

/** The result of words in a conversation. */
export interface SayResult {
  /** The messages of the roles. */
  readonly messages: readonly Message[];
  /** `open`: the connection was lost before the run came to rest, and it may continue. */
  readonly status: SummaryStatus;
  /** The first question to a person that waits for an answer: see `RunClient.answer`. */
  readonly question?: PendingQuestion;
  /** The reason why the run did not finish, or why its end is not known. Left out if it finished or a question waits. */
  readonly error?: TroupeError;
  /** The activations that failed since the words, also where the run went on without them. Left out without any. */
  readonly failures?: readonly FailedActivation[];
}

export interface Words {
  readonly conversation: string;
  readonly message: OutsideMessage & { readonly id: string };
}

/** Watches the conversation until it is at rest. @throws where the words were not recorded */
export async function talk(client: RunClient, words: Words, o: SayOptions): Promise<SayResult> {
  const from = await recorded(client, words, o);
  const { conversation } = words;
  const { signal } = o;
  const call = signal === undefined ? {} : { signal };
  const messages: Message[] = [];
  const failures = new Map<string, FailedActivation>();
  let end: RunEnded | undefined;
  const result = (status: SummaryStatus, question?: PendingQuestion, lost?: TroupeError): SayResult => {
    const error = lost ?? (question === undefined && end?.error !== undefined ? errorOf(end.error) : undefined);
    return {
      messages,
      status,
      ...(question === undefined ? {} : { question }),
      ...(error === undefined ? {} : { error }),
      ...(failures.size === 0 ? {} : { failures: [...failures.values()] }),
    };
  };
  try {
    for await (const event of client.events(conversation, { ...call, from })) {
      if (event.type === "act.ended") messages.push(...event.said.map(({ message }) => message));
      if (event.type === "act.ended" || event.type === "act.failed") noteEnd(failures, event);
      if (event.type === "run.ended") end = event;
      if (event.type === "run.resumed") end = undefined;
    }
    if (end !== undefined && end.status !== "waiting") return result(end.status);
    const { status, questions = [] } = await client.read(conversation, call);
    return result(
      status,
      questions.find(({ wait }) => wait === undefined),
    );
  } catch (error) {
    // The words are recorded, whatever has become of the connection.
    if (TroupeError.isInstance(error)) return result(end?.status ?? "open", undefined, error);
    throw error;
  }
}

/** @returns the number of events of the run before the words */
async function recorded(client: RunClient, { conversation, message }: Words, o: SayOptions): Promise<number> {
  const { signal, user, ...terms } = o;
  const call = signal === undefined ? {} : { signal };
  const by = user === undefined ? {} : { user };
  const known = await unlessCode(client.read(conversation, call), "RUN_UNKNOWN");
  if (known !== undefined) {
    await twice(() => client.resume(conversation, { ...terms, add: [{ ...message, ...by }] }, call));
    return known.events;
  }
  const { rounds, budget } = terms;
  const bounds = { ...(rounds === undefined ? {} : { rounds }), ...(budget === undefined ? {} : { budget }) };
  const start = { ...bounds, ...by, idea: message.content, id: conversation };
  // Someone else may have begun it meanwhile, with other words.
  const starting = twice(() => client.start(start, call));
  const started = await unlessCode(starting, "RUN_IDEA_DIFFERS");
  return started === undefined ? recorded(client, { conversation, message }, o) : 0;
}

/** Repeats a request whose answer was lost, and which has no other effect the second time. */
async function twice<T extends object>(request: () => Promise<T>): Promise<T> {
  return (await unlessCode(request(), "SERVER_UNREACHABLE")) ?? request();
}

async function unlessCode<T>(call: Promise<T>, code: string): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (TroupeError.isInstance(error) && error.code === code) return undefined;
    throw error;
  }
}
