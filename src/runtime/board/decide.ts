import { z } from "zod";
import type { Json } from "../../kernel/json.ts";
import { nearestWord } from "../../kernel/known-options.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { Board, BoardTask, Note } from "./board.ts";
import { TASK_KINDS } from "./board.ts";
import { notesView, tasksView } from "./board-view.ts";

/*
 * The answers of the steps of a board. The runtime asks for one and records it without a wait in between, so of two roles that claim a task at the
 * same time one gets it. A request has passed the mask of the run.
 *
 * Decide.D1 (`decided`) an answer is a function of the board, the role and the request, and changes nothing: the end of its step does.
 * Decide.D2 (`added`) no circle of needs arises: a task needs tasks that are there, or earlier ones of the same request.
 */

/** Tasks, and notes, of a run. */
const MOST_ENTRIES = 10_000;
/** Characters that a note can have at most, whatever limit its tool has. */
const LONGEST_NOTE = 100_000;
const MOST_ADDED = 100;
const MOST_LISTED = 1_000;
const LONGEST_TEXT = 4_000;
/** Ids that are compared with an unknown one. */
const COMPARED = 300;

const id = z.string().regex(/^[\w.-]{1,64}$/, "expected 1 to 64 letters, digits, _, . and -");
const role = z.string().min(1).max(200);
const words = z.string().min(1).max(LONGEST_TEXT);
const tokens = z.int().min(1).max(100_000);

/** A task as a role adds it. Its needs may be tasks of the same request. */
export const newTaskSchema = z.strictObject({
  id: id.optional().describe("default: t1, t2, ..."),
  title: z.string().min(1).max(500),
  needs: z.array(id).max(50).default([]).describe("ids of tasks that must be done before"),
  owner: role.optional().describe("the only role that may do it; default: any"),
  checks: z.array(z.string().min(1).max(100)).max(20).default([]).describe("names of checks that must be green"),
});

const requestSchema = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("add"), tasks: z.array(newTaskSchema).min(1).max(MOST_ADDED) }),
  z.strictObject({ op: z.literal("claim"), id: id.optional(), most: z.int().min(1).optional() }),
  z.strictObject({ op: z.literal("done"), id, result: words.optional(), green: z.array(z.string()).optional() }),
  z.strictObject({ op: z.literal("give back"), id, reason: words }),
  z.strictObject({ op: z.literal("block"), id, reason: words }),
  z.strictObject({ op: z.literal("reopen"), id, reason: words.optional() }),
  z.strictObject({ op: z.literal("task"), id, own: z.literal(true).optional().describe("only where the role has claimed it") }),
  z.strictObject({ op: z.literal("tasks"), state: z.enum(TASK_KINDS).optional(), most: z.int().min(1).max(MOST_LISTED).optional() }),
  z.strictObject({ op: z.literal("show"), tokens }),
  z.strictObject({
    op: z.literal("write"),
    name: id,
    text: z.string().min(1).max(LONGEST_NOTE),
    version: z.int().min(0).optional(),
  }),
  z.strictObject({ op: z.literal("read"), name: id }),
  z.strictObject({ op: z.literal("show notes"), tokens }),
]);

export type BoardRequest = z.input<typeof requestSchema>;
type Request<Op extends BoardRequest["op"]> = Extract<z.infer<typeof requestSchema>, { readonly op: Op }>;

/** The entries as they are now, or why an operation was refused, with the newest form of the entry that was meant. Plain JSON. */
export type BoardAnswer =
  | {
      readonly ok: true;
      /** The entries are new, or were changed by the operation. */
      readonly changed?: true;
      readonly tasks: readonly BoardTask[];
      readonly note?: Note;
      /** The form that a prompt shows. */
      readonly text?: string;
    }
  | { readonly ok: false; readonly why: string; readonly task?: BoardTask; readonly note?: Note };

/** Returns the answer to a request of a role. */
export function decided(board: Board, by: string, asked: unknown): BoardAnswer & Json {
  const { data: request, error } = requestSchema.safeParse(asked);
  // Members without a value are no JSON.
  const answer = request === undefined ? refused(`Expected ${faultIn(error)}.`) : answerTo(board, by, request);
  return JSON.parse(JSON.stringify(answer)) as BoardAnswer & Json;
}

