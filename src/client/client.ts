import { type Clock, sleep, systemClock } from "../kernel/clock.ts";
import { abortReason, abortWith } from "../kernel/abort.ts";
import { TimeoutError, TroupeError, UsageError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { aText, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import {
  callOptions,
  type CallOptions,
  changeOptions,
  type ChangeOptions,
  continueCallOptions,
  type ContinueCallOptions,
  listOptions,
  type ListOptions,
  sayOptions,
  type SayOptions,
  signalCallOptions,
  type SignalCallOptions,
  startOptions,
  type StartOptions,
  watchOptions,
  type WatchOptions,
} from "./call-options.ts";
import type { Observed, RunEvent, RunNotice } from "../runtime/record/event.ts";
import type { RunSummary, SummaryStatus } from "../runtime/record/run-summary.ts";
import type { Forgotten } from "../team/forget.ts";
import { unreachedText } from "../kernel/server-answer.ts";
import { clauseText } from "../kernel/value-text.ts";
import { sentEvents } from "./event-lines.ts";
import type { SayResult } from "../team/say-result.ts";
import { talk } from "./say.ts";
import { busy, errorIn, good, isPassing, jsonIn, PASSING_STATUS } from "./answers.ts";
import type {
  ContinueRequest,
  ForgetRequest,
  ForkRequest,
  HireRequest,
  MessageReceipt,
  OutsideMessage,
  ReplayReport,
  RunPage,
  ServedTeam,
  StartRequest,
} from "./wire.ts";

/** Options of {@link createClient}. */
export interface ClientOptions {
  /** The address of the server, such as `http://127.0.0.1:8080`. Default: the origin of the page. */
  readonly url?: string;
  /** The token of the tenant. Default: none. */
  readonly token?: string;
  /** Sends requests. Default: the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** Milliseconds after the loss of a connection in which no other one is found, after which `events` gives up. Default 300,000. */
  readonly patience?: number;
  readonly clock?: Clock;
}

const clientOptions: Known<ClientOptions> = {
  url: kinds.text,
  token: kinds.secret,
  fetch: kinds.function,
  patience: kinds.milliseconds,
  clock: kinds.clock,
};

const DEFAULT_PATIENCE = 300_000;
/** Milliseconds before the next try to connect: doubled each time. */
const FIRST_PAUSE = 100;
const MAX_PAUSE = 10_000;
/** Milliseconds without a byte after which a connection counts as lost. A server sends one every 15 seconds. */
const SILENCE = 45_000;

/**
 * Makes a client of a server of runs, for browsers and Node. Errors are those of the server, of the same classes and codes.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`
 * @example
 * import { defineAction, defineRole, Team } from "troupe";
 * import { createClient } from "troupe/client";
 * import { createServer } from "troupe/server";
 *
 * const Shout = defineAction({ name: "Shout", run: (ctx) => ctx.text.toUpperCase() });
 * const server = createServer({ team: new Team({ roles: [defineRole({ name: "Sam", actions: [Shout] })] }) });
 * const client = createClient({ url: "http://localhost", fetch: server.fetch });
 * const { id } = await client.start({ idea: "hello" });
 * for await (const event of client.events(id)) if (event.type === "act.ended") console.log(event.said[0]?.message.content); // HELLO
 * console.log((await client.read(id)).status); // finished
 * await server.close();
 */
export function createClient(options: ClientOptions = {}): RunClient {
  checkKnownOptions("createClient", options, clientOptions);
  return new RunClient(options);
}

/**
 * A client of a server of runs. It owns no state but its address and its token.
 *
 * RunClient.C1 (`events`) events come in their order, each once, across lost connections and restarts of the server.
 */
export class RunClient {
  readonly #url: string;
  readonly #token: string | undefined;
  readonly #fetch: (request: Request) => Promise<Response>;
  readonly #patience: number;
  readonly #clock: Clock;

  /** @internal */
  constructor({ url, token, fetch, patience = DEFAULT_PATIENCE, clock = systemClock }: ClientOptions) {
    const local = (globalThis as { readonly location?: { readonly origin: string } }).location?.origin;
    const base = url ?? local;
    if (base === undefined || !URL.canParse(base)) {
      throw new UsageError("OPTION_INVALID", "Expected url to be the address of a server, such as http://127.0.0.1:8080.");
    }
    this.#url = base.replace(/\/+$/, "");
    this.#token = token;
    this.#fetch = fetch ?? ((request): Promise<Response> => globalThis.fetch(request));
    this.#patience = patience;
    this.#clock = clock;
  }

  async team(o: CallOptions = {}): Promise<ServedTeam> {
    return this.#get("/api/team", checked("team", o, callOptions));
  }

  /** Starts a run. @throws JournalError `RUN_IDEA_DIFFERS` for another request under the same key or id */
  async start(request: StartRequest, o: StartOptions = {}): Promise<RunSummary> {
    return this.#post("/api/runs", given(request), withKey(checked("start", o, startOptions)));
  }

  async list(o: ListOptions = {}): Promise<RunPage> {
    const { signal, ...query } = checked("list", o, listOptions);
    return this.#get(`/api/runs${queryOf(query)}`, { signal });
  }

  /** Returns the summary of a run, with the questions that wait. @throws JournalError `RUN_UNKNOWN` */
  async read(runId: string, o: CallOptions = {}): Promise<RunSummary> {
    return this.#get(pathOf(runId), checked("read", o, callOptions));
  }

  /**
   * Yields the events of a run, and connects again where the connection is lost. Ends when the run is at rest, unless it follows.
   *
   * @throws JournalError `RUN_UNKNOWN`; TimeoutError when the server stays away; ControlError
   */
  events(runId: string, o: WatchOptions = {}): AsyncGenerator<RunEvent, void> {
    return this.#watched(pathOf(runId, "events"), checked("events", o, watchOptions));
  }

  async *#watched(path: string, o: WatchOptions): AsyncGenerator<RunEvent, void> {
    let next = o.from ?? 0;
    let pause = FIRST_PAUSE;
    let lostAt: number | undefined;
    let why = "it sends nothing";
    for (;;) {
      const connection = this.#connect(path, next, o);
      try {
        for await (const sent of connection) {
          lostAt = undefined;
          if (sent === "connected") continue;
          // A server that answers and cuts the connection at once is asked less and less often.
          pause = FIRST_PAUSE;
          if (sent === "end") return;
          if (sent === "alive" || sent.seq < next) continue;
          if (sent.seq > next) break;
          next = sent.seq + 1;
          yield sent;
        }
      } catch (error) {
        if (!isPassing(error)) throw error;
        why = clauseText(error.message);
      }
      if (o.signal?.aborted === true) throw abortReason(o.signal);
      o.onState?.({ connected: false });
      lostAt ??= this.#clock.now();
      if (this.#clock.now() - lostAt > this.#patience) throw new TimeoutError(`the silence of ${this.#url} (${why})`, this.#patience);
      await sleep(this.#clock, pause, o.signal);
      pause = Math.min(MAX_PAUSE, pause * 2);
    }
  }

  /** Publishes a message from outside. @throws QueueFullError `MAILBOX_FULL`; UsageError `MESSAGE_KNOWN`, `MESSAGE_TOO_LONG` */
  async publish(runId: string, message: OutsideMessage | string, o: ChangeOptions = {}): Promise<MessageReceipt> {
    const { signal, ...terms } = checked("publish", o, changeOptions);
    const body = typeof message === "string" ? { content: message } : given(message);
    return this.#post(pathOf(runId, "messages"), { ...body, ...terms }, { signal });
  }

  /**
   * Says something in a conversation, and returns what its roles say until it is at rest, and how it ended. The conversation is the run with this id:
   * the first words start it, and later ones continue it. Two who speak at the same time get each other's replies. It rejects only where the words
   * were not recorded; every end of the run is in the result.
   *
   * @param conversation at most 64 letters, digits, `_` and `-`
   * @throws the errors of `start` and `resume`: of the connection, the token, a limit, or a team that was changed; UsageError `USER_DIFFERS` in a
   * conversation of another user
   */
  async say(conversation: string, text: string, o: SayOptions = {}): Promise<SayResult> {
    takes("say of a client", "text", text, aText);
    const { files } = checked("say", o, sayOptions);
    return talk(this, { conversation, message: { content: text, id: freshKey(), ...(files === undefined ? {} : { files }) } }, o);
  }

  /** Answers a question and continues the run. @throws JournalError `QUESTION_ANSWERED`, `QUESTION_GIVEN_UP`, `QUESTION_UNKNOWN` */
  async answer(runId: string, questionId: string, answer: Json, o: ContinueCallOptions = {}): Promise<RunSummary> {
    const { signal, ...terms } = checked("answer", o, continueCallOptions);
    return this.#post(pathOf(runId, "answers", questionId), { ...terms, answer }, { signal });
  }

  /**
   * Sends a signal to a run: it ends a wait of this name and continues the run, or is kept for a later one.
   *
   * @param value any JSON value; default null
   * @throws UsageError `SIGNAL_INVALID`; JournalError `RUN_FINISHED`; QueueFullError `SIGNALS_FULL`
   */
  async signal(runId: string, name: string, value?: Json, o: SignalCallOptions = {}): Promise<RunSummary> {
    const { signal, ...terms } = checked("signal", o, signalCallOptions);
    return this.#post(pathOf(runId, "signals", name), { ...terms, ...(value === undefined ? {} : { value }) }, { signal });
  }

  /** Hires a role of the server's team into a run. It starts nothing. @throws UsageError `ROLE_UNKNOWN`, `ROLE_DUPLICATE` */
  async hire(runId: string, role: HireRequest | string, o: ChangeOptions = {}): Promise<RunSummary> {
    const { signal, ...terms } = checked("hire", o, changeOptions);
    const body = typeof role === "string" ? { role } : given(role);
    return this.#post(pathOf(runId, "roles"), { ...body, ...terms }, { signal });
  }

  /** Retires a role of a run. @throws UsageError `ROLE_UNKNOWN`; `ROLES_NONE` for its last role */
  async retire(runId: string, name: string, o: ChangeOptions = {}): Promise<RunSummary> {
    const { signal, onTeamChange } = checked("retire", o, changeOptions);
    return jsonIn(await this.#send("DELETE", pathOf(runId, "roles", name) + queryOf({ onTeamChange }), { signal }));
  }

  /** Lets a person take a role of a run. @throws UsageError `ROLE_UNKNOWN`, `ROLE_TAKEN` */
  async takeRole(runId: string, name: string, o: ChangeOptions & { readonly by?: string } = {}): Promise<RunSummary> {
    const { signal, ...terms } = checked("takeRole", o, { ...changeOptions, by: kinds.text });
    return this.#post(pathOf(runId, "roles", name, "player"), terms, { signal });
  }

  /** Gives a role of a run back to its model. @throws UsageError `ROLE_UNKNOWN`, `ROLE_NOT_TAKEN` */
  async giveBackRole(runId: string, name: string, o: ChangeOptions = {}): Promise<RunSummary> {
    const { signal, ...terms } = checked("giveBackRole", o, changeOptions);
    return this.#post(pathOf(runId, "roles", name, "player"), { ...terms, back: true }, { signal });
  }

  /** Lets no further activation start. @throws UsageError `RUN_INACTIVE` */
  async pause(runId: string, o: CallOptions = {}): Promise<RunSummary> {
    return this.#post(pathOf(runId, "pause"), undefined, checked("pause", o, callOptions));
  }

  /** Ends a pause. @throws UsageError `RUN_INACTIVE` */
  async proceed(runId: string, o: ContinueCallOptions = {}): Promise<RunSummary> {
    const { signal, ...terms } = checked("proceed", o, continueCallOptions);
    return this.#post(pathOf(runId, "proceed"), terms, { signal });
  }

  /** Stops a run, so that it can be resumed. */
  async stop(runId: string, o: CallOptions = {}): Promise<RunSummary> {
    return this.#post(pathOf(runId, "stop"), undefined, checked("stop", o, callOptions));
  }

  /** Resumes a run at rest. @throws JournalError `TEAM_CHANGED`, `RUN_OWNED` */
  async resume(runId: string, request: ContinueRequest = {}, o: CallOptions = {}): Promise<RunSummary> {
    return this.#post(pathOf(runId, "resume"), given(request), checked("resume", o, callOptions));
  }

  async replay(runId: string, o: CallOptions = {}): Promise<ReplayReport> {
    return this.#post(pathOf(runId, "replay"), undefined, checked("replay", o, callOptions));
  }

  async fork(runId: string, request: ForkRequest = {}, o: StartOptions = {}): Promise<RunSummary> {
    return this.#post(pathOf(runId, "fork"), given(request), withKey(checked("fork", o, startOptions)));
  }

  /** Erases what a user or a conversation has said. @throws JournalError `RUN_OWNED` while one of the runs is under way: then nothing is erased */
  async forget(request: ForgetRequest, o: CallOptions = {}): Promise<Forgotten> {
    return this.#post("/api/forget", given(request), checked("forget", o, callOptions));
  }

  async export(runId: string, o: CallOptions = {}): Promise<string> {
    return (await this.#send("GET", pathOf(runId, "export"), checked("export", o, callOptions))).text();
  }

  /** Returns the bytes of a file of a message. @throws JournalError `FILE_UNKNOWN` */
  async file(runId: string, hash: string, o: CallOptions = {}): Promise<Uint8Array> {
    const response = await this.#send("GET", pathOf(runId, "files", hash), checked("file", o, callOptions));
    return new Uint8Array(await response.arrayBuffer());
  }

  async *#connect(path: string, from: number, o: WatchOptions): AsyncGenerator<RunEvent | "connected" | "alive" | "end", void> {
    const silence = new AbortController();
    const letGo = abortWith(silence, o.signal);
    const { signal } = silence;
    let cancel = (): void => {};
    const alive = (): void => {
      cancel();
      cancel = this.#clock.timer(SILENCE, () => silence.abort(new Error("The server is silent.")));
    };
    alive();
    try {
      const query = queryOf({ follow: o.follow === true ? "true" : undefined, notices: o.onNotice === undefined ? "false" : undefined });
      const last = from === 0 ? {} : { "last-event-id": String(from - 1) };
      const response = await this.#asked("GET", path + query, { signal, headers: last });
      if (PASSING_STATUS.has(response.status)) throw busy(await errorIn(response));
      const { body } = await good(response, "text/event-stream");
      o.onState?.({ connected: true });
      yield "connected";
      if (body === null) return;
      for await (const sent of sentEvents(body, signal)) {
        alive();
        if (sent === undefined) yield "alive";
        else if (sent.id !== undefined) yield JSON.parse(sent.data) as RunEvent;
        else if (sent.event === "end") {
          o.onState?.({ connected: true, ...(JSON.parse(sent.data) as { readonly status: SummaryStatus }) });
          if (o.follow !== true) yield "end";
        } else o.onNotice?.(JSON.parse(sent.data) as Observed as RunNotice);
      }
    } finally {
      letGo();
      cancel();
    }
  }

  async #get<T>(path: string, { signal }: SendOptions): Promise<T> {
    return jsonIn(await this.#send("GET", path, { signal }));
  }

  async #post<T>(path: string, body: unknown, { signal, key }: SendOptions & { readonly key?: string }): Promise<T> {
    const headers = key === undefined ? {} : { "idempotency-key": key };
    return jsonIn(await this.#send("POST", path, { signal, headers, body }));
  }

  async #send(method: string, path: string, o: SendOptions): Promise<Response> {
    return good(await this.#asked(method, path, o));
  }

  async #asked(method: string, path: string, o: SendOptions): Promise<Response> {
    const headers = new Headers(o.headers);
    if (this.#token !== undefined) headers.set("authorization", `Bearer ${this.#token}`);
    if (o.body !== undefined) headers.set("content-type", "application/json");
    const init = { method, headers, ...(o.signal === undefined ? {} : { signal: o.signal }) };
    const request = new Request(this.#url + path, o.body === undefined ? init : { ...init, body: JSON.stringify(o.body) });
    const ask = (): Promise<Response> => this.#fetch(request);
    // A server may close an idle connection at the moment when a request goes over it. Only what changes nothing is asked again.
    return (method === "GET" ? ask().catch(ask) : ask()).catch((cause: unknown) => {
      if (o.signal?.aborted === true) throw abortReason(o.signal);
      const why = unreachedText(cause);
      const text = `Expected an answer of ${this.#url}, but it cannot be reached${why === undefined ? "" : `: ${why}`}. Check that the server runs.`;
      throw new TroupeError("SERVER_UNREACHABLE", text, { cause });
    });
  }
}

interface SendOptions {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

function checked<T extends object>(what: string, o: T, known: Known<T>): T {
  checkKnownOptions(`${what} of a client`, o, known);
  return o;
}

function withKey({ key = freshKey(), signal }: StartOptions): SendOptions & { readonly key: string } {
  return { key, signal };
}

/** The server checks what is in a request. */
function given<T extends object>(request: T): T {
  takes("a method of a client", "the request", request, kinds.object);
  return request;
}

function pathOf(...parts: readonly string[]): string {
  for (const part of parts) takes("a method of a client", "an id or a name", part, aText);
  return ["/api/runs", ...parts.map(encodeURIComponent)].join("/");
}

function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? "" : `?${query.toString()}`;
}

/** `randomUUID` exists on pages of secure origins alone. */
function freshKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
