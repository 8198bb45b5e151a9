import { kinds } from "../kernel/option-kinds.ts";
import { checkKnownOptions } from "../kernel/known-options.ts";
import { Hono } from "hono";
import type { EventsQuery } from "../client/wire.ts";
import { throwIfAborted } from "../kernel/abort.ts";
import { errorRecord, TroupeError, UsageError } from "../kernel/errors.ts";
import { type Mask, maskSecrets } from "../kernel/mask.ts";
import { boundedBody, FairTurns, type Turn } from "./admission.ts";
import { EventStream } from "./event-stream.ts";
import { Guard, pagePolicy, preflight, secureHeaders } from "./guard.ts";
import { errorResponse, isServerFault } from "./http-errors.ts";
import { listenOn, type Listening, type ListenOptions } from "./listening.ts";
import { openApi } from "./openapi.ts";
import { Readiness } from "./readiness.ts";
import { Recovery } from "./recovery.ts";
import { fitting, type Route, type RouteParts, type RouteRequest, ROUTES } from "./routes.ts";
import { recordWatch, RunFeeds } from "./run-feed.ts";
import { ServedRuns, type ServedRunsParts } from "./served-runs.ts";
import { type ServerOptions, serverSettings, type ServerSettings } from "./server-options.ts";
import { RunSummaries } from "./summaries.ts";
import { Tenants } from "./tenants.ts";

/** A server of runs. */
export interface RunServer {
  /** Answers a request of the Fetch API. Never rejects. Hand it to any server that speaks it. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Resolves when the money of former runs is counted, and unfinished ones resume. The first request and `listen` call it. */
  ready(): Promise<void>;
  /** Listens with Node's HTTP server. @throws UsageError `LISTEN_OPEN`, `LISTEN_FAILED`, `OPTION_INVALID` */
  listen(options?: ListenOptions): Promise<Listening>;
  /**
   * Closes the server: it takes no more requests, streams end, and its runs stop and resume at the next start. Steps in flight get `grace`
   * milliseconds to end, default 10,000. The journal stays open.
   */
  close(options?: { readonly grace?: number }): Promise<void>;
}

const LAST_ANSWERS = 2_000;

/**
 * Serves the runs of a team, or of teams that are opened for each run: start, list, watch, publish, answer, pause, stop, resume, fork, replay,
 * export, all described by `/openapi.json`. Each tenant sees its own runs alone. Defaults: one user without a token, requests under the names of
 * this machine alone, bodies of at most 1 MB.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`, `ARGUMENT_INVALID`
 * @example
 * import { defineAction, defineRole, Team } from "troupe";
 * import { createServer } from "troupe/server";
 *
 * const Shout = defineAction({ name: "Shout", run: (ctx) => ctx.text.toUpperCase() });
 * const server = createServer({ team: new Team({ roles: [defineRole({ name: "Sam", actions: [Shout] })] }) });
 * const response = await server.fetch(
 *   new Request("http://localhost/api/runs", {
 *     method: "POST",
 *     headers: { "content-type": "application/json" },
 *     body: JSON.stringify({ idea: "hello" }),
 *   }),
 * );
 * console.log(response.status); // 201
 * await server.close();
 */
export function createServer(options: ServerOptions): RunServer {
  return new TroupeServer(serverSettings(options));
}

/**
 * The server behind {@link createServer}. It owns the tenants, the driven runs and the address where it listens.
 *
 * TroupeServer.H1 (`fetch`) every request but those for health passes host, origin, token and rate, in this order.
 * TroupeServer.H2 (`#prepared`) the run of a path is one of the tenant's, or the answer is that of an unknown run.
 * TroupeServer.H3 (`fetch`) every answer has the headers that let a browser only read it.
 * TroupeServer.H4 (`#admitted`) a request is worked on within the bounds of its tenant, and in its turn.
 */
class TroupeServer implements RunServer {
  readonly #settings: ServerSettings;
  readonly #tenants: Tenants;
  readonly #guard: Guard;
  readonly #mask: Mask;
  readonly #feeds: RunFeeds;
  readonly #runs: ServedRuns;
  readonly #recovery: Recovery;
  readonly #turns: FairTurns;
  readonly #readiness: Readiness;
  readonly #app: Hono;
  #ready: Promise<void> | undefined;
  #isReady = false;
  #listening: Listening | undefined;
  #closing: Promise<void> | undefined;