function faultIn({ issues }: z.ZodError): string {
  const [{ path, message } = { path: [], message: "another request" }] = issues;
  return path.length === 0 ? message : `${path.join(".")} that fits, but ${message}`;
}

function answerTo(board: Board, by: string, request: z.infer<typeof requestSchema>): BoardAnswer {
  switch (request.op) {
    case "add":
      return added(board, by, request);
    case "claim":
      return claimed(board, by, request);
    case "tasks":
      return { ok: true, tasks: first(board.tasks(request.state), request.most ?? MOST_ADDED) };
    case "show":
      return { ok: true, tasks: [], text: tasksView(board, by, request.tokens) };
    case "show notes":
      return { ok: true, tasks: [], text: notesView(board, request.tokens) };
    case "write":
      return written(board, by, request);
    case "read": {
      const note = board.note(request.name);
      if (note !== undefined) return { ok: true, tasks: [], note };
      const names = board.recentNotes().map(({ name }) => name);
      return refused(`Expected the name of a note, but there is no ${request.name}.${nearText(request.name, names)}`);
    }
    default: {
      const task = board.task(request.id);
      if (task === undefined) return unknown(board, request.id);
      if (request.op !== "task") return moved(by, task, request);
      return (request.own === true ? notOwn(by, task) : undefined) ?? { ok: true, tasks: [task] };
    }
  }
}

function added(board: Board, by: string, { tasks }: Request<"add">): BoardAnswer {
  if (board.size + tasks.length > MOST_ENTRIES)
    return refused(`Expected at most ${MOST_ENTRIES} tasks on a board, got ${tasks.length} more than its ${board.size}.`);
  const ids = new Set<string>();
  const own = new Set(tasks.flatMap((task) => task.id ?? []));
  let next = board.size;
  const free = (): string => {
    do next += 1;
    while (board.task(`t${next}`) !== undefined || own.has(`t${next}`));
    return `t${next}`;
  };
  const made: BoardTask[] = [];
  for (const { id: given, title, needs, owner, checks } of tasks) {
    const name = given ?? free();
    const known = board.task(name);
    if (known !== undefined) return refused(`Expected a new id, but there is a task ${name} already.`, known);
    if (ids.has(name)) return refused(`Expected each id once, got ${name} twice.`);
    ids.add(name);
    made.push({ id: name, title, by, owner, needs: [...new Set(needs)], checks, state: { kind: "open" } });
  }
  const missing = made.flatMap(({ needs }) => needs).find((need) => !ids.has(need) && board.task(need) === undefined);
  if (missing !== undefined) return unknown(board, missing, ids);
  const circle = circleIn(made);
  if (circle !== undefined) return refused(`Expected tasks that do not wait for each other, got the circle ${circle.join(" -> ")}.`);
  return { ok: true, changed: true, tasks: made };
}

