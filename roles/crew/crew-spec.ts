import { z } from "zod";
import { DECISIONS, OTHERWISE } from "../../actions/meeting.ts";
import { WINNERS } from "../../actions/process-flow.ts";

/** The tools that a crew's agents may have, by their names. */
export const CREW_TOOLS = [
  "shell",
  "code",
  "python",
  "editor",
  "file_search",
  "look",
  "planning",
  "web_fetch",
  "web_search",
  "ask_human",
] as const;

const MAX_ROLES = 200;
const MAX_ACTIONS = 50;
const MAX_NAME = 80;
const MAX_TEXT = 100_000;

const name = z
  .string()
  .min(1)
  .max(MAX_NAME)
  .regex(/^[^<>{}\s](?:[^<>{}\n\r\t]*[^<>{}\s])?$/, { error: "a name without spaces at its ends and without < > { }" });
const names = z.array(name).max(MAX_ACTIONS);
const text = z.string().max(MAX_TEXT);
const recipient = z.union([z.literal("<self>"), name], { error: "a name, a profile or <self>" });
const kind = z.enum(["text", "number", "integer", "boolean"]);
const kindOrList = z.union([kind, z.tuple([kind])], { error: "text, number, integer, boolean, or one of these as a list: [text]" });
const field = z.union(
  [
    kind,
    z.tuple([kind]),
    z.strictObject({
      kind: kindOrList.optional(),
      oneOf: z.array(z.string().min(1)).min(1).max(MAX_ACTIONS).optional(),
      description: text.optional(),
      optional: z.boolean().optional(),
    }),
  ],
  { error: "text, number, integer, boolean, one of these as a list, or a mapping with kind or oneOf" },
);
const plain = z.union([z.string(), z.number(), z.boolean()], { error: "a text, a number, or true or false" });

/** One question to the model of its role. Its name is the cause of its messages, unique in the crew. */
const actionSchema = z.strictObject({
  name,
  description: text.optional(),
  /** Default: its needs, else the role's `watch`. */
  on: z.union([name, names.min(1)], { error: "a cause or a list of causes" }).optional(),
  needs: names.optional(),
  /** Default: the description and the news. */
  prompt: text.min(1).optional(),
  /** In the order in which the model gives them. Default: its message is a string. */
  output: z.record(name, field).optional(),
  /** Beside its output the role says a few sentences to people, in the same answer. */
  speech: z.boolean().optional(),
  /** Default: every role that watches it. */
  sendTo: z.array(recipient).min(1).max(MAX_ROLES).optional(),
  /** A message with these values goes to no one, so that a circle of roles ends. */
  endsWhen: z.record(name, plain).optional(),
  /** Messages in one run that others receive. */
  limit: z.int().min(1).max(100_000).optional(),
  /** Who receives a message with these values, and the first one beyond the limit, in place of the others. */
  escalate: z.strictObject({ to: z.array(recipient).min(1).max(MAX_ROLES), when: z.record(name, plain).optional() }).optional(),
  temperature: z.number().min(0).max(2).optional(),
  maxTokens: z.int().min(1).max(1_000_000).optional(),
});

const tools = z.array(z.enum(CREW_TOOLS));
const command = z.tuple([z.string().min(1)], z.string());

/** The board of tasks that the roles of a crew share. */
const boardSchema = z.union(
  [
    z.literal(true),
    z.strictObject({
      /** Commands that a task can name as its checks. A task that names none has all. */
      checks: z.record(name, command).optional(),
      /** Tasks that one role can have claimed at once. */
      claims: z.int().min(1).max(1_000).optional(),
      tokens: z.int().min(50).max(100_000).optional(),
    }),
  ],
  { error: "true, or a mapping with checks, claims and tokens" },
);

/** The notes that the roles of a crew share. */
const notesSchema = z.union(
  [z.literal(true), z.strictObject({ longest: z.int().min(1).max(100_000).optional(), tokens: z.int().min(50).max(100_000).optional() })],
  { error: "true, or a mapping with longest and tokens" },
);

const roleSchema = z.strictObject({
  name,
  profile: text.optional(),
  goal: text.optional(),
  constraints: text.optional(),
  /** Replaces the generated introduction in prompts. */
  description: text.optional(),
  /** Added to the system prompt of each question. */
  instructions: text.optional(),
  /** Causes besides those that its actions name. Default: `UserRequirement`, where its actions name none. */
  watch: names.min(1).optional(),
  mode: z.enum(["by_cause", "by_order", "react", "plan_and_act", "agent"]).optional(),
  actions: z.array(actionSchema).max(MAX_ACTIONS).optional(),
  tools: tools.optional(),
  /** Tools that run without asking a person. */
  allow: tools.optional(),
  /** Commands that must end with code 0 before its agent may be done. */
  checks: z.array(command).min(1).max(20).optional(),
  /** Its agent works in a fork of the project, which is merged when its checks, or those of a task, are green. */
  isolation: z.enum(["worktree"]).optional(),
  human: z.boolean().optional(),
  model: name.optional(),
  /** Actions of one activation, or steps of its agent. */
  steps: z.int().min(1).max(1_000).optional(),
  /** Seconds of one activation. */
  timeout: z.number().positive().max(1_000_000).optional(),
});

