import type { Agent, AgentOptions } from "../agent/agent.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { defined } from "../kernel/value-kind.ts";
import { UserFeedback, UserRequirement } from "../message/address.ts";
import { defineAction } from "../role/action.ts";
import { defineRole, type Role } from "../role/role.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { HumanPort } from "../tool/approval.ts";
import { type Conversation, conversationOptions, type ConversationOptions } from "./conversation.ts";
import { Team } from "./team.ts";

export type { Conversation };

/** Options of a conversation with an agent. */
export interface AgentConversationOptions extends ConversationOptions {
  /** Keeps the conversation. */
  readonly journal: Journal;
}

const knownOptions: Known<AgentConversationOptions> = { ...conversationOptions, journal: kinds.journal };

/** One team for each agent and journal, so that all handles of a conversation find the run that is under way. */
const teams = new WeakMap<Agent, WeakMap<Journal, Team>>();

export function conversationWith(agent: Agent, options: AgentOptions, id: string, o: AgentConversationOptions): Conversation {
  checkKnownOptions("conversation of an agent", o, knownOptions);
  const { journal, ...more } = o;
  let own = teams.get(agent);
  if (own === undefined) teams.set(agent, (own = new WeakMap()));
  let team = own.get(journal);
  if (team === undefined) own.set(journal, (team = teamOf(options, journal)));
  return team.conversation(id, more);
}

function teamOf(options: AgentOptions, journal: Journal): Team {
  assertCanConverse(options);
  const { name, deps, budget, limits, calls, clock } = options;
  const human = humanOf(options);
  return new Team({ name, description: "", roles: [roleOf(options)], journal, ...defined({ deps, budget, limits, calls, clock, human }) });
}

function assertCanConverse(options: AgentOptions): void {
  const [taken] = (["memory", "steps", "news", "tokenLimit"] as const).filter((option) => options[option] !== undefined);
  if (taken === undefined) return;
  const expected = `Expected an agent without ${taken} for a conversation with a journal`;
  throw new UsageError("AGENT_INVALID", `${expected}: the journal keeps what was said and done. Make the agent without it.`);
}

function roleOf(options: AgentOptions): Role {
  const { name, model, systemPrompt, maxSteps, tools = [], output, guards } = options;
  const { net, toolChoice, nextStepPrompt, permissions, parallelTools, maxObserve, loops, compaction, terminate } = options;
  return defineRole({
    name,
    model,
    reactMode: "agent",
    watch: [UserRequirement, UserFeedback],
    tools: [...tools],
    agent: {
      keepCalls: true,
      ...defined({ net, toolChoice, nextStepPrompt, permissions, parallelTools, maxObserve, loops, compaction, terminate }),
    },
    ...defined({ description: systemPrompt, maxReactLoop: maxSteps, guards }),
    ...(output === undefined ? {} : { actions: [defineAction({ name: "Answer", output, run: () => undefined as never })] }),
  });
}

/** Questions for a permission go to the approver, other ones to the person. Without either they wait. */
function humanOf({ approve, ask }: AgentOptions): HumanPort | undefined {
  if (approve === undefined) return ask;
  if (ask === undefined) return approve as unknown as HumanPort;
  return (question, o) => (question.tool === undefined ? ask : (approve as unknown as HumanPort))(question, o);
}
