import { TroupeError } from "../kernel/errors.ts";
import type { RunEnded } from "../runtime/record/event.ts";
import { Replies, type SayResult } from "../team/say-result.ts";
import type { SayOptions } from "./call-options.ts";
import type { RunClient } from "./client.ts";
import { errorOf } from "./answers.ts";
import type { OutsideMessage } from "./wire.ts";

export interface Words {
  readonly conversation: string;
  readonly message: OutsideMessage & { readonly id: string };
}

/** Watches the conversation until it is at rest. @throws where the words were not recorded */
export async function talk(client: RunClient, words: Words, o: SayOptions): Promise<SayResult> {
  const from = await recorded(client, words, o);
  const { conversation } = words;
  const { signal, onNotice } = o;
  const call = signal === undefined ? {} : { signal };
  const replies = new Replies();
  let end: RunEnded | undefined;
  const reason = (): TroupeError | undefined => (end?.error === undefined ? undefined : errorOf(end.error));
  try {
    for await (const event of client.events(conversation, { ...call, from, ...(onNotice === undefined ? {} : { onNotice }) })) {
      replies.add(event);
      if (event.type === "run.ended") end = event;
      if (event.type === "run.resumed") end = undefined;
    }
    if (end !== undefined && end.status !== "waiting") return replies.result(end.status, undefined, reason());
    const { status, questions = [] } = await client.read(conversation, call);
    const question = questions.find(({ wait }) => wait === undefined);
    return replies.result(status, question, questions.length === 0 ? reason() : undefined);
  } catch (error) {
    // The words are recorded, whatever has become of the connection.
    if (TroupeError.isInstance(error)) return replies.result(end?.status ?? "open", undefined, error);
    throw error;
  }
}

/** @returns the number of events of the run before the words */
async function recorded(client: RunClient, { conversation, message }: Words, o: SayOptions): Promise<number> {
  const { signal, user, onNotice: _onNotice, files: _files, ...terms } = o;
  const call = signal === undefined ? {} : { signal };
  const by = user === undefined ? {} : { user };
  const known = await unlessCode(client.read(conversation, call), "RUN_UNKNOWN");
  if (known !== undefined) {
    await twice(() => client.resume(conversation, { ...terms, add: [{ ...message, ...by }] }, call));
    return known.events;
  }
  const { rounds, budget } = terms;
  const bounds = { ...(rounds === undefined ? {} : { rounds }), ...(budget === undefined ? {} : { budget }) };
  const { content: idea, files } = message;
  const start = { ...bounds, ...by, ...(files === undefined ? {} : { files }), idea, id: conversation };
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