  constructor(settings: ServerSettings) {
    const { journal, clock, logger, recovers, uncertainAfter } = settings;
    this.#settings = settings;
    this.#tenants = new Tenants(settings, clock);
    this.#guard = new Guard(settings);
    this.#mask = maskSecrets(settings.secrets);
    this.#feeds = new RunFeeds(journal, recordWatch(journal, clock));
    const { accounts } = this.#tenants;
    const rested: ServedRunsParts["rested"] = (...given) => this.#recovery.rested(...given);
    this.#runs = new ServedRuns({ ...settings, feeds: this.#feeds, accounts, rested }, (driven) => new RunSummaries(journal, driven));
    this.#recovery = new Recovery({ journal, accounts, runs: this.#runs, clock, logger, recovers, uncertainAfter });
    this.#turns = new FairTurns(clock);
    this.#readiness = new Readiness(settings);
    this.#app = this.#routed();
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const began = this.#settings.clock.now();
    let origin: string | undefined;
    let response: Response;
    try {
      // A health check asks by the address of the process, and the answer has no secret.
      if (!["/healthz", "/readyz"].includes(new URL(request.url).pathname)) origin = this.#guard.check(request);
      response = origin !== undefined && request.method === "OPTIONS" ? preflight(origin) : await this.#answer(request);
    } catch (error) {
      response = this.#failed(error);
    }
    const answered = new Response(response.body, response);
    secureHeaders(answered.headers, origin);
    const { pathname } = new URL(request.url);
    const ms = this.#settings.clock.now() - began;
    const entry = { method: request.method, path: this.#mask(pathname.slice(0, 300)), status: answered.status, ms };
    this.#settings.logger[pathname.startsWith("/api/") ? "info" : "debug"]("A request was answered.", entry);
    return answered;
  };

  ready(): Promise<void> {
    // A journal that could not be read may be there again at the next request.
    this.#ready ??= this.#recovered().catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  async listen(options: ListenOptions = {}): Promise<Listening> {
    checkKnownOptions("listen", options, { port: kinds.checked, hostname: kinds.checked });
    if (this.#closing !== undefined || this.#listening !== undefined) {
      throw new UsageError("OPTION_INVALID", "Expected a server that does not listen yet, but this one did. Create another.");
    }
    this.#listening = await listenOn(this.fetch, options, this.#tenants.hasTokens);
    this.#guard.admit(new URL(this.#listening.url).hostname);
    // Clients may connect while runs of a former process resume; they are answered when that is done.
    void this.ready().catch(() => undefined);
    return this.#listening;
  }

  async close(options: { readonly grace?: number } = {}): Promise<void> {
    checkKnownOptions("close", options, { grace: kinds.milliseconds });
    const { grace = 10_000 } = options;
    this.#closing ??= this.#closed(grace);
    return this.#closing;
  }

  async #closed(grace: number): Promise<void> {
    // The close ends a recovery that is under way.
    await this.#runs.close(grace);
    await this.#listening?.close(LAST_ANSWERS);
    this.#settings.logger.info("The server is closed.");
  }

