import type { z } from "zod";
import type { Action } from "./action.ts";
import type { ActionContext, RoleContext } from "./context.ts";
import { Agent, type AgentOptions } from "../agent/agent.ts";
import type { AgentEvent, AgentResult } from "../agent/events.ts";
import { ControlError, StepError } from "../kernel/errors.ts";
import { canonicalJson } from "../kernel/json.ts";
import { defined } from "../kernel/value-kind.ts";
import type { Message, MessageFields } from "../message/message.ts";
import { ChatMemory } from "../memory/chat-memory.ts";
import { ChatMessage, toChat } from "../model/chat-message.ts";
import { shortResult, toolMessage } from "../tool/tool-result.ts";
import { guardsOf } from "./guarded-act.ts";
import { conversationIn, givenBy, type GivenHandoff, handingOver, hopsIn, MAX_HOPS, sinceHandedOver } from "./handing-over.ts";
import { handedOver, handoffOf } from "./handoff.ts";
import { ActionView, modelFor } from "./act.ts";
import type { Role, Said } from "./role.ts";
import { isForReaction, type RoleSpec } from "./role-spec.ts";

/** Options of the agent behind a role. */
export type RoleAgentOptions = Pick<
  AgentOptions,
  "net" | "toolChoice" | "nextStepPrompt" | "permissions" | "parallelTools" | "maxObserve" | "loops" | "compaction" | "terminate"
> & {
  /** Added after the introduction of the role. */
  readonly systemPrompt?: string;
  /** Returns the task for the news. Default: the messages in order, each as `sender: content`. */
  readonly task?: (news: readonly Message[]) => string;
  /** Limit on the messages remembered before the news that the agent gets. Default 200, as MetaGPT's RoleZero. */
  readonly recent?: number;
  /**
   * Keeps the calls of its tools in the conversation of the role, each result shortened to 4,000 characters, for its newest 20 answers. Default
   * false: it remembers its answers alone.
   */
  readonly keepCalls?: boolean;
};

const RECENT = 200;
const LATER = 1_000;
const HANDED = "This conversation is handed over to you. You answer the user now. ";
const KEPT_RESULT = 4_000;
const KEPT_ANSWERS = 20;

/**
 * Mode `agent`: an agent works on the news until it has an answer, which becomes the message of the role. Words of users that come for the
 * role meanwhile enter the conversation before the next step. The role remembers them then, so they are no news of its next activation. If
 * the activation fails, the next one gets them as news again. An answer of a step shows in the record which words had come before it, so the agent that runs again hears them
 * at the same step.
 */
export async function reactAsAgent<S>(
  role: Role<S>,
  spec: RoleSpec,
  rc: RoleContext<S>,
  news: RoleContext["news"] = rc.news,
): Promise<Said> {
  const [action] = role.actions;
  const cause = action?.name ?? role.name;
  const task = [(role.agent?.task ?? said)(news), ...(await opened(role, rc))].join("\n\n");
  const work = { task, news };
  rc.actionStarted?.(cause);
  if (action?.output !== undefined) {
    const { output, denied, calls, handed } = await typedBy(role, spec, rc, { ...work, schema: action.output });
    if (handed !== undefined) return kept(rc, await handingOver(rc, handed, role.agent?.recent), calls);
    return kept(rc, typedMessage(rc, action, output, denied), calls);
  }
  if (role.human) return kept(rc, rc.message(await rc.ask(task), { causeBy: cause, ...recipients(rc, action, undefined) }));
  const { calls, handed, ...result } = await worked(role, spec, rc, work);
  const { answer, denied } = answerOf(result, rc.name, spec.maxReactLoop);
  if (handed !== undefined) return kept(rc, await handingOver(rc, handed, role.agent?.recent), calls);
  return kept(rc, rc.message(answer, { causeBy: cause, ...toldDenied(denied), ...recipients(rc, action, undefined) }), calls);
}

/** The introductions of the tools of a role: the shared board, its own copy of the project. */
async function opened<S>({ tools = [] }: Role<S>, rc: RoleContext<S>): Promise<readonly string[]> {
  // Two tools may say the same of the place where both work.
  const texts = new Set<string>();
  for (const tool of tools) for (const text of (await tool.opens?.(rc.steps)) ?? []) texts.add(text);
  return [...texts];
}

function said(news: readonly Message[]): string {
  return news.map((message) => `${handedOver(message) === undefined ? "" : HANDED}${toChat(message).content ?? ""}`).join("\n\n");
}

function recipients<S>(rc: RoleContext<S>, action: Action | undefined, output: unknown): Pick<MessageFields, "sendTo"> {
  if (action?.sendTo === undefined) return {};
  return { sendTo: action.sendTo(new ActionView(rc, action, {}) as unknown as ActionContext<never>, output) };
}

function toldDenied(denied: AgentResult["denied"]): Pick<MessageFields, "metadata"> {
  return denied.length === 0 ? {} : { metadata: { denied: denied.map(({ tool, why }) => ({ tool, why })) } };
}

function kept<S>(rc: RoleContext<S>, answer: Message, calls: readonly ChatMessage[] = []): Message {
  rc.memory.add(answer);
  if (calls.length === 0) return answer;
  const { workingMemory } = rc;
  workingMemory.add(rc.message(answer.id, { causeBy: CALLS, instructContent: calls }));
  const [oldest] = workingMemory.size > KEPT_ANSWERS ? workingMemory.getByAction(CALLS) : [];
  if (oldest !== undefined) workingMemory.delete(oldest);
  return answer;
}

/** The cause of the messages of the working memory that hold the calls before an answer. */
const CALLS = "calls";

