import { z } from "zod";
import type { Json } from "../kernel/json.ts";
import type { RunSummary } from "../runtime/record/run-summary.ts";
import type { Forgotten } from "../team/forget.ts";

/* The same schemas give the types of the client, check requests and describe them in the OpenAPI document. */

/** Any value of a body that was JSON. A reference to a recursive schema would point outside of the OpenAPI document. */
const AnyJson = z.custom<Json>((value) => value !== undefined, "a JSON value");

const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** Characters of an id that a client chooses for a message. That of a role's message has a #, so a client cannot take it before the role does. */
const MESSAGE_ID = /^[^#]{1,200}$/;

const budget = z.int().nonnegative().describe("Micro-dollars that the run may spend.");
const rounds = z
  .int()
  .positive()
  .max(1_000_000)
  .describe("Most rounds of one turn of the run: after a message that comes to it at rest they count anew.");
const bounds = { rounds: rounds.exactOptional(), budget: budget.exactOptional() };
const runId = z.string().regex(RUN_ID, "an id of at most 64 letters, digits, _ and -");
const words = z.string().min(1).max(10_000_000);
const user = z.string().min(1).max(200);
const names = z.array(z.string().min(1).max(200)).max(1_000).readonly();

const files = z
  .array(
    z.strictObject({
      name: z.string().min(1).max(255),
      type: z.string().min(1).max(200).exactOptional().describe("The media type. Default: by the ending of the name."),
      data: z.string().describe("The bytes in base64."),
    }),
  )
  .max(20)
  .readonly()
  .exactOptional()
  .describe("Files of the message. The limit on the body of a request holds for them.");

export const StartRequest = z.strictObject({
  idea: words,
  files,
  id: runId.exactOptional().describe("Default: a new one, or one that follows from Idempotency-Key."),
  user: user
    .exactOptional()
    .describe("The person it is for: what roles remember for one is not recalled for another. Default: the conversation."),
  ...bounds,
});

const reuse = z
  .enum(["all", "none"])
  .exactOptional()
  .describe("Reuse of the answers of an activation whose failure ended the run. Default all.");

export const TeamChangeTerms = z.strictObject({
  onTeamChange: z
    .enum(["refuse", "continue"])
    .exactOptional()
    .describe("What to do with a team that differs from the run's. Default: what the server says, else refuse."),
});

/** The terms on which a run continues. */
export const ContinueTerms = TeamChangeTerms.extend({ ...bounds, reuse });

export const OutsideMessage = z.strictObject({
  content: words,
  files,
  sendTo: names.exactOptional().describe("Addresses. Default: the roles that watch the cause."),
  causeBy: z.string().min(1).max(200).exactOptional(),
  id: z
    .string()
    .regex(MESSAGE_ID, "an id of 1 to 200 characters without #, which ids of roles' messages have")
    .exactOptional()
    .describe("A message with the id of one that the run has is not published again."),
  user: user.exactOptional().describe("The person who says it. A run that was begun for another refuses it. Default: not checked."),
});

export const MessageRequest = OutsideMessage.extend(TeamChangeTerms.shape);

export const ForgetRequest = z.union([
  z.strictObject({ user: user.describe("A person, as the tenant names them.") }),
  z.strictObject({ conversation: z.string().min(1).max(200).describe("The id of the run in which it began.") }),
]);

export const ForgottenSchema: z.ZodType<Forgotten> = z.object({
  runs: z.int().describe("Runs whose words were erased."),
  texts: z.int().describe("Strings in their events that were replaced."),
  messages: z.int().describe("Messages that were removed from what roles remember."),
});

export const AnswerRequest = ContinueTerms.extend({ answer: AnyJson.describe("A text, or JSON that the form of the question accepts.") });

export const SignalRequest = ContinueTerms.extend({
  value: AnyJson.exactOptional().describe("Any JSON value that the open wait accepts. Default null."),
  id: z
    .string()
    .regex(MESSAGE_ID, "an id of 1 to 200 characters without #")
    .exactOptional()
    .describe("A signal with the id of one that the run has is not recorded again."),
});

/** A person takes a role of a run, or gives it back. */
export const TakeRequest = TeamChangeTerms.extend({
  by: z.string().min(1).max(200).exactOptional().describe("The name of the person. Default: anyone."),
  back: z.literal(true).exactOptional().describe("The role is given back to its model."),
});

/** A role that is to be hired into a run. */
export const HireRequest = TeamChangeTerms.extend({
  role: z.string().min(1).max(200).describe("The name of a definition of the team: of its roles or its reserve."),
  as: z.string().min(1).max(200).exactOptional().describe("The name of the role in the run. Default: that of the definition."),
});

export const ContinueRequest = ContinueTerms.extend({
  add: z
    .array(OutsideMessage)
    .max(100)
    .readonly()
    .exactOptional()
    .describe("Messages from outside that come with it. A run that is under way gets them too."),
});

export const ForkRequest = z.strictObject({
  at: z
    .int()
    .nonnegative()
    .exactOptional()
    .describe("The last shared event. Default: the last one that `change` names, else the last of all."),
  change: z
    .array(
      z.strictObject({
        seq: z.int().nonnegative(),
        nth: z.int().nonnegative().exactOptional(),
        content: z.string().exactOptional(),
        instructContent: AnyJson.exactOptional(),
        drop: z.literal(true).exactOptional(),
      }),
    )
    .max(1_000)
    .readonly()
    .exactOptional()
    .describe("Messages of the shared past with another content, or dropped."),
  add: z.array(words).max(100).readonly().exactOptional().describe("Messages from outside, right after the shared past."),
  id: runId.exactOptional(),
  ...bounds,
  reuse,
});

const choice = z.looseObject({ value: z.string(), label: z.string().exactOptional() });

const form = z
  .union([
    z.looseObject({
      kind: z.literal("choices"),
      choices: z.array(choice),
      words: z.string().exactOptional().describe("Another text is an answer too: what it is for."),
    }),
    z.looseObject({
      kind: z.literal("fields"),
      schema: z.looseObject({}).describe("The JSON Schema of the answer. The members of an object are fields."),
      order: z.array(z.string()).exactOptional().describe("The names of the fields in their order. Default: as in the schema."),
    }),
  ])
  .describe("The form of the answer. Default: any text.");

const question = z
  .looseObject({
    id: z.string(),
    role: z.string(),
    text: z.string(),
    tool: z.string().exactOptional(),
    form: form.exactOptional(),
    default: AnyJson.exactOptional().describe("The answer to offer. It is taken when the deadline passes."),
    deadline: z.number().exactOptional().describe("Milliseconds since 1970."),
    to: z.string().exactOptional(),
    wait: z.string().exactOptional().describe("The name of the signal that a role waits for instead of an answer; empty for a sleep."),
  })
  .describe("A question to a person that waits for an answer, or a wait of a role.");

const STATUSES = ["running", "paused", "waiting", "finished", "rounds", "budget", "stopped", "failed", "open", "empty", "damaged"] as const;

export const RunSummarySchema: z.ZodType = z
  .looseObject({
    id: z.string(),
    status: z.enum(STATUSES),
    idea: z.string(),
    team: z.string(),
    events: z.int(),
    started: z.number().nullable().describe("Milliseconds since 1970."),
    ended: z.number().exactOptional(),
    told: z.int().exactOptional().describe("Messages from outside after the end: a resume continues with them."),
    moved: z.number().nullable(),
    cost: z.int().describe("Micro-dollars."),
    unpriced: z.int().describe("Calls without a known price."),
    calls: z.int(),
    tokens: z.int(),
    roles: z.array(z.string()),
    questions: z.array(question).exactOptional(),
    parent: z.object({ runId: z.string(), at: z.int() }).exactOptional(),
    failures: z
      .array(z.object({ role: z.string(), act: z.string(), attempt: z.int(), code: z.string(), message: z.string() }))
      .exactOptional()
      .describe("The activations that failed, the newest 20, whether the run went on or not. Left out without any."),
    scope: z
      .object({ tenant: z.string().exactOptional(), user: z.string().exactOptional(), conversation: z.string().exactOptional() })
      .exactOptional()
      .describe("Whose words it has."),
    erased: z.number().exactOptional().describe("Milliseconds since 1970 when the words of people in it were erased."),
    error: z.object({ code: z.string(), message: z.string() }).exactOptional(),
  })
  .describe("A run in a list.");

export interface RunPage {
  readonly runs: readonly RunSummary[];
  readonly next?: string;
}

export const RunPageSchema: z.ZodType = z.object({
  runs: z.array(RunSummarySchema),
  next: z.string().exactOptional().describe("The cursor of the next page."),
});

export const ServedTeam = z.object({
  name: z.string(),
  roles: z.array(z.string()).readonly(),
  reserve: z.array(z.string()).readonly().describe("Roles that no run begins with, and that a run can hire."),
});

export const MessageReceipt = z.object({
  id: z.string(),
  recipients: z.array(z.string()).readonly(),
  waits: z.boolean().describe("True when a recipient reads it only once the run is resumed."),
});

export const ReplayReport = z.object({
  equal: z.boolean(),
  events: z.int(),
  difference: z.string().exactOptional().describe("The first difference, in words."),
});

export const ErrorSchema: z.ZodType = z.object({
  error: z.object({
    name: z.string(),
    code: z.string().describe("Stable, upper snake case."),
    message: z.string(),
    data: AnyJson.exactOptional(),
  }),
});

/** The query of a list of runs. */
export const ListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).optional().describe("Default 50."),
  cursor: z.string().max(300).exactOptional(),
  status: z.enum(STATUSES).exactOptional(),
});