/** Returns ids that need each other in a circle. A task that is there needs none of the new ones. */
function circleIn(tasks: readonly BoardTask[]): readonly string[] | undefined {
  const needsOf = new Map(tasks.map((task) => [task.id, task.needs]));
  const ended = new Set<string>();
  const visit = (name: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (ended.has(name)) return undefined;
    for (const need of needsOf.get(name) ?? []) {
      const circle = visit(need, [...path, name]);
      if (circle !== undefined) return circle;
    }
    ended.add(name);
    return undefined;
  };
  for (const task of tasks) {
    const circle = visit(task.id, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

function claimed(board: Board, by: string, { id: wanted, most = Infinity }: Request<"claim">): BoardAnswer {
  const own = [...board.owned(by)];
  const claims = own.filter(({ state }) => state.kind === "claimed");
  const next = own.find((one) => one.state.kind === "open" && board.unmet(one).length === 0) ?? first(board.ready(), 1)[0];
  const task = wanted === undefined ? next : board.task(wanted);
  if (task === undefined) return wanted === undefined ? refused(nothingText(board)) : unknown(board, wanted);
  const { owner = by, state, id: name } = task;
  if (state.kind === "done") return refused(`Expected a task to do, but ${name} is done, by ${owner}.`, task);
  if (owner !== by) return refused(`Expected a task without an owner, but ${name} belongs to ${owner}.`, task);
  // It has been claimed before: the answer is the same.
  if (state.kind === "claimed") return changed(task);
  if (state.kind === "blocked") return refused(`Expected an open task, but ${name} is blocked: ${state.reason}`, task);
  const unmet = board.unmet(task);
  if (unmet.length > 0) return refused(`Expected a task whose needs are done, but ${name} waits for ${unmet.join(", ")}.`, task);
  if (claims.length >= most)
    return refused(
      `Expected at most ${most} claimed at once, but ${by} has ${claims.map((one) => one.id).join(", ")}. End or give back one.`,
    );
  return changed({ ...task, owner: by, state: { kind: "claimed" } });
}

function nothingText(board: Board): string {
  const counts = TASK_KINDS.map((kind) => `${board.count(kind)} ${kind}`).join(", ");
  return `Expected a task that is free and whose needs are done, but there is none: ${counts}.`;
}

function moved(by: string, task: BoardTask, request: Request<"done" | "give back" | "block" | "reopen">): BoardAnswer {
  const { owner, ...free } = task;
  const { id: name, state } = task;
  if (request.op === "reopen") {
    if (state.kind !== "blocked") return refused(`Expected a blocked task, but ${name} is ${state.kind}.`, task);
    return changed({ ...free, state: { kind: "open", reason: request.reason ?? state.reason } });
  }
  const other = request.op === "block" && owner === undefined && state.kind === "open" ? undefined : notOwn(by, task);
  if (other !== undefined) return other;
  if (request.op === "give back") return changed({ ...free, state: { kind: "open", reason: request.reason } });
  if (request.op === "block") return changed({ ...free, state: { kind: "blocked", reason: request.reason } });
  const red = task.checks.filter((check) => request.green?.includes(check) !== true);
  if (red.length > 0)
    return refused(`Expected the checks of ${name} to be green, but these were not run or failed: ${red.join(", ")}.`, task);
  return changed({ ...task, state: { kind: "done", result: request.result } });
}

function notOwn(by: string, task: BoardTask): BoardAnswer | undefined {
  const { id: name, owner, state } = task;
  if (owner === by && state.kind === "claimed") return undefined;
  const whose = owner === undefined ? "" : state.kind === "open" ? `, for ${owner}` : ` by ${owner}`;
  return refused(`Expected a task that ${by} has claimed, but ${name} is ${state.kind}${whose}.`, task);
}

function written(board: Board, by: string, { name, text, version }: Request<"write">): BoardAnswer {
  const note = board.note(name);
  if (note === undefined && board.noteCount >= MOST_ENTRIES) return refused(`Expected at most ${MOST_ENTRIES} notes, got one more.`);
  const now = note?.version ?? 0;
  if ((version ?? 0) === now) return { ok: true, changed: true, tasks: [], note: { name, version: now + 1, by, text } };
  const why = `Expected the version of ${name} that is the newest, ${now}, got ${version ?? "none"}. Read it, put both together, and write again with its version.`;
  if (note === undefined) return refused(`Expected no version for a new note, got ${version} for ${name}.`);
  return { ok: false, why, note };
}

function changed(task: BoardTask): BoardAnswer {
  return { ok: true, changed: true, tasks: [task] };
}

function refused(why: string, task?: BoardTask): BoardAnswer {
  return { ok: false, why, ...(task && { task }) };
}

function unknown(board: Board, wanted: string, others: Iterable<string> = []): BoardAnswer {
  const known = [...others, ...first(board.tasks(), COMPARED).map((task) => task.id)];
  return refused(`Expected the id of a task, but there is no ${valueText(wanted)}.${nearText(wanted, known)}`);
}

export function nearText(wanted: string, known: readonly string[]): string {
  const near = nearestWord(wanted, known.slice(0, COMPARED));
  return near === undefined ? "" : ` Did you mean ${near}?`;
}

function first<T>(items: Iterable<T>, most: number): readonly T[] {
  const list: T[] = [];
  for (const item of items) {
    if (list.length >= most) break;
    list.push(item);
  }
  return list;
}
