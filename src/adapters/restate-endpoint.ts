import { randomUUID } from "node:crypto";
import { connect, createServer, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import type { ObjectContext } from "@restatedev/restate-sdk";
import { TroupeError } from "../kernel/errors.ts";
import { thrownText } from "../kernel/value-text.ts";
import { optionalPackage } from "./optional-package.ts";
import { type RestatePresence, HANDLER, type RestateAddress, serviceOf, WORKER } from "./restate-server.ts";

export interface RestateEndpoint {
  uri(team: string): string;
  readonly presence: string;
  has(uri: string): boolean;
  close(): Promise<void>;
}

export interface RestateCalls {
  /** Called for a call before its body is read. False: it is refused, and the server repeats it later, at the newest endpoint then. */
  admits(invocation: string, response: Http2ServerResponse): boolean;
  run(ctx: ObjectContext, sent: unknown): Promise<void>;
}

/** A handler is silent while its run works: a worker that dies loses its connection. */
const SILENCE = { days: 365 };
const OBJECT = {
  retryPolicy: { initialInterval: 50, exponentiationFactor: 1.3, maxInterval: 500, maxAttempts: 1_000_000_000 },
  inactivityTimeout: SILENCE,
  abortTimeout: SILENCE,
  journalRetention: 0,
  // The server keeps an ended call for a while, in which its worker hears of the end.
  idempotencyRetention: { minutes: 10 },
};
/** A worker answers, or is gone: a question to it is not kept. */
const QUESTION = { retryPolicy: { maxAttempts: 1, onMaxAttempts: "kill" }, journalRetention: 0, idempotencyRetention: 0 } as const;

/**
 * Serves the virtual objects of teams. Each has an address of its own, so that it can be given to another worker without the others.
 *
 * @throws UsageError `PACKAGE_MISSING`; TroupeError `DRIVER_REFUSED` when the port is taken
 */
export async function serveObjects(
  { host, port, logger }: Pick<RestateAddress, "host" | "port" | "logger">,
  teams: readonly string[],
  calls: RestateCalls,
  presence?: RestatePresence,
): Promise<RestateEndpoint> {
  const { createEndpointHandler, object, service } = await loaded();
  const run = (ctx: ObjectContext, sent: unknown): Promise<void> => calls.run(ctx, sent);
  const objects = teams.map((team) => object({ name: serviceOf(team), handlers: { [HANDLER]: run }, options: OBJECT }));
  const questions =
    presence === undefined ? [] : [service({ name: `${WORKER}${presence.id}`, handlers: handlersOf(presence), options: QUESTION })];
  const handlers = [...objects, ...questions].map((served) =>
    createEndpointHandler({
      services: [served],
      logger: ({ level }, ...said: unknown[]) => logger.debug(`Package of Restate: ${said.map(thrownText).join(" ")}`, { level }),
    }),
  );
  const sessions = new Set<ServerHttp2Session>();
  // A port may be given to another program after the death of its worker, which must not be taken for it.
  const root = `/${randomUUID()}/`;
  const server = createServer((request: Http2ServerRequest, response: Http2ServerResponse) => {
    const index = request.url.startsWith(root) ? Number.parseInt(request.url.slice(root.length)) : -1;
    const handler = handlers[index];
    const invocation = request.headers["x-restate-invocation-id"];
    if (handler === undefined) response.writeHead(404).end();
    else if (index < teams.length && typeof invocation === "string" && !calls.admits(invocation, response)) response.writeHead(503).end();
    else handler(request, response);
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => undefined);
    session.once("close", () => sessions.delete(session));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(portTaken(host, port, cause)));
    server.listen(port, host, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  const base = `http://${host.includes(":") ? `[${host}]` : host}:${bound}${root}`;
  return {
    uri: (team) => `${base}${teams.indexOf(team)}`,
    presence: `${base}${teams.length}`,
    has: (uri) => uri.startsWith(base),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const session of sessions) session.destroy();
      }),
  };
}

function handlersOf(presence: RestatePresence): Record<"look" | "drain", () => Promise<object>> {
  return {
    look: async () => ({ since: presence.since, jobs: presence.jobs() }),
    drain: async () => {
      presence.drain();
      return {};
    },
  };
}

const ANSWER = 2_000;

export function answers(uri: string): Promise<boolean> {
  const { origin, pathname } = new URL(uri);
  return new Promise((resolve) => {
    const session = connect(origin);
    const end = (is: boolean): void => {
      session.destroy();
      resolve(is);
    };
    session.once("error", () => end(false));
    const request = session.request({ ":path": `${pathname.replace(/\/$/, "")}/health` }, { signal: AbortSignal.timeout(ANSWER) });
    request.once("response", (headers) => end(headers[":status"] === 200));
    request.once("error", () => end(false));
    // A worker that ends in between closes the connection without an error.
    request.once("close", () => end(false));
    request.end();
  });
}

/** The package needs `Promise.withResolvers`, which Node 20 lacks. */
async function loaded(): Promise<typeof import("@restatedev/restate-sdk")> {
  if (!("withResolvers" in Promise)) {
    Object.defineProperty(Promise, "withResolvers", { value: withResolvers, configurable: true, writable: true });
  }
  return optionalPackage("@restatedev/restate-sdk", "1.17.2", () => import("@restatedev/restate-sdk"));
}

function withResolvers<T>(this: PromiseConstructor): object {
  let [resolve, reject] = [(_value: T): void => undefined, (_reason: unknown): void => undefined];
  const promise = new this<T>((...given) => ([resolve, reject] = given));
  return { promise, resolve, reject };
}

function portTaken(host: string, port: number, cause: unknown): TroupeError {
  return new TroupeError(
    "DRIVER_REFUSED",
    `Expected to listen at ${host}:${port} for the server of Restate, got: ${thrownText(cause)}. Choose another port, or 0 for any.`,
    { cause },
  );
}
