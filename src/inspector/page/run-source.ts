import type { RunClient } from "../../client/client.ts";
import type { Json } from "../../kernel/json.ts";
import { EVENT_VERSION, type RunEvent, type RunNotice } from "../../runtime/record/event.ts";
import { type PendingQuestion, questionIn } from "../../runtime/record/questions.ts";
import { type RunSummary, type RunTally, TallyFold, askedIn } from "../../runtime/record/run-summary.ts";

export interface RunWatcher {
  readonly events: (events: readonly RunEvent[]) => void;
  /** Progress that is not recorded. Some of it may be missed. */
  readonly notice: (notice: RunNotice) => void;
  readonly connection: (connection: Connection) => void;
}

export type Connection =
  | { readonly state: "offline" }
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  /** The server cannot be reached. The page tries again by itself. */
  | { readonly state: "lost"; readonly tries: number; readonly why: string }
  | { readonly state: "refused"; readonly why: string };

export interface RunStanding {
  readonly summary: RunSummary;
  readonly questions: readonly PendingQuestion[];
}

/** The actions of a person on a run. Each rejects with the server's words. */
export type RunActions = ReturnType<typeof actionsOf>;

export interface RunPage {
  readonly runs: readonly RunSummary[];
  readonly next?: string;
}

export interface RunSource {
  readonly kind: "live" | "offline";
  readonly actions?: RunActions;
  runs(cursor: string | undefined, signal: AbortSignal): Promise<RunPage>;
  standing(run: string, signal: AbortSignal): Promise<RunStanding>;
  /** Returns the base64 of a file of a run. Undefined where files are not kept. */
  readonly file?: (run: string, hash: string) => Promise<string>;
  watch(run: string, watcher: RunWatcher, signal: AbortSignal): Promise<void>;
}

const PAGE = 100;

/** A source of the runs of a server. Asks once for its team: without roles, runs can only be read. */
export async function liveSource(client: RunClient, signal: AbortSignal): Promise<RunSource> {
  const { roles, reserve } = await client.team({ signal });
  return {
    kind: "live",
    ...(roles.length === 0 ? {} : { actions: actionsOf(client, [...reserve, ...roles]) }),
    runs: async (cursor, aborted) => client.list({ limit: PAGE, signal: aborted, ...(cursor === undefined ? {} : { cursor }) }),
    async standing(run, aborted) {
      const summary = await client.read(run, { signal: aborted });
      return { summary, questions: summary.questions ?? [] };
    },
    async file(run, hash) {
      let text = "";
      for (const byte of await client.file(run, hash)) text += String.fromCharCode(byte);
      return btoa(text);
    },
    watch: (run, watcher, aborted) => watch(client, run, watcher, aborted),
  };
}

async function watch(client: RunClient, run: string, watcher: RunWatcher, signal: AbortSignal): Promise<void> {
  let tries = 0;
  let coming: RunEvent[] = [];
  // Many events come in one piece of the stream. The page draws them together.
  const flush = (): void => {
    const events = coming;
    coming = [];
    if (events.length > 0) watcher.events(events);
  };
  const onState = ({ connected }: { readonly connected: boolean }): void => {
    tries = connected ? 0 : tries + 1;
    const why = "The server cannot be reached. The page tries again by itself.";
    watcher.connection(connected ? { state: "live" } : { state: "lost", tries, why });
  };
  try {
    for await (const event of client.events(run, { follow: true, signal, onState, onNotice: watcher.notice })) {
      refuseNewer(event);
      if (coming.push(event) === 1) setTimeout(flush);
    }
  } finally {
    flush();
  }
}

function refuseNewer({ v }: RunEvent): void {
  if (v <= EVENT_VERSION) return;
  throw new Error(
    `Expected events of version ${EVENT_VERSION}, got version ${v}. Open this run with the newer version of Troupe that wrote it.`,
  );
}

interface EditedMessage {
  readonly seq: number;
  readonly nth: number;
  readonly content: string;
}

function actionsOf(client: RunClient, definitions: readonly string[]) {
  const done = (work: Promise<unknown>): Promise<void> => work.then(() => undefined);
  return {
    answer: (run: string, question: string, answer: Json) => done(client.answer(run, question, answer)),
    publish: (run: string, content: string, sendTo: readonly string[]) =>
      client.publish(run, { content, ...(sendTo.length === 0 ? {} : { sendTo }) }),
    pause: (run: string) => done(client.pause(run)),
    proceed: (run: string) => done(client.proceed(run)),
    stop: (run: string) => done(client.stop(run)),
    resume: (run: string) => done(client.resume(run)),
    definitions,
    /** @param as the name in the run; default: that of the definition */
    hire: (run: string, role: string, as: string | undefined) => done(client.hire(run, as === undefined ? role : { role, as })),
    retire: (run: string, name: string) => done(client.retire(run, name)),
    /** Returns the id of the new run. @param at the last shared event */
    fork: async (run: string, at: number, change: readonly EditedMessage[]) => (await client.fork(run, { at, change })).id,
  };
}

export function offlineSource(runs: readonly (readonly RunEvent[])[]): RunSource {
  const known = new Map(runs.flatMap((events) => (events[0] === undefined ? [] : [[events[0].runId, events]])));
  const eventsOf = (run: string): readonly RunEvent[] => {
    const events = known.get(run);
    if (events === undefined) throw new Error(`Expected a run of this file, got ${run}. Go back to the list of runs.`);
    return events;
  };
  const tallies = new Map<string, RunTally>();
  const tallyOf = (run: string): RunTally => {
    const tally = tallies.get(run) ?? tallied(eventsOf(run));
    tallies.set(run, tally);
    return tally;
  };
  const summaryOf = (run: string): RunSummary => tallyOf(run).summary;
  return {
    kind: "offline",
    runs: () => Promise.resolve({ runs: [...known.keys()].map(summaryOf) }),
    // No one answers here, so the step names the question.
    standing: async (run) => {
      const questions = askedIn(tallyOf(run)).map((step) => ({ id: `${step.act} ${step.key}`, ...questionIn(step) }));
      return Promise.resolve({ summary: summaryOf(run), questions });
    },
    async watch(run, watcher) {
      const events = eventsOf(run);
      events.forEach(refuseNewer);
      watcher.events(events);
      watcher.connection({ state: "offline" });
      return Promise.resolve();
    },
  };
}

function tallied(events: readonly RunEvent[]): RunTally {
  const fold = new TallyFold(events[0]?.runId ?? "");
  for (const event of events) fold.add(event);
  return fold.tally;
}
