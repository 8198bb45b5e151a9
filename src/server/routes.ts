import type { z } from "zod";
import {
  AnswerRequest,
  ContinueRequest,
  ContinueTerms,
  EventsQuery,
  ForgetRequest,
  ForgottenSchema,
  ForkRequest,
  HireRequest,
  ListQuery,
  MessageReceipt,
  MessageRequest,
  ReplayReport,
  RunPageSchema,
  RunSummarySchema,
  ServedTeam,
  SignalRequest,
  StartRequest,
  TakeRequest,
  TeamChangeTerms,
} from "../client/wire.ts";
import { throwIfAborted } from "../kernel/abort.ts";
import { JournalError, UsageError } from "../kernel/errors.ts";
import { adviceOn } from "../kernel/known-options.ts";
import type { Json } from "../kernel/json.ts";
import { defined, isRecord } from "../kernel/value-kind.ts";
import type { MessageFile } from "../message/file.ts";
import { type Journal, newestRuns, readEvents, type RunInfo } from "../runtime/record/journal.ts";
import { filesIn, keptFile } from "../runtime/record/run-files.ts";
import type { RunSummary } from "../runtime/record/run-summary.ts";
import { exportRun } from "../runtime/record/transfer.ts";
import type { ServedRuns } from "./served-runs.ts";
import type { TenantAccount } from "./tenants.ts";

export interface RouteRequest {
  readonly account: TenantAccount;
  /** The id of the run in the path, which is the tenant's and which the journal has; empty where the path has none. */
  readonly runId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

export interface RouteParts {
  readonly journal: Journal;
  readonly runs: ServedRuns;
  readonly stream: (request: RouteRequest, query: EventsQuery) => Promise<Response>;
}

/** A route of the interface: the document and the server are made of the same list. */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly isBodyOptional?: boolean;
  readonly hasKey?: boolean;
  readonly response: { readonly status: number; readonly schema?: z.ZodType; readonly type?: string };
  readonly answer: (parts: RouteParts, request: RouteRequest) => Promise<Response>;
}

function json(value: unknown, status: number = 200): Response {
  return new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json; charset=utf-8" } });
}

const SUMMARY = { status: 200, schema: RunSummarySchema };

function control(name: string, summary: string, change: (parts: RouteParts, request: RouteRequest) => Promise<unknown>): Route {
  const answer: Route["answer"] = async (parts, request) => json(await change(parts, request));
  return { method: "POST", path: `/api/runs/:id/${name}`, name, summary, response: SUMMARY, answer };
}

