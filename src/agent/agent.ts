import { readable, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { throwIfAborted, untilAborted } from "../kernel/abort.ts";
import { BudgetError, ControlError, ModelError, TroupeError, UsageError } from "../kernel/errors.ts";
import { thrownText, valueText } from "../kernel/value-text.ts";
import { ChatMemory } from "../memory/chat-memory.ts";
import type { ChatModel } from "../model/chat-model.ts";
import { outputSchema } from "../model/json-schema.ts";
import { checkPolicy } from "../tool/permission.ts";
import { checkChoiceForm } from "../tool/call-options.ts";
import type { Tool } from "../tool/tool.ts";
import { ToolCollection } from "../tool/tool-collection.ts";
import { type AgentMemory, closeAllCalls } from "./agent-memory.ts";
import { brainOptions, type BrainOptions, checkBrainLimits } from "./brain-options.ts";
import { Brain, type BrainEnd } from "./brain.ts";
import { type AgentEvent, agentEventKinds, type AgentResult, type DeniedCall, EventLog } from "./events.ts";
import { type AgentMove, type AgentState, Lifecycle } from "./lifecycle.ts";
import { MessagesMemory } from "./messages-memory.ts";
import { Net } from "./net.ts";
import { RunTally, TokenLimitError } from "./run-tally.ts";
import { EndableTools } from "./terminate.ts";

/** What an agent is made of. */
export interface AgentOptions extends BrainOptions {
  readonly name: string;
  readonly description?: string;
  /** A collection is used as it is: tools that it gets or loses later count from the next step on. */
  readonly tools?: ToolCollection | Iterable<Tool>;
  /** Where the conversation is kept from run to run. Default: in this process. A memory of agents knows its own tools. */
  readonly memory?: AgentMemory | ChatMemory;
  /** Whether the agent can end its work by a tool. Default true; never added where a tool of that name is, or to a memory's own tools. */
  readonly terminate?: boolean;
}

const agentOptions: Known<AgentOptions> = { ...brainOptions, name: true, description: true, tools: true, memory: true, terminate: true };

/** What one run is given. */
export interface AgentRunOptions {
  /** Stops the run. Inside a role give the role's own: what another one stops suspends the whole activation. */
  readonly signal?: AbortSignal;
}

const agentRunOptions: Known<AgentRunOptions> = { signal: true };

/** A run of an agent: what happens, from its beginning for every reader, and how it ended. */
export interface AgentRun extends AsyncIterable<AgentEvent> {
  /** Never rejects. */
  readonly result: Promise<AgentResult>;
}

/**
 * One mind at work: a session of a net over a memory, with a life of its own. It owns its lifecycle and its memory; how it thinks is its
 * net's business, which is driven by a {@link Brain}.
 *
 * A1 one run at a time. A2 a run always ends: with a result, never with a rejection. A3 what it said and did stays in its memory, so the
 * next run goes on in the same conversation. A4 an agent that has not run holds its options and nothing else.
 */
export class Agent {
  readonly name: string;
  readonly description: string;
  readonly #options: AgentOptions;
  readonly #life = new Lifecycle();
  #memory: AgentMemory | undefined;
  #brain: Brain | undefined;

  /** @throws UsageError `AGENT_INVALID`, `TOOL_INVALID`, `TOOL_CHOICE_INVALID` or `PERMISSION_INVALID` for what can never work; `TOOL_DUPLICATE` for two tools of one name; `SCHEMA_UNSUPPORTED` for an output that JSON cannot carry. */
  constructor(options: AgentOptions) {
    takes("new Agent", "options", options, readable);
    checkParts(options);
    checkKnownOptions("new Agent", options, agentOptions);
    this.name = options.name;
    this.description = options.description ?? "";
    checkOptions(options);
    this.#options = { ...options, ...ownTools(options.tools) };
  }

  get state(): AgentState {
    return this.#life.state;
  }

  /** Steps of the latest run. */
  get steps(): number {
    return this.#life.steps;
  }

  get memory(): AgentMemory {
    this.#memory ??= memoryOf(this.#options);
    return this.#memory;
  }

  /**
   * Back to `IDLE`; what is remembered stays.
   *
   * @throws UsageError `AGENT_TRANSITION` while it runs
   */
  reset(): void {
    this.#life.move("reset");
  }

  /**
   * Works on a task until it has an answer, or on the task it has when none is given: what a run left undone goes on. From `FINISHED` and
   * `ERROR` it resets itself. It begins at once and does not wait for anybody to read its events.
   *
   * @throws UsageError `AGENT_RUNNING` while it runs
   */
  run(task?: string, o: AgentRunOptions = {}): AgentRun {
    checkKnownOptions("run of an agent", o, agentRunOptions);
    if (this.#life.state === "RUNNING") throw alreadyRunning(this.name);
    if (this.#life.state !== "IDLE") this.#life.move("reset");
    const log = new EventLog(agentEventKinds);
    const result = this.#live(task, o.signal, log);
    return { result, [Symbol.asyncIterator]: () => log.read() };
  }

  async #live(task: string | undefined, signal: AbortSignal | undefined, log: EventLog<AgentEvent>): Promise<AgentResult> {
    const tell = (event: AgentEvent): void => log.add(event);
    const move = (name: AgentMove): void => {
      this.#life.move(name, (made, from, to) => {
        if (made !== "step") tell({ type: "state.changed", from, to, move: made });
      });
    };
    move("start");
    let tally = new RunTally();
    let denied = (): readonly DeniedCall[] => [];
    let ended: Ended;
    try {
      throwIfAborted(signal);
      if (task !== undefined) await this.#begin(task, signal);
      this.#brain ??= new Brain(thinking(this.#options));
      const told = { tell: (event: AgentEvent) => this.#heard(event, tell, move) };
      const run = this.#brain.begin(this.memory, signal === undefined ? told : { ...told, signal });
      ({ tally } = run);
      denied = () => run.denied();
      ended = endOf(await run.through((text) => tell({ type: "text", step: this.#life.steps, text })), this.memory);
    } catch (error) {
      ended = failed(error, signal);
    }
    move(ended.move);
    const { usage, cost, byModel } = tally;
    const result: AgentResult = { answer: "", ...ended.result, steps: this.#life.steps, usage, cost, byModel, denied: denied() };
    log.add({ type: "run.ended", result });
    log.end();
    return result;
  }

  #heard(event: AgentEvent, tell: (event: AgentEvent) => void, move: (name: AgentMove) => void): void {
    if (event.type === "step.started") move("step");
    tell(event);
  }

  async #begin(task: string, signal: AbortSignal | undefined): Promise<void> {
    const { memory } = this;
    const within = <T>(work: Promise<T>): Promise<T> => (signal === undefined ? work : untilAborted(work, signal));
    await within(closeAllCalls(memory));
    await within(memory.setGoal(task));
  }
}

interface Ended {
  readonly move: "finish" | "fail" | "give_up";
  readonly result: Pick<AgentResult, "status"> & Partial<Pick<AgentResult, "answer" | "output" | "error">>;
}

function endOf(end: BrainEnd, memory: AgentMemory): Ended {
  if (end.status !== "finished") return { move: "give_up", result: { status: end.status } };
  const answer = memory.answer ?? { text: "", status: "success" };
  const typed = end.output === undefined ? {} : { output: end.output };
  if (answer.status === "success") return { move: "finish", result: { status: "finished", answer: answer.text, ...typed } };
  return { move: "finish", result: { status: "failed", answer: answer.text, error: gaveUp(answer.text) } };
}

/** An interruption leaves an agent that can go on; whatever else is thrown is an error. */
function failed(thrown: unknown, signal: AbortSignal | undefined): Ended {
  const error =
    thrown instanceof Error ? thrown : new TroupeError("THROWN", `A value that is not an Error was thrown: ${thrownText(thrown)}`);
  if (error instanceof BudgetError) return { move: "give_up", result: { status: "budget", error } };
  if (error instanceof TokenLimitError) return { move: "give_up", result: { status: "tokens", error } };
  if (error instanceof ControlError || signal?.aborted === true) return { move: "give_up", result: { status: "stopped", error } };
  return { move: "fail", result: { status: "failed", error } };
}

function gaveUp(why: string): Error {
  return new ModelError("AGENT_GAVE_UP", `The agent says that it cannot do the task: ${why === "" ? "it does not say why" : why}`);
}

function alreadyRunning(name: string): UsageError {
  return new UsageError(
    "AGENT_RUNNING",
    `Expected the agent ${name} to have ended its run before the next one, but it still runs. Await the result of its run, or make another agent.`,
  );
}

/** Callers without types leave parts out, or write others in their place. */
function checkParts(options: unknown): void {
  if (typeof options !== "object" || options === null) throw invalid("the parts of an agent, new Agent({ name, model, ... })", options);
  const { name, net, toolChoice } = options as { readonly name?: unknown; readonly net?: unknown; readonly toolChoice?: unknown };
  if (typeof name !== "string" || name.trim() === "") throw invalid("an agent to have a name", name);
  if (net !== undefined && !(net instanceof Net)) throw invalid(`the net of the agent ${name} to be one, such as react()`, net);
  if (toolChoice !== undefined) checkChoiceForm(toolChoice);
}

function invalid(expected: string, got: unknown): UsageError {
  return new UsageError("AGENT_INVALID", `Expected ${expected}, got ${valueText(got)}.`);
}

/** What of an agent is its brain's. */
function thinking({
  description: _description,
  tools: _tools,
  memory: _memory,
  terminate: _terminate,
  ...brain
}: AgentOptions): BrainOptions {
  return brain;
}

function checkOptions(options: AgentOptions): void {
  const { memory, tools, permissions = {}, output } = options;
  if (output !== undefined) outputSchema(output);
  checkBrainLimits(options);
  checkPolicy(permissions);
  checkModel(options);
  if (memory === undefined || memory instanceof ChatMemory || tools === undefined) return;
  throw new UsageError(
    "AGENT_INVALID",
    "Expected either tools or a memory of agents, which has its own, got both. Give the memory the tools.",
  );
}

/** Callers without types forget it. */
function checkModel({ name, model }: { readonly name: string; readonly model?: Partial<ChatModel> }): void {
  if (typeof model?.chat === "function") return;
  throw new UsageError("AGENT_INVALID", `Expected a model for the agent ${name}, got ${valueText(model)}. Give one, for example openai().`);
}

/** A list of the agent's own with two of one name refused, where no collection is given: what is given may be read only once. */
function ownTools(tools: AgentOptions["tools"]): Pick<AgentOptions, "tools"> {
  if (tools === undefined || tools instanceof ToolCollection) return {};
  return { tools: [...new ToolCollection(tools)] };
}

function memoryOf({ memory, tools = [], terminate: ends = true }: AgentOptions): AgentMemory {
  if (memory !== undefined && !(memory instanceof ChatMemory)) return memory;
  const own = tools instanceof ToolCollection ? tools : new ToolCollection(tools);
  return new MessagesMemory({ tools: ends ? new EndableTools(own) : own, ...(memory === undefined ? {} : { messages: memory }) });
}