async function typedBy<S>(
  role: Role<S>,
  spec: RoleSpec,
  rc: RoleContext<S>,
  { schema, ...work }: Work & { readonly schema: z.ZodType },
): Promise<Pick<Worked, "output" | "denied" | "calls" | "handed">> {
  if (role.human) return { output: await rc.ask(work.task, { schema }), denied: [], calls: [], handed: undefined };
  const result = await worked(role, spec, rc, work);
  answerOf(result, rc.name, spec.maxReactLoop);
  return result;
}

interface Worked extends AgentResult {
  /** The calls and their results, if the role keeps them. */
  readonly calls: readonly ChatMessage[];
  /** The hand-off with which it ended. */
  readonly handed: GivenHandoff | undefined;
}

function typedMessage<S>(rc: RoleContext<S>, action: Action, output: unknown, denied: AgentResult["denied"]): Message {
  return rc.message(action.render?.(output) ?? canonicalJson(output), {
    causeBy: action.name,
    instructContent: output,
    speech: action.speech?.(output),
    ...toldDenied(denied),
    ...recipients(rc, action, output),
  });
}

/** The news on which the agent works, and the task that they give it. */
interface Work {
  readonly task: string;
  readonly news: readonly Message[];
}

async function worked<S>(role: Role<S>, spec: RoleSpec, rc: RoleContext<S>, { task, news }: Work): Promise<Worked> {
  const { recent = RECENT, systemPrompt = "", task: _task, keepCalls = false, ...options } = role.agent ?? {};
  const {
    tools = [],
    actions: [action],
  } = role;
  const output = action?.output;
  const memory = new ChatMemory({ maxMessages: recent + LATER });
  const recalled = await rc.recall();
  const past = recalled.length > 0 ? recalled : before(rc, news, recent).flatMap((message) => asRemembered(rc, message));
  memory.addAll([...past, ...news.flatMap((message) => conversationIn(rc.name, message))]);
  const agent = new Agent({
    ...options,
    name: rc.name,
    model: modelFor(rc, action),
    steps: rc.steps,
    tools: hopsIn(news) < MAX_HOPS ? tools : tools.filter((tool) => handoffOf(tool) === undefined),
    memory,
    maxSteps: spec.maxReactLoop,
    clock: rc.clock,
    ...defined({ output, deps: rc.given?.deps }),
    guards: guardsOf(rc, action),
    news: () => heard(rc, spec),
    systemPrompt: systemPrompt === "" ? rc.introduction : `${rc.introduction}\n\n${systemPrompt}`,
    approve: ({ role: _role, ...question }, { signal }) => rc.human.answer(question, signal),
    ask: ({ id, text, form }, { signal }) => rc.human.answer({ id, text, form }, signal),
  });
  const files = news.flatMap((message) => message.files ?? []);
  const run = agent.run(task, {
    signal: rc.signal,
    ...defined({ context: rc.given?.context, files: files.length === 0 ? undefined : files }),
  });
  const calls: ChatMessage[] = [];
  let handed: GivenHandoff | undefined;
  for await (const event of run) {
    if (event.type === "warning") rc.logger.warn(event.text);
    if (keepCalls) calls.push(...callsIn(event));
    if (event.type === "call.ended" && event.outcome === "ok") handed ??= givenBy(event, tools);
  }
  return { ...(await run.result), calls, handed };
}

function callsIn(event: AgentEvent): readonly ChatMessage[] {
  if (event.type === "call.ended") return [toolMessage({ ...event, result: shortResult(event.result, KEPT_RESULT) })];
  return event.type === "reply.ended" && event.calls.length > 0 ? [ChatMessage.fromToolCalls(event.calls, event.text)] : [];
}

/** The calls before an answer of the role come with it. */
function asRemembered<S>(rc: RoleContext<S>, message: Message): readonly ChatMessage[] {
  if (message.sentFrom !== rc.name) return [...conversationIn(rc.name, message), asHeard(rc, message)];
  const calls = rc.workingMemory.getByAction(CALLS).find(({ content }) => content === message.id)?.instructContent;
  return [...((calls ?? []) as readonly ChatMessage[]), asHeard(rc, message)];
}

/** Returns the messages that came, but those of reactions, which stay in the mailbox. */
function heard<S>(rc: RoleContext<S>, spec: RoleSpec): readonly ChatMessage[] {
  const came = (rc.heard?.() ?? []).filter(({ causeBy }) => !isForReaction(spec, causeBy));
  for (const message of came) rc.memory.add(message);
  return came.map((message) => asHeard(rc, message));
}

function before<S>(rc: RoleContext<S>, news: readonly Message[], recent: number): readonly Message[] {
  const ids = new Set(news.map(({ id }) => id));
  if (recent === 0) return [];
  return sinceHandedOver(rc.memory.get(recent + ids.size), rc.name).filter(({ id }) => !ids.has(id));
}

function asHeard<S>({ name }: RoleContext<S>, message: Message): ChatMessage {
  // With its own name before them, a model writes it before its next words too.
  if (message.sentFrom === name && message.role === "assistant") return ChatMessage.assistant(message.content);
  const chat = toChat(message);
  return chat.role === "assistant" ? { ...chat, role: "user" } : chat;
}

function answerOf(result: AgentResult, name: string, maxSteps: number): AgentResult {
  const { status, error } = result;
  if (status === "finished") return result;
  if (error instanceof ControlError || error !== undefined) throw error;
  const why = status === "loop" ? "it did the same again and again" : `its ${maxSteps} steps were used up`;
  throw new StepError(
    "AGENT_UNFINISHED",
    `Expected ${name} to come to an answer, but ${why}. Raise maxReactLoop, give it other tools, or ask for less at once.`,
  );
}