export const ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: "/api/team",
    name: "team",
    summary: "The team that works on new runs.",
    response: { status: 200, schema: ServedTeam },
    answer: describeTeam,
  },
  {
    method: "GET",
    path: "/api/runs",
    name: "list",
    summary: "The runs, the newest first.",
    query: ListQuery,
    response: { status: 200, schema: RunPageSchema },
    answer: listRuns,
  },
  {
    method: "POST",
    path: "/api/runs",
    name: "start",
    summary: "Starts a run. With the same id, or without one the same Idempotency-Key, the same run, also after a restart; then 200.",
    body: StartRequest,
    hasKey: true,
    response: { status: 201, schema: RunSummarySchema },
    answer: async ({ runs }, { account, body, headers }) => {
      const { summary, isNew } = await runs.start(account, body as StartRequest, keyOf(headers));
      return json(summary, isNew ? 201 : 200);
    },
  },
  {
    method: "GET",
    path: "/api/runs/:id",
    name: "read",
    summary: "One run, with the questions that wait.",
    response: SUMMARY,
    answer: async ({ runs }, { runId }) => json(await runs.summaries.of(runId)),
  },
  {
    method: "GET",
    path: "/api/runs/:id/events",
    name: "events",
    summary: "The events of a run as server-sent events: all from the beginning, then as they come, and `end` when the run is at rest.",
    query: EventsQuery,
    response: { status: 200, type: "text/event-stream" },
    answer: async ({ stream }, request) => stream(request, request.query as EventsQuery),
  },
  {
    method: "GET",
    path: "/api/runs/:id/export",
    name: "export",
    summary: "The run as lines of JSON, as `troupe runs export` writes it.",
    response: { status: 200, type: "application/x-ndjson" },
    answer: exportText,
  },
  {
    method: "GET",
    path: "/api/runs/:id/files/:hash",
    name: "file",
    summary: "A file of a message of the run, with its type; the hash is in the message.",
    response: { status: 200, type: "application/octet-stream" },
    answer: readFile,
  },
  {
    method: "POST",
    path: "/api/runs/:id/messages",
    name: "publish",
    summary: "Publishes a message from outside. It starts nothing: a run at rest reads it when it is resumed.",
    body: MessageRequest,
    response: { status: 200, schema: MessageReceipt },
    answer: async ({ runs }, { account, runId, body }) => {
      const { message, recipients, waits } = await runs.publish(account, runId, body as MessageRequest);
      return json({ id: message.id, recipients, waits });
    },
  },
  {
    method: "POST",
    path: "/api/runs/:id/answers/:question",
    name: "answer",
    summary: "Answers a question and continues the run. A question that has been answered is 409.",
    body: AnswerRequest,
    response: SUMMARY,
    answer: async ({ runs }, { account, runId, params, body }) => {
      const { answer, ...terms } = body as AnswerRequest;
      return json(await runs.answer(account, runId, { question: params["question"] ?? "", answer: answer as Json }, terms));
    },
  },
  {
    method: "POST",
    path: "/api/runs/:id/signals/:name",
    name: "signal",
    summary:
      "Sends a signal: it ends a wait of this name and continues the run, or is kept for a later one. With the same id it counts once.",
    body: SignalRequest,
    isBodyOptional: true,
    response: SUMMARY,
    answer: async ({ runs }, { account, runId, params, body }) =>
      json(await runs.awaken(account, runId, params["name"] ?? "", body as SignalRequest)),
  },
  {
    method: "POST",
    path: "/api/runs/:id/roles",
    name: "hire",
    summary: "Hires a role of the team into the run. It starts nothing: a run at rest lets it work when it is resumed.",
    body: HireRequest,
    response: SUMMARY,
    answer: async ({ runs }, { account, runId, body }) => {
      const { role, as, ...terms } = body as HireRequest;
      await runs.change(account, runId, terms, (team, o) => team.hireInto(runId, role, as === undefined ? o : { ...o, name: as }));
      return json(await runs.summaries.of(runId));
    },
  },
  {
    method: "DELETE",
    path: "/api/runs/:id/roles/:name",
    name: "retire",
    summary: "Retires a role of the run: it ends what it is at, and its unread messages are dead letters.",
    query: TeamChangeTerms,
    response: SUMMARY,
    answer: async ({ runs }, { account, runId, params, query }) => {
      await runs.change(account, runId, query as TeamChangeTerms, (team, o) => team.retireFrom(runId, params["name"] ?? "", o));
      return json(await runs.summaries.of(runId));
    },
  },
  {
    method: "POST",
    path: "/api/runs/:id/roles/:name/player",
    name: "takeRole",
    summary: "Lets a person take a role, whose questions to its model go to that person, or gives it back.",
    body: TakeRequest,
    isBodyOptional: true,
    response: SUMMARY,
    answer: async ({ runs }, { account, runId, params: { name = "" }, body }) => {
      const { back, onTeamChange, ...by } = body as z.infer<typeof TakeRequest>;
      await runs.change(account, runId, defined({ onTeamChange }), (team, o) =>
        back === true ? team.giveBackRole(runId, name, o) : team.takeRole(runId, name, { ...o, ...by }),
      );
      return json(await runs.summaries.of(runId));
    },
  },
  control("pause", "Lets no further activation start.", ({ runs }, { runId }) => runs.pause(runId)),
  {
    ...control("proceed", "Ends a pause.", ({ runs }, { account, runId, body }) => runs.proceed(account, runId, body as ContinueTerms)),
    body: ContinueTerms,
    isBodyOptional: true,
  },
  control("stop", "Stops a run, so that it can be resumed.", ({ runs }, { runId }) => runs.stop(runId)),
  {
    ...control("resume", "Resumes a run at rest.", ({ runs }, { account, runId, body }) =>
      runs.resume(account, runId, body as ContinueRequest),
    ),
    body: ContinueRequest,
    isBodyOptional: true,
  },
  {
    ...control("replay", "Repeats a run from its record, without a call, and reports the first difference.", ({ runs }, request) =>
      runs.replay(request.account, request.runId, request.signal),
    ),
    response: { status: 200, schema: ReplayReport },
  },
  {
    method: "POST",
    path: "/api/runs/:id/fork",
    name: "fork",
    summary: "Begins a new run that shares the past of this one up to an event.",
    body: ForkRequest,
    isBodyOptional: true,
    hasKey: true,
    response: { status: 201, schema: RunSummarySchema },
    answer: async ({ runs }, { account, runId, body, headers }) => {
      const { summary, isNew } = await runs.fork(account, runId, body as ForkRequest, keyOf(headers));
      return json(summary, isNew ? 201 : 200);
    },
  },
  {
    method: "POST",
    path: "/api/forget",
    name: "forget",
    summary: "Erases what a user or a conversation of the tenant has said. 409 while one of the runs is under way: then nothing is erased.",
    body: ForgetRequest,
    response: { status: 200, schema: ForgottenSchema },
    answer: async ({ runs }, { account, body }) => json(await runs.forget(account, body as ForgetRequest)),
  },
];

async function describeTeam({ runs }: RouteParts, { account }: RouteRequest): Promise<Response> {
  return json(await runs.look(account, ({ name, roleNames, reserveNames }) => ({ name, roles: roleNames, reserve: reserveNames })));
}

const MAX_LOOKED_AT = 2_000;

