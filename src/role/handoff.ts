import { z } from "zod";
import { readable, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known, nearestWord } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { Json } from "../kernel/json.ts";
import { isObject } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import type { Message } from "../message/message.ts";
import type { AnySchema } from "../model/standard-schema.ts";
import { defineTool, type Tool, toolName } from "../tool/tool.ts";
import type { RoleSpec } from "./role-spec.ts";
import type { Role } from "./role.ts";

/** Options of a hand-off. */
export interface HandoffOptions {
  /**
   * The part of the conversation that the other role learns. `all`: what was said, at most the newest 200 messages; `summary`: a summary that the role's
   * model writes; `none`: the reason or the input alone. Default `all`.
   */
  readonly history?: "all" | "summary" | "none";
  /** The form that the model fills in for the other role, which gets it as `instructContent.input`. Default: a reason in one sentence. */
  readonly input?: AnySchema;
  /** The name of the tool. Default: `transfer_to_` and the name of the role. */
  readonly name?: string;
  /** The occasion, for the model. Default: the goal of the role. */
  readonly description?: string;
}

const handoffOptions: Known<HandoffOptions> = {
  history: kinds.oneOf("all", "summary", "none"),
  input: kinds.schema,
  ...kinds.each(kinds.text, "name", "description"),
};

export interface Handoff {
  /** The name or another address of the role. */
  readonly to: string;
  readonly history: NonNullable<HandoffOptions["history"]>;
  readonly hasInput: boolean;
}

/** The cause of a message that hands a conversation to another role. */
export const HANDOFF = "Handoff";

/** One message of a conversation that was handed over. An empty `from` is the user. */
interface Said {
  readonly from: string;
  readonly content: string;
}

/** The payload of a message that hands a conversation over. */
export interface HandedOver {
  readonly conversation: readonly Said[];
  /** It has all that the sender knew, so that the recipient needs nothing from before. */
  readonly isWhole: boolean;
  /** Hand-offs since a user spoke, this one included. */
  readonly hops: number;
  /** The value that the model filled in, if the hand-off has an input. */
  readonly input?: unknown;
}

const handoffs = new WeakMap<Tool, Handoff>();

/**
 * Makes a tool by which a role in mode `agent` hands its conversation to another role of its team, which answers in its place. What the user says next goes
 * to that role too, until it hands off itself. Give the other role `watch: []` if it works only then.
 *
 * @param to the role, or its name where roles hand off to each other
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`, `TOOL_INVALID`. A run begins only if its team has the role: `ROLE_UNKNOWN`
 * @example
 * import { defineRole, handoff, Team } from "troupe";
 * import { scriptedModel } from "troupe/testing";
 *
 * const transfer = { toolCalls: [{ id: "1", type: "function", function: { name: "transfer_to_Rita", arguments: '{"reason":"a refund"}' } }] } as const;
 * const rita = defineRole({ name: "Rita", goal: "decide about refunds", reactMode: "agent", watch: [] });
 * const desk = defineRole({ name: "Desk", goal: "greet customers", reactMode: "agent", tools: [handoff(rita)] });
 * const team = new Team({ roles: [desk, rita], model: scriptedModel([transfer, "You get it back."]) });
 * console.log((await team.run("I want my money back.").result).output?.content); // You get it back.
 */
export function handoff(to: Role | string, o: HandoffOptions = {}): Tool {
  takes("handoff", "to", to, readable);
  const target = nameOf(to);
  checkKnownOptions("handoff", o, handoffOptions);
  const { history = "all", input, name = toolName(`transfer_to_${target}`) } = o;
  const goal = typeof to === "string" || to.goal === "" ? "" : ` Its goal: ${to.goal}.`;
  const tool = defineTool({
    name,
    description: o.description ?? `Hands this conversation over to ${target}, who answers in your place.${goal}`,
    parameters: input ?? z.object({ reason: z.string().describe("why, in one sentence") }),
    effect: "read",
    execute: (args) => ({ output: `${target} continues.`, data: args as Json }),
  });
  const ending = Object.freeze({ ...tool, ends: true, parallel: false, passesOn: true }) as Tool;
  handoffs.set(ending, { to: target, history, hasInput: input !== undefined });
  return ending;
}

function nameOf(to: unknown): string {
  if (typeof to === "string" && to.trim() !== "") return to;
  if (isObject(to) && "react" in to && "name" in to && typeof to.name === "string") return to.name;
  throw new UsageError("OPTION_INVALID", `Expected the role to hand off to, or its name, got ${valueText(to)}. Write handoff(role).`);
}

export function handoffOf(tool: Tool | undefined): Handoff | undefined {
  return tool === undefined ? undefined : handoffs.get(tool);
}

/** Returns the payload of a message that hands a conversation over; undefined for any other message. */
export function handedOver({ causeBy, instructContent }: Message): HandedOver | undefined {
  if (causeBy !== HANDOFF || !isObject(instructContent)) return undefined;
  const { conversation, hops } = instructContent as Partial<HandedOver>;
  return Array.isArray(conversation) && typeof hops === "number" ? (instructContent as HandedOver) : undefined;
}

/** Refuses hand-offs to a role that the team lacks, and of a role to itself. @throws UsageError `ROLE_UNKNOWN`, `ROLE_INVALID` */
export function assertHandoffs(specs: readonly RoleSpec[], names: readonly string[]): void {
  const has = ({ card, addresses }: RoleSpec, to: string): boolean => card.profile === to || addresses.includes(to);
  for (const spec of specs) {
    const { role, card } = spec;
    for (const { to } of (role.tools ?? []).flatMap((tool) => handoffOf(tool) ?? [])) {
      if (to === card.name || has(spec, to))
        throw new UsageError("ROLE_INVALID", `Expected ${card.name} to hand off to another role, got itself. Leave this hand-off out.`);
      if (names.includes(to) || specs.some((other) => has(other, to))) continue;
      const expected = `Expected the role "${to}", to which ${card.name} hands off, to be in the team, which has ${names.join(", ")}`;
      const meant = nearestWord(to, names);
      throw new UsageError("ROLE_UNKNOWN", `${expected}. ${meant === undefined ? "Hire it." : `Did you mean ${meant}?`}`);
    }
  }
}
