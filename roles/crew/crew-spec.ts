import { z } from "zod";

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

/** The name of a tool that a crew's agents may have. */
export type CrewTool = (typeof CREW_TOOLS)[number];

/** The kind of a field of a typed message. */
export type FieldKind = "text" | "number" | "integer" | "boolean";

/** A field of a typed message. */
export type CrewField =
  | FieldKind
  | readonly [FieldKind]
  | {
      readonly kind?: FieldKind | readonly [FieldKind] | undefined;
      /** Instead of a kind. */
      readonly oneOf?: readonly string[] | undefined;
      /** For the model. */
      readonly description?: string | undefined;
      /** Default false. */
      readonly optional?: boolean | undefined;
    };

/** One question to the model of its role. */
export interface CrewAction {
  /** The cause of its messages, unique in the crew. */
  readonly name: string;
  readonly description?: string | undefined;
  /** The causes that start it. Default: its needs, else the role's `watch`. */
  readonly on?: string | readonly string[] | undefined;
  /** The causes of which it needs a new message each. */
  readonly needs?: readonly string[] | undefined;
  /**
   * `{{text}}` stands for the news, `{{Cause}}` for the newest message of a cause, `{{Cause.field}}` for a field of a typed one. Default:
   * the description and the news.
   */
  readonly prompt?: string | undefined;
  /** In the order in which the model gives them. Default: its message is a text. */
  readonly output?: Readonly<Record<string, CrewField>> | undefined;
  /** Names and profiles of roles, or `<self>`. Default: every role that watches it. */
  readonly sendTo?: readonly string[] | undefined;
  /** A message with these values goes to no one, so that a circle of roles ends. */
  readonly endsWhen?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** Messages in one run that others hear. Default: no limit. */
  readonly limit?: number | undefined;
  readonly temperature?: number | undefined;
  /** Of a reply. */
  readonly maxTokens?: number | undefined;
}

/** A role of a crew. */
export interface CrewRole {
  readonly name: string;
  readonly profile?: string | undefined;
  readonly goal?: string | undefined;
  readonly constraints?: string | undefined;
  /** Replaces the generated introduction in prompts. */
  readonly description?: string | undefined;
  /** Added to the system prompt of each question. */
  readonly instructions?: string | undefined;
  /** Causes that it hears besides those that its actions name. Default: `UserRequirement`, where its actions name none. */
  readonly watch?: readonly string[] | undefined;
  /** Default: `agent` with tools, checks or no action; `by_cause` where an action has `on` or `needs`; else `react`. */
  readonly mode?: "by_cause" | "by_order" | "react" | "plan_and_act" | "agent" | undefined;
  readonly actions?: readonly CrewAction[] | undefined;
  readonly tools?: readonly CrewTool[] | undefined;
  /** Tools that run without asking a person. */
  readonly allow?: readonly CrewTool[] | undefined;
  /** Commands that must end with code 0 before its agent may be done. */
  readonly checks?: readonly (readonly [string, ...string[]])[] | undefined;
  /** Default false. */
  readonly human?: boolean | undefined;
  /** Default: the crew's. */
  readonly model?: string | undefined;
  /** Actions of one activation, or steps of its agent. */
  readonly steps?: number | undefined;
  /** Seconds of one activation. Default 3600. */
  readonly timeout?: number | undefined;
}

/** A crew as a file says it. */
export interface CrewSpec {
  readonly name?: string | undefined;
  /** Dollars. */
  readonly budget?: number | undefined;
  readonly rounds?: number | undefined;
  /** Of all roles that name none. */
  readonly model?: string | undefined;
  /** By the names of roles, also of a shipped crew's. */
  readonly models?: Readonly<Record<string, string>> | undefined;
  /** A shipped crew, whose roles come first. */
  readonly use?: string | undefined;
  readonly with?: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly roles?: readonly CrewRole[] | undefined;
  /** Roles that a run can hire: `troupe hire`. */
  readonly reserve?: readonly CrewRole[] | undefined;
  /** The actions whose messages are the result. Default: those that no role hears. */
  readonly output?: readonly string[] | undefined;
}

const MOST_ROLES = 200;
const MOST_ACTIONS = 50;
const LONGEST_NAME = 80;
const LONGEST_TEXT = 100_000;

const name = z
  .string()
  .min(1)
  .max(LONGEST_NAME)
  .regex(/^[^<>{}\s](?:[^<>{}\n\r\t]*[^<>{}\s])?$/, { error: "a name without spaces at its ends and without < > { }" });
const names = z.array(name).max(MOST_ACTIONS);
const text = z.string().max(LONGEST_TEXT);
const recipient = z.union([z.literal("<self>"), name], { error: "a name, a profile or <self>" });
const kind = z.enum(["text", "number", "integer", "boolean"]);
const kindOrList = z.union([kind, z.tuple([kind])], { error: "text, number, integer, boolean, or one of these as a list: [text]" });
const field = z.union(
  [
    kind,
    z.tuple([kind]),
    z.strictObject({
      kind: kindOrList.optional(),
      oneOf: z.array(z.string().min(1)).min(1).max(MOST_ACTIONS).optional(),
      description: text.optional(),
      optional: z.boolean().optional(),
    }),
  ],
  { error: "text, number, integer, boolean, one of these as a list, or a mapping with kind or oneOf" },
);
const plain = z.union([z.string(), z.number(), z.boolean()], { error: "a text, a number, or true or false" });

const actionSchema = z.strictObject({
  name,
  description: text.optional(),
  on: z.union([name, names.min(1)], { error: "a cause or a list of causes" }).optional(),
  needs: names.optional(),
  prompt: text.min(1).optional(),
  output: z.record(name, field).optional(),
  sendTo: z.array(recipient).min(1).max(MOST_ROLES).optional(),
  endsWhen: z.record(name, plain).optional(),
  limit: z.int().min(1).max(100_000).optional(),
  temperature: z.number().min(0).max(2).optional(),
  maxTokens: z.int().min(1).max(1_000_000).optional(),
});

const tools = z.array(z.enum(CREW_TOOLS));

const roleSchema = z.strictObject({
  name,
  profile: text.optional(),
  goal: text.optional(),
  constraints: text.optional(),
  description: text.optional(),
  instructions: text.optional(),
  watch: names.min(1).optional(),
  mode: z.enum(["by_cause", "by_order", "react", "plan_and_act", "agent"]).optional(),
  actions: z.array(actionSchema).max(MOST_ACTIONS).optional(),
  tools: tools.optional(),
  allow: tools.optional(),
  checks: z
    .array(z.tuple([z.string().min(1)], z.string()))
    .min(1)
    .max(20)
    .optional(),
  human: z.boolean().optional(),
  model: name.optional(),
  steps: z.int().min(1).max(1_000).optional(),
  timeout: z.number().positive().max(1_000_000).optional(),
});

/** Without the check of names. @internal */
export const crewForm = z.strictObject({
  name: name.optional(),
  budget: z.number().positive().max(1_000_000).optional(),
  rounds: z.int().min(1).max(100_000).optional(),
  model: name.optional(),
  models: z.record(name, name).optional(),
  use: z.string().optional(),
  with: z.record(z.string(), plain).optional(),
  roles: z.array(roleSchema).min(1).max(MOST_ROLES).optional(),
  reserve: z.array(roleSchema).min(1).max(MOST_ROLES).optional(),
  output: names.min(1).optional(),
});

/** For editors. */
export function crewJsonSchema(): Record<string, unknown> {
  return { ...z.toJSONSchema(crewForm, { io: "input" }), title: "A crew of Troupe" };
}
