import type { Deps } from "../kernel/deps.ts";
import { lazyMembers } from "../kernel/lazy-members.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { ToolContext } from "./tool.ts";

/** What is made when a tool asks for it. */
export interface LateReads {
  readonly signal: () => AbortSignal;
  readonly key: () => string;
  readonly model: () => ChatModel | undefined;
}

/** What a tool is given for one call, frozen. Most tools ask for none of what is made late. */
export class CallContext implements ToolContext {
  declare readonly signal: AbortSignal;
  declare readonly key: string;
  declare readonly model: ChatModel | undefined;
  declare readonly ask?: (question: string) => Promise<string>;
  declare readonly session?: object;
  declare readonly deps?: Deps;
  readonly mode: ToolContext["mode"];
  readonly step: ToolContext["step"];
  readonly clock: ToolContext["clock"];
  readonly progress: ToolContext["progress"];
  readonly #late: LateReads;

  static readonly #withLazy = lazyMembers<CallContext>({
    signal: (context) => context.#late.signal(),
    key: (context) => context.#late.key(),
    model: (context) => context.#late.model(),
  });

  constructor({ mode, step, clock, progress, ask, session, deps }: Omit<ToolContext, keyof LateReads>, late: LateReads) {
    this.#late = late;
    CallContext.#withLazy(this);
    this.mode = mode;
    this.step = step;
    this.clock = clock;
    this.progress = progress;
    if (ask !== undefined) this.ask = ask;
    if (session !== undefined) this.session = session;
    if (deps !== undefined) this.deps = deps;
    Object.freeze(this);
  }
}
