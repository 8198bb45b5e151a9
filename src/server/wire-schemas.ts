import { z } from "zod";

/*
 * The JSON that goes over the wire. The same schemas check requests and describe them in the OpenAPI document.
 */

/** Characters of an id that a client chooses for a run. */
const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

const budget = z.int().nonnegative().describe("Micro-dollars that the run may spend.");
const rounds = z.int().positive().max(1_000_000).describe("Most rounds of the run in all.");
const runId = z.string().regex(RUN_ID, "an id of at most 64 letters, digits, _ and -");
const words = z.string().min(1).max(10_000_000);
const names = z.array(z.string().min(1).max(200)).max(1_000);

export const NewRun = z.strictObject({
  idea: words,
  id: runId.optional().describe("Default: a new one, or one that follows from Idempotency-Key."),
  rounds: rounds.optional(),
  budget: budget.optional(),
});

export const NewMessage = z.strictObject({
  content: words,
  sendTo: names.optional().describe("Addresses. Default: the roles that watch the cause."),
  causeBy: z.string().min(1).max(200).optional(),
  id: z.string().min(1).max(200).optional().describe("A message with the id of one that the run has is not published again."),
});

export const NewAnswer = z.strictObject({ answer: z.json().describe("A text, or JSON that the form of the question accepts.") });

export const Continuation = z.strictObject({
  rounds: rounds.optional(),
  budget: budget.optional(),
  reuse: z.enum(["all", "none"]).optional(),
  onTeamChange: z.enum(["refuse", "continue"]).optional().describe("What to do with a team that differs from the run's. Default refuse."),
});

export const NewFork = z.strictObject({
  at: z.int().nonnegative().optional().describe("The last shared event. Default: the last one that `change` names, else the last of all."),
  change: z
    .array(
      z.strictObject({
        seq: z.int().nonnegative(),
        nth: z.int().nonnegative().optional(),
        content: z.string().optional(),
        instructContent: z.json().optional(),
        drop: z.literal(true).optional(),
      }),
    )
    .max(1_000)
    .optional()
    .describe("Messages of the shared past with another content, or dropped."),
  add: z.array(words).max(100).optional().describe("Messages from outside, right after the shared past."),
  id: runId.optional(),
  rounds: rounds.optional(),
  budget: budget.optional(),
  reuse: z.enum(["all", "none"]).optional(),
});

const question = z
  .looseObject({ id: z.string(), role: z.string(), text: z.string(), tool: z.string().optional() })
  .describe("A question to a person that waits for an answer.");

const STATUSES = ["running", "paused", "waiting", "finished", "rounds", "budget", "stopped", "failed", "open", "empty", "damaged"] as const;

export const RunSummarySchema = z
  .looseObject({
    id: z.string(),
    status: z.enum(STATUSES),
    idea: z.string(),
    team: z.string(),
    events: z.int(),
    started: z.number().nullable().describe("Milliseconds since 1970."),
    ended: z.number().optional(),
    moved: z.number().nullable(),
    cost: z.int().describe("Micro-dollars."),
    unpriced: z.int().describe("Calls without a known price."),
    calls: z.int(),
    tokens: z.int(),
    roles: z.array(z.string()),
    questions: z.array(question).optional(),
    parent: z.object({ runId: z.string(), at: z.int() }).optional(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
  })
  .describe("A run in a list.");

export const RunPageSchema = z.object({
  runs: z.array(RunSummarySchema),
  next: z.string().optional().describe("The cursor of the next page."),
});

export const TeamSchema = z.looseObject({ name: z.string(), roles: z.array(z.string()) });

export const ReceiptSchema = z.looseObject({
  id: z.string(),
  recipients: z.array(z.string()),
  waits: z.boolean().describe("True when a recipient reads it only once the run is resumed."),
});

export const ReplaySchema = z.object({
  equal: z.boolean(),
  events: z.int(),
  difference: z.string().optional().describe("The first difference, in words."),
});

export const ErrorSchema = z.object({
  error: z.object({
    name: z.string(),
    code: z.string().describe("Stable, upper snake case."),
    message: z.string(),
    data: z.json().optional(),
  }),
});

export const StateSchema = z.object({ status: z.string() });

/** The query of a list of runs. */
export const ListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).optional().describe("Default 50."),
  cursor: z.string().max(300).optional(),
  status: z.enum(STATUSES).optional(),
});

/** The query of a stream of events. */
export const EventsQuery = z.strictObject({
  from: z.coerce.number().int().nonnegative().optional().describe("The first event. Last-Event-ID wins. Default 0."),
  follow: z.enum(["true", "false"]).optional().describe("true: the stream stays open when the run comes to rest. Default false."),
  notices: z.enum(["true", "false"]).optional().describe("false: without notices such as pieces of answers. Default true."),
});
