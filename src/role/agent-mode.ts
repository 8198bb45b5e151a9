import type { RoleContext } from "../action/context.ts";
import { Agent, type AgentOptions } from "../agent/agent.ts";
import type { AgentResult } from "../agent/events.ts";
import { ControlError, StepError } from "../kernel/errors.ts";
import type { Message } from "../message/message.ts";
import { ChatMemory } from "../memory/chat-memory.ts";
import { toChat } from "../model/chat-message.ts";
import type { Role, Said } from "./role.ts";
import type { RoleSpec } from "./role-spec.ts";

/** How the agent behind a role works; what is left out comes from the role: its model, its tools, its door, who it is, who is asked. */
export type RoleAgentOptions = Pick<
  AgentOptions,
  "net" | "toolChoice" | "nextStepPrompt" | "permissions" | "parallelTools" | "loops" | "compaction" | "terminate"
> & {
  /** Said after the introduction of the role. */
  readonly systemPrompt?: string;
  /**
   * How many of the messages remembered before the news it is given. Default 200, as MetaGPT's RoleZero. A role with the option `memory`
   * recalls by that instead.
   */
  readonly recent?: number;
};

const RECENT = 200;
/** Messages of the agent's own work that have room; it makes room by tokens long before. */
const LATER = 1_000;

/**
 * Mode `agent`: an agent works on the news until it has an answer, which is what the role says. It is made for this activation and gone after
 * it; what the role remembers is what it goes on from. Every answer of its model, every call of a tool and every permission is a step, so an
 * activation that runs again repeats none that is recorded.
 *
 * @throws StepError `AGENT_UNFINISHED` when it ends without an answer; what its model, its net or the agent itself failed with.
 */
export async function reactAsAgent<S>(role: Role<S>, spec: RoleSpec, rc: RoleContext<S>): Promise<Said> {
  const cause = spec.actions[0]?.name ?? role.name;
  const task = rc.news.map((message) => toChat(message).content ?? "").join("\n\n");
  rc.began?.(cause);
  const text = role.human ? await rc.ask(task) : answerOf(await worked(role, spec, rc, task), rc.name, spec.maxReactLoop);
  const answer = rc.message(text, { causeBy: cause });
  rc.memory.add(answer);
  return answer;
}

async function worked<S>(role: Role<S>, spec: RoleSpec, rc: RoleContext<S>, task: string): Promise<AgentResult> {
  const { recent = RECENT, systemPrompt = "", ...options } = role.agent ?? {};
  const memory = new ChatMemory({ maxMessages: recent + LATER });
  const recalled = await rc.recall();
  memory.addAll(recalled.length > 0 ? recalled : before(rc, recent).map(toChat));
  const agent = new Agent({
    ...options,
    name: rc.name,
    model: rc.model,
    steps: rc.steps,
    tools: role.tools ?? [],
    memory,
    maxSteps: spec.maxReactLoop,
    clock: rc.clock,
    systemPrompt: systemPrompt === "" ? rc.introduction : `${rc.introduction}\n\n${systemPrompt}`,
    approve: ({ id, text }, { signal }) => rc.human.answer({ id, text }, signal),
    ask: ({ id, text }, { signal }) => rc.human.answer({ id, text }, signal),
  });
  return agent.run(task, { signal: rc.signal }).result;
}

/** What the role remembered before the news came. */
function before<S>(rc: RoleContext<S>, recent: number): readonly Message[] {
  const news = new Set(rc.news.map(({ id }) => id));
  return recent === 0 ? [] : rc.memory.get(recent + news.size).filter(({ id }) => !news.has(id));
}

function answerOf({ status, answer, error }: AgentResult, name: string, maxSteps: number): string {
  if (status === "finished") return answer;
  if (error instanceof ControlError || error !== undefined) throw error;
  const why = status === "loop" ? "it did the same again and again" : `its ${maxSteps} steps were used up`;
  throw new StepError(
    "AGENT_UNFINISHED",
    `Expected ${name} to come to an answer, but ${why}. Raise maxReactLoop, give it other tools, or ask for less at once.`,
  );
}
