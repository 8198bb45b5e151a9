import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { onTestFinished } from "vitest";
import { toJSONSchema } from "zod";
import { createClient, type RunClient } from "../../src/client/index.ts";
import { type Clock, defineAction, defineRole, memoryJournal, type RunEvent, Team } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { ROUTES } from "../../src/server/routes.ts";
import { ErrorSchema } from "../../src/client/wire.ts";
import { createServer, type RunServer } from "../../src/server/index.ts";
import type { ServerOptions } from "../../src/server/server-options.ts";
import { scriptedModel } from "../../src/testing/index.ts";

const Shout = defineAction({ name: "Shout", run: (ctx) => ctx.text.toUpperCase() });
const Ask = defineAction({ name: "Ask", run: async (ctx) => `You said ${String(await ctx.human.ask(`What is ${ctx.text}?`))}.` });
/** One call of a model, which costs 10,000 micro-dollars: a cent. */
const Draft = defineAction({ name: "Draft", run: (ctx) => ctx.ask(`Write about ${ctx.text}.`, { maxTokens: 1_000 }) });

/** A team that answers at once. */
export function shouters(journal: Journal = memoryJournal()): Team {
  return new Team({ name: "shouters", roles: [defineRole({ name: "Sam", actions: [Shout] })], journal });
}

/** A team that asks a person. */
export function askers(journal: Journal = memoryJournal()): Team {
  return new Team({ name: "askers", roles: [defineRole({ name: "Ada", actions: [Ask] })], journal });
}

export const ACME = { name: "acme", token: "acme-token-0123456789" };
export const BETA = { name: "beta", token: "beta-token-0123456789" };

/** A clock of a client that waits for nothing. */
export const atOnce: Clock = {
  now: () => 0,
  timer(ms, fire) {
    if (ms < 20_000) queueMicrotask(fire);
    return () => undefined;
  },
};

/** Returns a journal with other methods. */
export function withMethods(journal: Journal, methods: Partial<Journal>): Journal {
  return new Proxy(journal, {
    get(of, key) {
      const own: unknown = Reflect.get(methods, key) ?? Reflect.get(of, key);
      return typeof own === "function" ? (own.bind(of) as unknown) : own;
    },
  });
}

export const CENT = 10_000;

/** A team whose model costs a cent for each run. */
export function drafters(journal: Journal = memoryJournal()): Team {
  const model = scriptedModel(() => ({ content: "The sea.", usage: { inputTokens: 0, outputTokens: 1_000 } }), {
    id: "dear",
    price: { input: 0, output: 10 },
  });
  const role = defineRole({ name: "Dora", actions: [Draft] });
  return new Team({ name: "drafters", roles: [role], model, journal });
}

/** A door that a test opens. */
export interface Door {
  readonly passed: Promise<void>;
  open(): void;
}

export function door(): Door {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

/** A team whose only role waits in a step until the test opens the door. */
export function waiters(gate: Door, journal: Journal = memoryJournal()): Team {
  const Wait = defineAction({
    name: "Wait",
    run: async (ctx) => {
      await ctx.step("wait", {}, async () => {
        await gate.passed;
        return null;
      });
      return ctx.text;
    },
  });
  const reserve = [defineRole({ name: "Wanda", actions: [Shout] })];
  return new Team({ name: "waiters", roles: [defineRole({ name: "Will", actions: [Wait] })], reserve, journal });
}

export interface Served {
  readonly server: RunServer;
  readonly client: RunClient;
}

/** A server that closes at the end of the test. */
export function serving(options: ServerOptions): RunServer {
  const server = createServer(options);
  onTestFinished(() => server.close({ grace: 0 }));
  return server;
}

/** A server that closes at the end of the test, and a client in one process. */
export function served(options: ServerOptions, token: string | undefined = options.token): Served {
  const server = serving(options);
  return { server, client: clientOf(server, token) };
}

export function clientOf({ fetch }: RunServer, token?: string): RunClient {
  return createClient({ url: "http://localhost", fetch: asDescribed(fetch), ...(token === undefined ? {} : { token }) });
}

/** Lets through what the document of the interface describes. @throws for a response of another form, or with a member that it does not name */
function asDescribed(fetch: RunServer["fetch"]): RunServer["fetch"] {
  return async (asked) => {
    const response = await fetch(asked);
    if (response.headers.get("content-type")?.startsWith("application/json") !== true) return response;
    const { pathname } = new URL(asked.url);
    const route = ROUTES.find(
      ({ method, path }) => method === asked.method && new RegExp(`^${path.replace(/:\w+/g, "[^/]+")}$`).test(pathname),
    );
    const schema = response.ok ? route?.response.schema : ErrorSchema;
    if (schema === undefined) return response;
    const body = schema.parse(await response.clone().json()) as object;
    const { properties = {} } = toJSONSchema(schema, { unrepresentable: "any" });
    const others = Object.keys(body).filter((name) => !Object.hasOwn(properties, name));
    if (others.length > 0)
      throw new Error(`The response of ${asked.method} ${pathname} has ${others.join(", ")}, which the document lacks.`);
    return response;
  };
}

export async function all(events: AsyncIterable<RunEvent>): Promise<readonly RunEvent[]> {
  const list: RunEvent[] = [];
  for await (const event of events) list.push(event);
  return list;
}

/** A request of a page or a program, as it arrives. */
export function request(path: string, init: RequestInit & { readonly json?: unknown } = {}): Request {
  const { json, ...rest } = init;
  const headers = new Headers(rest.headers);
  if (json !== undefined) headers.set("content-type", "application/json");
  const body = json === undefined ? {} : { body: JSON.stringify(json), method: "POST" };
  return new Request(`http://localhost${path}`, { ...body, ...rest, headers });
}

/** Megabytes that are in use after a collection. */
export function heap(): number {
  setFlagsFromString("--expose_gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed / 1e6;
}

/** The code of the error in a response. */
export async function codeIn(response: Response): Promise<readonly [status: number, code: string]> {
  const { error } = (await response.json()) as { readonly error: { readonly code: string } };
  return [response.status, error.code];
}

/** A door that is open. */
export function openDoor(): Door {
  const gate = door();
  gate.open();
  return gate;
}

/** Everything that is ready has run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