/** Roles that speak by turns, vote, and record a decision: its message has the name of the meeting as its cause. */
const meetingSchema = z.strictObject({
  name,
  /** The causes of the messages to its moderator that call it. */
  on: z.union([name, names.min(1)], { error: "a cause or a list of causes" }),
  moderator: name,
  participants: names.min(1),
  agenda: z.array(z.string().min(1).max(1_000)).min(1).max(20),
  /** Rounds of speech before the vote. */
  rounds: z.int().min(1).max(20).default(2),
  /** Words of one participant in one meeting. */
  words: z.int().min(1).max(10_000).default(80),
  /** Questions to models in one meeting. Default: those of all rounds, of the vote, and one of the moderator. */
  calls: z.int().min(1).max(10_000).optional(),
  /** Objections of one participant in one meeting. Each needs evidence, and delays the decision. */
  objections: z.int().min(0).max(20).default(1),
  /** By most votes, by all votes, by the moderator, or as the median of estimates. */
  decide: z.enum(DECISIONS).default("majority"),
  /** Who decides where the votes do not. */
  otherwise: z.enum(OTHERWISE).default("moderator"),
});

const stageSchema = z.strictObject({
  name,
  /** The roles that can do it. Each has one item at a time. */
  by: names.min(1),
  task: text.min(1),
  /** Roles that do it one after another: 2 is a pair, or two approvals. */
  together: z.int().min(1).max(20).default(1),
  /** Only roles that did not build the item. */
  other: z.boolean().default(false),
  /** The earlier stage to which it sends an item back. */
  back: name.optional(),
  /** Items in the stage, and done and waiting behind it. Default: any number. */
  limit: z.int().min(1).max(1_000).optional(),
});

/** The stages that each item of a backlog passes, from role to role. */
const processSchema = z.strictObject({
  /** The role that hands out the items. It asks no model for it. */
  lead: name,
  /** The action whose output lists the items. */
  backlog: name,
  stages: z.array(stageSchema).min(1).max(20),
  /** Items that begin and end together. Default: each flows alone. */
  batch: z
    .strictObject({
      /** The cause of the message that begins one; the one that ends it is "<name> ended". */
      name: name.optional(),
      size: z.union([z.literal("all"), z.int().min(1).max(1_000)], { error: "all, or a number of items" }),
      /** A stage begins when the whole batch has passed the one before. */
      phases: z.boolean().default(false),
      /** A meeting or an action that must have ended before the work begins. */
      before: name.optional(),
      /** A meeting or an action that must have ended before the next batch begins. */
      after: name.optional(),
    })
    .optional(),
  /** Times that one item may be sent back before the lead decides. */
  rework: z.int().min(0).max(100).default(3),
  /** Who wins then: the author, so that the item goes on, the reviewer, so that it is dropped, or a person, who is asked. */
  otherwise: z.enum(WINNERS).default("reviewer"),
});

/** The processes that a crew file can name. Their files are in `templates/processes`. */
export const PROCESSES = ["handoff", "kanban", "open-source", "pairs", "scrum", "swarm", "waterfall"] as const;

/** Without the check of names. */
export const crewForm = z.strictObject({
  name: name.optional(),
  /** Dollars. */
  budget: z.number().positive().max(1_000_000).optional(),
  rounds: z.int().min(1).max(100_000).optional(),
  model: name.optional(),
  /** By the names of roles, also of a shipped crew's. */
  models: z.record(name, name).optional(),
  /** A shipped crew, whose roles come first. */
  use: z.string().optional(),
  /** Agents get it as a tool; prompts show it by {{board}}. */
  board: boardSchema.optional(),
  /** Agents get them as a tool; prompts show them by {{notes}}. */
  notes: notesSchema.optional(),
  with: z.record(z.string(), plain).optional(),
  roles: z.array(roleSchema).min(1).max(MAX_ROLES).optional(),
  reserve: z.array(roleSchema).min(1).max(MAX_ROLES).optional(),
  meetings: z.array(meetingSchema).max(20).optional(),
  process: processSchema.optional(),
  /** The actions whose messages are the result. Default: those that no role watches. */
  output: names.min(1).optional(),
});

/** A crew as a file has it: it can name a process, whose crew it changes. */
const namedProcess = z.string().superRefine((given, ctx) => {
  if (PROCESSES.some((known) => known === given)) return;
  const message = `Expected a process, or the name of one, got "${given}".`;
  ctx.addIssue({ code: "custom", message, params: { given, known: PROCESSES } });
});
export const crewFileForm = crewForm.extend({
  process: z.union([namedProcess, processSchema], { error: "a process, or the name of one" }).optional(),
});

/** A crew as it is opened. */
export type CrewSpec = z.infer<typeof crewForm>;
export type CrewFile = z.infer<typeof crewFileForm>;
export type CrewRole = z.infer<typeof roleSchema>;
export type CrewMeeting = z.infer<typeof meetingSchema>;
export type CrewProcess = z.infer<typeof processSchema>;
export type CrewAction = z.infer<typeof actionSchema>;
export type CrewField = z.infer<typeof field>;
export type FieldKind = z.infer<typeof kind>;

export function crewJsonSchema(): Record<string, unknown> {
  return { ...z.toJSONSchema(crewFileForm, { io: "input" }), title: "A crew of Troupe" };
}
