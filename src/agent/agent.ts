import type { z } from "zod";
import { zodOf } from "../model/standard-schema.ts";
import { aText, orNothing, readable, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { throwIfAborted, untilAborted, type StopSignal, stopSignal } from "../kernel/abort.ts";
import type { RunContext } from "../kernel/deps.ts";
import { BudgetError, ControlError, ModelError, TroupeError, UsageError } from "../kernel/errors.ts";
import { checkModel } from "../kernel/foreign-models.ts";
import { guardResult } from "../kernel/run-handle.ts";
import { defined, isRecord } from "../kernel/value-kind.ts";
import { thrownText, valueText } from "../kernel/value-text.ts";
import { ChatMemory } from "../memory/chat-memory.ts";
import type { MessageFile } from "../message/file.ts";
import { messageFiles } from "../message/given-files.ts";
import type { MessageFields } from "../message/message.ts";
import type { ImagePart } from "../model/chat-message.ts";
import { partsOf } from "../model/file-parts.ts";
import { outputSchema } from "../model/json-schema.ts";
import type { Tool } from "../tool/tool.ts";
import { ToolCollection } from "../tool/tool-collection.ts";
import type { AgentConversationOptions, Conversation } from "../team/agent-conversation.ts";
import { type AgentMemory, closeAllCalls } from "./agent-memory.ts";
import { brainOptions, type BrainOptions, checkBrainLimits } from "./brain-options.ts";
import { Brain, type BrainEnd, type BrainRun } from "./brain.ts";
import { type AgentEvent, agentEventKinds, type AgentResult, agentResultMembers, EventLog } from "./events.ts";
import { type AgentMove, type AgentState, Lifecycle } from "./lifecycle.ts";
import { MessagesMemory } from "./messages-memory.ts";
import { Net } from "./net.ts";
import { RunTally, TokenLimitError } from "./run-tally.ts";
import { EndableTools } from "./terminate-tool.ts";

/** Options of an agent. */
export interface AgentOptions<O = unknown> extends BrainOptions<O> {
  readonly name: string;
  readonly description?: string;
  /** A change of a collection takes effect at the next step. */
  readonly tools?: ToolCollection | Iterable<Tool>;
  /** Keeps the conversation from run to run. Default: in this process. An `AgentMemory` brings its own tools, so do not pass `tools` as well. */
  readonly memory?: AgentMemory | ChatMemory;
  /** Adds the tool `terminate`, but not to a memory's own tools or a tool of that name. Default true. */
  readonly terminate?: boolean;
}

const agentOptions: Known<AgentOptions> = {
  ...brainOptions,
  ...kinds.each(kinds.text, "name", "description"),
  tools: kinds.iterable("tools"),
  memory: kinds.object,
  terminate: kinds.boolean,
};

/** Options of one run of an agent. */
export interface AgentRunOptions {
  /** Stops the run. */
  readonly signal?: AbortSignal;
  /** Values for the tools of this run: see {@link RunContext}. Default: none. */
  readonly context?: RunContext;
  /** The files of the task, which the model reads: as those of a message. Default: none. */
  readonly files?: MessageFields["files"];
}

const runOptions: Known<AgentRunOptions> = { signal: kinds.signal, context: kinds.object, files: kinds.checked };

/** The events of a run. Every reader gets all of them from the start, except text and progress pieces, which late readers miss. */
export interface AgentRun<O = unknown> extends AsyncIterable<AgentEvent> {
  /** Never rejects. */
  readonly result: Promise<AgentResult<O>>;
  /**
   * Ends the run with status `stopped`. The conversation stays, and `run()` without a task continues. With the option `steps` of a role, a
   * call in flight suspends the activation of the role: its team's run ends as `stopped`, too.
   */
  stop(reason?: string): void;
}

/**
 * A session of a net over a memory. It owns its lifecycle and its memory; a {@link Brain} drives the net.
 *
 * `Agent.A1` one run at a time (`run`). `Agent.A2` a run always ends with a result, never with a rejection (`#live`). `Agent.A3` the
 * conversation stays in the memory, so the next run continues it (`memory`). `Agent.A4` an agent that has not run holds its options and
 * nothing else (`memory`, `#live`).
 * @example
 * import { Agent } from "troupe/agents";
 * import { scriptedModel } from "troupe/testing";
 *
 * const agent = new Agent({ name: "guide", model: scriptedModel(["Take a coat."]) });
 * const { status, answer } = await agent.run("Do I need a coat in Oslo?").result;
 * console.log(status, answer); // finished Take a coat.
 */
export class Agent<O = unknown> {
  readonly name: string;
  readonly description: string;
  readonly #options: AgentOptions;
  readonly #life = new Lifecycle();
  #memory: AgentMemory | undefined;
  #files: Map<string, MessageFile> | undefined;
  #brain: Brain | undefined;

  /**
   * @throws UsageError `AGENT_INVALID`, `TOOL_INVALID`, `TOOL_CHOICE_INVALID`, `PERMISSION_INVALID`, `TOOL_DUPLICATE`, `SCHEMA_UNSUPPORTED`
   */
  constructor(options: AgentOptions<O>) {
    takes("new Agent", "options", options, readable);
    checkParts(options);
    checkKnownOptions("new Agent", options, agentOptions);
    checkOptions(options);
    const { name, description = "", tools } = options;
    this.name = name;
    this.description = description;
    // An iterable may be read only once.
    const isList = tools !== undefined && !(tools instanceof ToolCollection);
    this.#options = { ...options, ...(isList ? { tools: [...new ToolCollection(tools)] } : {}) };
  }

  get state(): AgentState {
    return this.#life.state;
  }

  get steps(): number {
    return this.#life.steps;
  }

  get memory(): AgentMemory {
    this.#memory ??= memoryOf(this.#options);
    return this.#memory;
  }

  /** The memory stays. @throws UsageError `AGENT_TRANSITION` while it runs */
  reset(): void {
    this.#life.move("reset");
  }

  /**
   * Works on a task until it has an answer; without a task it continues with the one it has. It begins at once and does not wait for
   * readers of its events. Inside a role pass the role's signal: another one would suspend the whole activation.
   *
   * @throws UsageError `AGENT_RUNNING` while it runs; `FILE_INVALID`, `FILE_TOO_LARGE`
   */
  run(task?: string, o: AgentRunOptions = {}): AgentRun<O> {
    takes("run of an agent", "task", task, orNothing(aText));
    checkKnownOptions("run of an agent", o, runOptions);
    if (this.#life.state === "RUNNING") {
      const expected = `Expected the agent ${this.name} to have ended its run before the next one, but it still runs`;
      throw new UsageError("AGENT_RUNNING", `${expected}. Await the result of its run, or make another agent.`);
    }
    const files = o.files === undefined ? undefined : messageFiles(o.files);
    for (const file of files ?? []) (this.#files ??= new Map()).set(file.hash, file);
    if (this.#life.state !== "IDLE") this.#life.move("reset");
    const log = new EventLog(agentEventKinds);
    const ending = stopSignal(o.signal);
    const images = files && partsOf([{ files }]);
    const result = this.#live(task, ending, { log, context: o.context, images });
    return guardResult({ result, stop: ending.stop, [Symbol.asyncIterator]: () => log.read() }, "agent.run(task)", agentResultMembers);
  }

  async #live(task: string | undefined, { signal, end }: StopSignal, { log, context, images }: LiveParts): Promise<AgentResult<O>> {
    this.#move("start", log);
    let run: BrainRun | undefined;
    let ended: Ended;
    const { description: _d, tools: _t, memory: _m, terminate: _e, ...brain } = this.#options;
    this.#brain ??= new Brain(brain);
    const inner = this.#brain.innerRun(task === undefined ? {} : { task })?.begin();
    try {
      throwIfAborted(signal);
      const tell = (event: AgentEvent): void => {
        if (event.type === "step.started") this.#move("step", log);
        log.add(event);
      };
      run = this.#brain.work(this.memory, { tell, signal, ...defined({ context, files: this.#files }) }, inner);
      if (task !== undefined) await this.#begin(await untilAborted(run.judgedTask(task), signal), images, signal);
      ended = endOf(await run.through((text) => tell({ type: "text", step: this.#life.steps, text })), this.memory);
    } catch (error) {
      ended = failed((await inner?.interruption()) ?? error, signal);
    }
    end();
    this.#move(ended.move, log);
    const { usage, cost, byModel } = run?.tally ?? new RunTally();
    const denied = run?.denied() ?? [];
    const result: AgentResult<O> = {
      answer: "",
      ...(ended.result as Pick<AgentResult<O>, "status" | "output">),
      steps: this.#life.steps,
      usage,
      cost,
      byModel,
      denied,
    };
    log.add({ type: "run.ended", result });
    log.end();
    return result;
  }

  /** Returns an agent of the same options that remembers nothing. @throws UsageError `AGENT_INVALID` for one whose memory brings its tools @internal */
  anew(defaults: Pick<AgentOptions<O>, "ask" | "approve"> = {}): Agent<O> {
    const { memory, ...options } = this.#options;
    if (memory === undefined || memory instanceof ChatMemory) return new Agent<O>({ ...defaults, ...options } as AgentOptions<O>);
    throw invalid(`the agent ${this.name} to have tools, so that each task begins anew`, "a memory with its own tools");
  }

  /**
   * Returns the conversation of that id with this agent, kept by a journal over restarts: each answer of its model and each call of a tool is recorded, and
   * paid once. What this agent has in its memory is no part of it. A question for a permission waits if the agent has neither `approve` nor `ask`.
   *
   * @throws UsageError `AGENT_INVALID` with an own memory; `OPTION_INVALID`
   */
  async conversation(id: string, o: AgentConversationOptions): Promise<Conversation> {
    // Loaded here because most agents work without a journal.
    const { conversationWith } = await import("../team/agent-conversation.ts");
    return conversationWith(this, this.#options, id, o);
  }

  #move(name: AgentMove, log: EventLog<AgentEvent>): void {
    this.#life.move(name, (move, from, to) => {
      if (move !== "step") log.add({ type: "state.changed", from, to, move });
    });
  }

  async #begin(task: string, images: LiveParts["images"], signal: AbortSignal): Promise<void> {
    await untilAborted(closeAllCalls(this.memory), signal);
    await untilAborted(this.memory.setGoal(task, images), signal);
  }
}

interface LiveParts {
  readonly log: EventLog<AgentEvent>;
  readonly context: RunContext | undefined;
  readonly images: readonly ImagePart[] | undefined;
}

interface Ended {
  readonly move: "finish" | "fail" | "give_up";
  readonly result: Pick<AgentResult, "status"> & Partial<Pick<AgentResult, "answer" | "output" | "error">>;
}

function endOf({ status, output }: BrainEnd, memory: AgentMemory): Ended {
  if (status !== "finished") return { move: "give_up", result: { status } };
  const answer = memory.answer ?? { text: "", status: "success" };
  const typed = output === undefined ? {} : { output };
  if (answer.status === "success") return { move: "finish", result: { status: "finished", answer: answer.text, ...typed } };
  const why = answer.text === "" ? "it does not say why" : answer.text;
  const error = new ModelError("AGENT_GAVE_UP", `The agent says that it cannot do the task: ${why}`);
  return { move: "finish", result: { status: "failed", answer: answer.text, error } };
}

/** An interruption leaves an agent that can continue; any other error does not. */
function failed(thrown: unknown, signal: AbortSignal): Ended {
  const error =
    thrown instanceof Error ? thrown : new TroupeError("THROWN", `A value that is not an Error was thrown: ${thrownText(thrown)}`);
  const { code } = error as Partial<TroupeError>;
  if (error instanceof BudgetError || code === "BUDGET") return { move: "give_up", result: { status: "budget", error } };
  if (error instanceof TokenLimitError) return { move: "give_up", result: { status: "tokens", error } };
  if (error instanceof ControlError || code === "ABORTED" || signal.aborted)
    return { move: "give_up", result: { status: "stopped", error } };
  return { move: "fail", result: { status: "failed", error } };
}

function checkParts(options: unknown): void {
  if (!isRecord(options)) throw invalid("the parts of an agent, new Agent({ name, model, ... })", options);
  const { name, net } = options;
  if (typeof name !== "string" || name.trim() === "") throw invalid("an agent to have a name", name);
  if (net !== undefined && !(net instanceof Net)) throw invalid(`the net of the agent ${name} to be one, such as react()`, net);
}

function checkOptions(options: AgentOptions): void {
  const { name, model, memory, tools, output } = options;
  if (output !== undefined) outputSchema(zodOf(output) as z.ZodType);
  checkBrainLimits(options);
  checkModel("AGENT_INVALID", `the model of the agent ${name}`, model);
  if (memory === undefined || memory instanceof ChatMemory || tools === undefined) return;
  throw new UsageError(
    "AGENT_INVALID",
    "Expected either tools or a memory of agents, which has its own, got both. Give the memory the tools.",
  );
}

function invalid(expected: string, got: unknown): UsageError {
  return new UsageError("AGENT_INVALID", `Expected ${expected}, got ${valueText(got)}.`);
}

function memoryOf({ memory, tools = [], terminate: canEnd = true }: AgentOptions): AgentMemory {
  if (memory !== undefined && !(memory instanceof ChatMemory)) return memory;
  const own = tools instanceof ToolCollection ? tools : new ToolCollection(tools);
  return new MessagesMemory({ tools: canEnd ? new EndableTools(own) : own, ...(memory === undefined ? {} : { messages: memory }) });
}