async function listRuns({ journal, runs }: RouteParts, { account, query }: RouteRequest): Promise<Response> {
  const { limit = 50, cursor, status } = query as ListQuery;
  if (cursor !== undefined && !account.owns(cursor)) throw unknownCursor();
  const found: RunSummary[] = [];
  let last = cursor;
  for (let lookedAt = 0; lookedAt < MAX_LOOKED_AT;) {
    // One more than the page shows whether there is another page.
    const some = await olderRuns(journal, account.prefix, last, limit + 1);
    for (const info of some.slice(0, limit)) {
      const summary = await runs.summaries.listed(info);
      if (status === undefined || summary.status === status) found.push(summary);
      last = info.runId;
      lookedAt += 1;
      const isMore = info !== some.at(-1);
      if (!isMore) return json({ runs: found });
      if (found.length >= limit) return json({ runs: found, next: last });
    }
    if (some.length === 0) return json({ runs: found });
  }
  return json({ runs: found, ...(last === undefined ? {} : { next: last }) });
}

async function olderRuns(journal: Journal, prefix: string, before: string | undefined, limit: number): Promise<readonly RunInfo[]> {
  try {
    return await newestRuns(journal, { limit, prefix, tallies: true, ...(before === undefined ? {} : { before }) });
  } catch (error) {
    if (error instanceof JournalError && error.code === "RUN_UNKNOWN") throw unknownCursor();
    throw error;
  }
}

function unknownCursor(): UsageError {
  return new UsageError("CURSOR_UNKNOWN", "Expected the cursor of a former page, got another. List from the newest.");
}

const SHOWN: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** A file that a browser could run is never shown as a page of the server. */
async function readFile({ journal }: RouteParts, { runId, params, signal }: RouteRequest): Promise<Response> {
  const { hash = "" } = params;
  const file = await namedFile(journal, runId, hash, signal);
  const bytes = file && (await keptFile(journal, runId, hash));
  if (file === undefined || bytes === undefined)
    throw new JournalError("FILE_UNKNOWN", `Expected the hash of a file of run ${runId}, got another. It is in the messages of the run.`);
  const { name, type } = file;
  const isShown = SHOWN.has(type);
  const disposition = `${isShown ? "inline" : "attachment"}; filename*=UTF-8''${encodeURIComponent(name)}`;
  return new Response(bytes as Uint8Array<ArrayBuffer>, {
    headers: {
      ...{ "content-type": type, "content-disposition": disposition, "x-content-type-options": "nosniff" },
      "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    },
  });
}

async function namedFile(journal: Journal, runId: string, hash: string, signal: AbortSignal): Promise<MessageFile | undefined> {
  for await (const event of readEvents(journal, runId, { signal })) {
    const file = filesIn(event).find((one) => one.hash === hash);
    if (file !== undefined) return file;
  }
  return undefined;
}

/** An export counts as a stream: a client that reads slowly keeps a line of the record and the reading of the journal. */
async function exportText({ journal }: RouteParts, { account, runId, signal }: RouteRequest): Promise<Response> {
  const leave = account.streams.take();
  const lines = bytesOf(exportRun(journal, runId, { signal }), leave);
  // The first line is read here, so that a run that cannot be read gets an error and no beginning.
  let next: IteratorResult<Uint8Array, void> | undefined = await lines.next();
  // No one will read or cancel the body of a client that has gone.
  if (signal.aborted) await lines.return();
  throwIfAborted(signal);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(sink) {
        const line = next ?? (await lines.next());
        next = undefined;
        if (line.done === true) sink.close();
        else sink.enqueue(line.value);
      },
      cancel: async () => void (await lines.return()),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "content-type": "application/x-ndjson; charset=utf-8" } });
}

async function* bytesOf(lines: AsyncIterable<string>, leave: () => void): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  try {
    for await (const line of lines) yield encoder.encode(`${line}\n`);
  } finally {
    leave();
  }
}

const MAX_KEY = 200;

function keyOf(headers: Headers): string | undefined {
  const key = headers.get("idempotency-key");
  if (key === null) return undefined;
  if (key.length > 0 && key.length <= MAX_KEY) return key;
  throw new UsageError("HEADER_INVALID", `Expected an Idempotency-Key of 1 to ${MAX_KEY} characters, got one of ${key.length}.`);
}

function meantIn(schema: z.ZodType, issue: z.core.$ZodIssue): string {
  if (issue.code !== "unrecognized_keys" || issue.path.length > 0 || !("shape" in schema)) return "";
  const names = Object.keys(schema.shape as object);
  const meant = issue.keys.slice(0, 5).flatMap((key) => adviceOn(key.slice(0, 100), names).meant ?? []);
  return meant.length === 0 ? "" : ` (did you mean ${meant.join(", ")}?)`;
}

export function fitting(schema: z.ZodType, value: unknown, what: "BODY_INVALID" | "QUERY_INVALID"): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues
    .slice(0, 5)
    .map((issue) => ({ path: issue.path.map(String).join("."), message: `${issue.message}${meantIn(schema, issue)}` }));
  const faults = issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  const part = what === "BODY_INVALID" ? "a body" : "a query";
  const got = isRecord(value) ? "" : " It must be an object.";
  throw new UsageError(what, `Expected ${part} that fits the route, but ${faults}.${got} See /openapi.json.`, { data: { issues } });
}