/** The query of a stream of events. */
export const EventsQuery = z.strictObject({
  // Not exactOptional: zod 4.3 coerces what is missing to NaN there.
  from: z.coerce.number().int().nonnegative().optional().describe("The first event. Last-Event-ID wins. Default 0."),
  follow: z.enum(["true", "false"]).exactOptional().describe("true: the stream stays open when the run comes to rest. Default false."),
  notices: z.enum(["true", "false"]).exactOptional().describe("false: without notices such as pieces of answers. Default true."),
});

export type StartRequest = z.infer<typeof StartRequest>;
export type TeamChangeTerms = z.infer<typeof TeamChangeTerms>;
export type ContinueTerms = z.infer<typeof ContinueTerms>;
export type OutsideMessage = z.infer<typeof OutsideMessage>;
export type MessageRequest = z.infer<typeof MessageRequest>;
export type ForgetRequest = z.infer<typeof ForgetRequest>;
export type AnswerRequest = z.infer<typeof AnswerRequest>;
export type SignalRequest = z.infer<typeof SignalRequest>;
export type HireRequest = z.infer<typeof HireRequest>;
export type ContinueRequest = z.infer<typeof ContinueRequest>;
export type ForkRequest = z.infer<typeof ForkRequest>;
export type ServedTeam = z.infer<typeof ServedTeam>;
export type MessageReceipt = z.infer<typeof MessageReceipt>;
export type ReplayReport = z.infer<typeof ReplayReport>;
export type ListQuery = z.infer<typeof ListQuery>;
export type EventsQuery = z.infer<typeof EventsQuery>;
