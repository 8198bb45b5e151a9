import { TroupeError } from "../kernel/errors.ts";
import type { Message } from "../message/message.ts";
import type { RunEnded } from "../runtime/record/event.ts";
import { type FailedActivation, noteEnd } from "../runtime/record/failed-activation.ts";
import type { PendingQuestion } from "../runtime/record/questions.ts";
import type { SummaryStatus } from "../runtime/record/run-summary.ts";
import type { SayOptions } from "./call-options.ts";
import type { RunClient } from "./client.ts";
import { errorOf } from "./told-error.ts";
import type { OutsideMessage } from "./wire.ts";

/** What came of words in a conversation. */
export interface SayResult {
  /** What the roles said, also where the run did not finish. */
  readonly messages: readonly Message[];
  /** How the run stands. `open`: the connection was lost before it came to rest, and it may go on. */
  readonly status: SummaryStatus;
  /** The first question to a person that waits for an answer: see `RunClient.answer`. */
  readonly question?: PendingQuestion;
  /** Why the run did not finish, or why its end is not known. Left out where it finished or a question waits. */
  readonly error?: TroupeError;
  /** The activations that failed since the words, also where the run went on without them. Left out without any. */
  readonly failures?: readonly FailedActivation[];
}

/** The words of one call. */
export interface Words {
  readonly conversation: string;
  readonly message: OutsideMessage & { readonly id: string };
}

/** Tells a conversation some words, and hears it until it is at rest. @throws where the words were not recorded */
export async function talk(client: RunClient, words: Words, o: SayOptions): Promise<SayResult> {
  const from = await told(client, words, o);
  const { conversation } = words;
  const { signal } = o;
  const call = signal === undefined ? {} : { signal };
  const messages: Message[] = [];
  const failures = new Map<string, FailedActivation>();
  let end: RunEnded | undefined;
  const heard = (status: SummaryStatus, question?: PendingQuestion, lost?: TroupeError): SayResult => {
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
    if (end !== undefined && end.status !== "waiting") return heard(end.status);
    const { status, questions = [] } = await client.read(conversation, call);
    return heard(status, questions[0]);
  } catch (error) {
    // The words are recorded, whatever has become of the connection.
    if (TroupeError.isInstance(error)) return heard(end?.status ?? "open", undefined, error);
    throw error;
  }
}

/** Records the words. @returns the number of events of the run before them */
async function told(client: RunClient, { conversation, message }: Words, o: SayOptions): Promise<number> {
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
  const started = await unlessCode(
    twice(() => client.start(start, call)),
    "RUN_IDEA_DIFFERS",
  );
  return started === undefined ? told(client, { conversation, message }, o) : 0;
}

/** Repeats a request whose answer was lost, and which has no other effect the second time. */
async function twice<T>(request: () => Promise<T>): Promise<T> {
  const again = (await unlessCode(
    request().then((value) => ({ value })),
    "SERVER_UNREACHABLE",
  )) ?? { value: await request() };
  return again.value;
}

/** Undefined where the call fails with this code. */
async function unlessCode<T>(call: Promise<T>, code: string): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (TroupeError.isInstance(error) && error.code === code) return undefined;
    throw error;
  }
}