  async #recovered(): Promise<void> {
    const gone = await this.#recovery.recover();
    this.#isReady = true;
    this.#settings.logger.info("The server is ready.", { resumed: gone });
  }

  /** Answers a request. For HEAD the body is cancelled here, because the router leaves it open: a stream would keep its place. */
  async #answer(request: Request): Promise<Response> {
    if (request.method !== "HEAD") return this.#app.fetch(request);
    const response = await this.#app.fetch(new Request(request, { method: "GET" }));
    await response.body?.cancel();
    return new Response(null, response);
  }

  #routed(): Hono {
    const app = new Hono();
    const { version } = this.#settings;
    app.get("/healthz", () => Response.json({ status: "ok" }));
    app.get("/readyz", () => this.#standing());
    app.get("/openapi.json", () => Response.json(openApi(version)));
    app.get("/", () => this.#page());
    app.use("/api/*", (context, next) =>
      this.#admitted(context.req.raw, async (request) => {
        context.req.raw = request;
        await next();
      }),
    );
    const { journal } = this.#settings;
    const parts: RouteParts = { journal, runs: this.#runs, stream: (request, query) => this.#stream(request, query) };
    for (const route of ROUTES) {
      app.on(route.method, route.path, async (context) =>
        route.answer(parts, await this.#prepared(route, context.req.raw, context.req.param())),
      );
    }
    app.notFound((context) => {
      const expected = "Expected one of the routes of /openapi.json";
      return this.#failed(new UsageError("ROUTE_UNKNOWN", `${expected}, got ${context.req.method} ${context.req.path.slice(0, 200)}.`));
    });
    app.onError((error) => this.#failed(error));
    return app;
  }

  /** Works on a request when its tenant has room for it and it has its turn. The token is checked before a body is kept. */
  async #admitted(request: Request, work: (request: Request) => Promise<void>): Promise<void> {
    const { bodyLimit: limit } = this.#settings;
    const account = this.#tenants.of(request.headers.get("authorization"));
    const leaves = [account.takeConnection()];
    const take = (bytes: number): void => void leaves.push(account.bytes.take(bytes));
    let turn: Turn | undefined;
    // A client that sends slowly loses its turn, and gets another one when its body is there.
    const begin = async (bytes: number): Promise<void> => {
      if (turn?.isOver !== false) turn = await this.#turns.take(account.name, bytes);
    };
    try {
      const read = await boundedBody(request, { limit, take, begin });
      if (read.bytes > 0) await begin(read.bytes);
      await work(read.request);
    } finally {
      turn?.end();
      for (const leave of leaves.reverse()) leave();
    }
  }

  async #prepared(route: Route, request: Request, params: Readonly<Record<string, string>>): Promise<RouteRequest> {
    const account = this.#tenants.of(request.headers.get("authorization"));
    account.takeRequest();
    if (this.#runs.isClosing)
      throw new UsageError("SERVER_CLOSING", "Expected a server that takes work, but this one is closing. Come back.");
    await this.ready();
    const { id } = params;
    const runId = id === undefined ? "" : account.runIdOf(id);
    // The journal says that a run is unknown before its body is looked at.
    if (id !== undefined) await this.#runs.summaries.known(runId);
    const given = Object.fromEntries(new URL(request.url).searchParams);
    return {
      account,
      runId,
      params,
      query: route.query === undefined ? undefined : fitting(route.query, given, "QUERY_INVALID"),
      body: route.body === undefined ? undefined : fitting(route.body, await bodyOf(request, route), "BODY_INVALID"),
      headers: request.headers,
      signal: request.signal,
    };
  }

  async #stream({ account, runId, headers, signal }: RouteRequest, { from = 0, follow, notices }: EventsQuery): Promise<Response> {
    const last = headers.get("last-event-id");
    const first = last === null ? from : seqAfter(last);
    const leave = account.streams.take();
    const watched = { runId, from: first, follows: follow === "true", wantsNotices: notices !== "false" };
    const stream = new EventStream(watched, { feeds: this.#feeds, clock: this.#settings.clock, runs: this.#runs }, leave);
    const { body } = stream;
    try {
      // A record that cannot be read is an error here, and no stream that ends again and again.
      await stream.begin();
      // No one will read or cancel the body of a client that has gone.
      throwIfAborted(signal);
    } catch (error) {
      await body.cancel();
      throw error;
    }
    return new Response(body, {
      headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store, no-transform", "x-accel-buffering": "no" },
    });
  }

  async #page(): Promise<Response> {
    const html = await this.#settings.page();
    if (html === undefined)
      throw new UsageError("ROUTE_UNKNOWN", "Expected a page at /, but this server has none. Its routes: /openapi.json.");
    const headers = {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": pagePolicy(html),
      "cache-control": "no-cache",
    };
    return new Response(html, { headers });
  }

  async #standing(): Promise<Response> {
    void this.ready().catch(() => undefined);
    const status = this.#runs.isClosing
      ? "closing"
      : !this.#isReady
        ? "starting"
        : (await this.#readiness.canWrite())
          ? "ready"
          : "unwritable";
    return Response.json({ status }, { status: status === "ready" ? 200 : 503 });
  }

  #failed(error: unknown): Response {
    const response = errorResponse(error, this.#mask);
    const { code, message } = errorRecord(error);
    if (isServerFault(response.status, code)) {
      const stack = error instanceof Error && !TroupeError.isInstance(error) ? error.stack?.slice(0, 2_000) : undefined;
      this.#settings.logger.error("A request failed.", { code, reason: this.#mask(message), stack: stack && this.#mask(stack) });
    }
    return response;
  }
}

function seqAfter(lastEventId: string): number {
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId) + 1;
  throw new UsageError("HEADER_INVALID", "Expected Last-Event-ID to be the id of an event, such as 12, got another text.");
}

async function bodyOf(request: Request, { isBodyOptional }: Route): Promise<unknown> {
  const text = await request.text();
  if (text === "" && isBodyOptional === true) return {};
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? "")) {
    throw new UsageError("BODY_TYPE", "Expected a body of JSON, got another type. Send it as content-type: application/json.");
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new UsageError("BODY_INVALID", "Expected a body of JSON, got something else.", { cause });
  }
}
