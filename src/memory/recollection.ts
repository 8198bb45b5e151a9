import type { Logger } from "../kernel/emit.ts";
import { ContextClosedError, ControlError, errorRecord, UsageError } from "../kernel/errors.ts";
import { contentHash } from "../kernel/json.ts";
import type { Mask } from "../kernel/mask.ts";
import type { StepDoor, StepPort } from "../kernel/step.ts";
import type { Message } from "../message/message.ts";
import type { CallPolicy } from "../model/call.ts";
import type { ChatMessage } from "../model/chat-message.ts";
import type { ChatModel } from "../model/chat-model.ts";
import { embeddable } from "./embedder.ts";
import type { KeptMemory } from "./kept-memory.ts";
import type { ReadableMemory } from "./message-memory.ts";
import { meteredEmbedder } from "./metered-embedder.ts";
import { nextSummary } from "./next-summary.ts";
import {
  type Fitting,
  RECALL_FRAME,
  type RecalledMessage,
  recallMessages,
  recentWindow,
  type RecentWindow,
  relatedLine,
  relatedWithin,
  summaryWindow,
} from "./recall-window.ts";
import type { RoleMemoryParts } from "./role-memory.ts";
import type { RoleSummary } from "./summary-levels.ts";

/** What recalls on behalf of one activation. */
export interface RecollectionParts {
  readonly role: string;
  readonly options: RoleMemoryParts;
  readonly kept: KeptMemory;
  /** For what is cut before it is recorded: of a secret that is cut, nobody would know the rest again. */
  readonly mask: Mask;
  readonly memory: ReadableMemory;
  /** What the activation is about: it is in the question, so it is not recalled. */
  readonly news: () => readonly Message[];
  readonly summary: RoleSummary;
  readonly steps: StepPort;
  /** The role's own model through that door; asked for when there is something to sum up. */
  readonly model: (other: ChatModel | undefined) => ChatModel;
  readonly policy: CallPolicy;
  /** Milliseconds that an embedder may take at most, so that the activation has time left without it. */
  readonly longest: number;
  readonly logger: Pick<Logger, "warn">;
  readonly signal: AbortSignal;
}

/** What one recall chose: the recorded result of its step. */
export interface Recalled {
  readonly maxTokens: number;
  readonly summary: { readonly tokens: number };
  /** Oldest first. */
  readonly recent: { readonly tokens: number; readonly ids: readonly string[] };
  /** Newer before older. */
  readonly related: { readonly tokens: number; readonly messages: readonly RecalledMessage[] };
  /** Why nothing related could be looked for. */
  readonly failed?: { readonly code: string; readonly message: string };
}

/** Characters of a question that words are taken from. */
const MOST_WORDS = 20_000;
/** Ids of summed-up messages that are remembered: the newest of them that is still there says how far the summary goes. */
const MOST_COVERED = 100;

/**
 * What a role remembers in one activation, for each question it asks. It owns the summary that the activation has not committed; memory and
 * news are the activation's, what outlives the run is the kept memory's.
 *
 * C1 a recall is one recorded step, and what it gives is that step's result: a run that goes on, a replay and a fork recall the same. C2
 * nothing but senders and words reaches a request or the address of a step, and of a message of another run the time that is recorded with it. C3 what is recalled stays within the budget; what one part
 * leaves, the next one may use: summary, recent, related. C4 what is neither in the news nor summed up fits the recent messages, as long
 * as the model makes its summaries; one that fails is asked again when twice as much waits for it, which is part of the role's state, and is
 * told once. C5 a memory that fails costs a role what it would have recalled, and is told; it does not cost the
 * activation. Interruptions do. C6 recalls of one activation happen one after another, in the order asked.
 */
export class Recollection {
  readonly #parts: RecollectionParts;
  readonly #recalled = new Map<string, Promise<Recalled>>();
  #summary: RoleSummary;
  #turn: Promise<unknown> = Promise.resolve();
  #isSummaryBroken = false;

  constructor(parts: RecollectionParts) {
    this.#parts = parts;
    this.#summary = parts.summary;
  }

  /** What the role's memory is summed up to now, if that is more than it was. */
  get newSummary(): RoleSummary | undefined {
    return this.#summary === this.#parts.summary ? undefined : this.#summary;
  }

  /** What is remembered for a question, as messages that stand before it. @param query what to look for; default: the news */
  recall(query: string = this.#newsText()): Promise<readonly ChatMessage[]> {
    const turn = this.#turn.then(() => this.#recall(query));
    // Who asked is told; the next one recalls all the same.
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #recall(query: string): Promise<readonly ChatMessage[]> {
    const { options, memory, news, mask } = this.#parts;
    const { shares, tokens } = options;
    const maxTokens = options.maxTokens - (await tokens.count(RECALL_FRAME));
    if (maxTokens <= 0) return [];
    const ofNews = new Set(news().map(({ id }) => id));
    const [forSummary, forRecent] = [Math.floor(maxTokens * shares.summary), Math.floor(maxTokens * shares.recent)];
    if (options.summary !== undefined) await this.#sumUp(ofNews, forRecent);
    const summary = await summaryWindow(this.#summary, forSummary, tokens);
    const recent = await recentWindow(memory, ofNews, forSummary + forRecent - summary.tokens, { ...options, mask });
    const left = Math.floor(maxTokens * Math.min(1, shares.summary + shares.recent + shares.related)) - summary.tokens - recent.tokens;
    const recalled = await this.#once({ query, summary, recent, left: shares.related === 0 ? 0 : left, ofNews });
    const related = recalled.related.messages.map(({ at, from, text }) => relatedLine({ at, sentFrom: from, content: text }));
    return recallMessages({ summary: summary.texts, related, recent: recent.texts });
  }

  /** Sums up the oldest messages while all that are not summed up do not fit. Those from the first news on wait until they are old. */
  async #sumUp(ofNews: ReadonlySet<string>, maxTokens: number): Promise<void> {
    const { options, model, signal, logger, role } = this.#parts;
    if (this.#isSummaryBroken) return;
    const ask = async (messages: readonly ChatMessage[]): Promise<string> => {
      const asked = model(options.summary?.model);
      return (await asked.chat({ messages }, { signal })).content;
    };
    const limits = { maxMessages: Infinity, maxTokens: Math.max(1, maxTokens) };
    let waiting = 0;
    try {
      for (;;) {
        const history = this.#uncovered(ofNews);
        waiting = history.length;
        if (waiting < (this.#summary.waits ?? 0)) return;
        const next = await nextSummary({ levels: this.#summary, history, sizes: options.sizes, limits, ask, isTimeless: true });
        if (next === undefined) return;
        const covered = [...this.#summary.covered, ...next.covers.map(({ id }) => id)].slice(-MOST_COVERED);
        const { waits: _waits, ...summed } = this.#summary;
        this.#summary = { ...next.change(summed), covered };
      }
    } catch (error) {
      if (isNotToBeHeld(error)) throw error;
      this.#isSummaryBroken = true;
      const isTold = this.#summary.waits !== undefined;
      this.#summary = { ...this.#summary, waits: Math.max(1, 2 * waiting) };
      if (!isTold) logger.warn(`${role} could not sum up what it remembers, and goes on without: ${errorRecord(error).message}`);
    }
  }

  /** What was said before the news and is not summed up, oldest first. */
  #uncovered(ofNews: ReadonlySet<string>): readonly Message[] {
    const covered = new Set(this.#summary.covered);
    const found: Message[] = [];
    for (const message of this.#parts.memory.newestFirst()) {
      if (covered.has(message.id)) break;
      if (ofNews.has(message.id)) found.length = 0;
      else found.push(message);
    }
    return found.reverse();
  }

  /** The same question beside the same memory is one recall, however often it is asked. */
  #once(question: RelatedQuestion): Promise<Recalled> {
    const { options, memory, mask } = this.#parts;
    const { query, left, summary, recent } = question;
    const request = {
      query: embeddable(options.embedder ?? { maxChars: MOST_WORDS }, mask(query)),
      embedder: options.embedder?.id ?? null,
      k: options.k,
      neighbours: options.neighbours,
      threshold: options.threshold ?? null,
      hybrid: options.lexical !== undefined,
      maxTokens: left,
      // Two memories that read alike are the same to a model, whatever the ids of their messages.
      beside: contentHash([summary.texts, recent.texts]).slice(0, 32),
      // What is found depends on all of it: a fork whose past was changed must not recall what its parent did.
      among: left > 0 ? options.digest.of(memory) : null,
    };
    const address = contentHash(request);
    const known = this.#recalled.get(address);
    if (known !== undefined) return known;
    const spec = { kind: "memory", name: "recall", request };
    const recalled = this.#parts.steps
      .step(spec, (door) => this.#related(question, request.query, door))
      .then((value) => {
        if (value.failed !== undefined) this.#tellFailed(value.failed.message);
        return value;
      });
    this.#recalled.set(address, recalled);
    return recalled;
  }

  async #related({ summary, recent, left, ofNews }: RelatedQuestion, query: string, door: StepDoor): Promise<Recalled> {
    const { options, kept, policy } = this.#parts;
    const rest = {
      maxTokens: options.maxTokens,
      summary: { tokens: summary.tokens },
      recent: { tokens: recent.tokens, ids: recent.messages.map(({ id }) => id) },
    };
    const none = { tokens: 0, messages: [] };
    if (left <= 0 || options.k === 0 || query === "") return { ...rest, related: none };
    const until = policy.clock.now() + Math.min(options.timeout, this.#parts.longest);
    const embedder = options.embedder === undefined ? undefined : meteredEmbedder(options.embedder, { steps: door, policy, until });
    const besides = new Set([...ofNews, ...rest.recent.ids]);
    const known = recent.messages.map(({ content }) => content);
    const asked = [query, ...this.#parts.news().map(({ content }) => content)];
    try {
      const hits = await kept.search(query, { asked, besides, known, embedder, signal: door.signal });
      return { ...rest, related: await relatedWithin(hits, left, options.tokens) };
    } catch (error) {
      if (isNotToBeHeld(error)) throw error;
      const { code, message } = errorRecord(error);
      return { ...rest, related: none, failed: { code, message } };
    }
  }

  #tellFailed(why: string): void {
    this.#parts.logger.warn(`${this.#parts.role} could not look into its memory, and goes on without: ${why}`);
  }

  #newsText(): string {
    return this.#parts
      .news()
      .map(({ content }) => content)
      .join("\n\n");
  }
}

interface RelatedQuestion {
  readonly query: string;
  readonly summary: Fitting;
  readonly recent: RecentWindow;
  /** Tokens for what is related. */
  readonly left: number;
  readonly ofNews: ReadonlySet<string>;
}

/** Interruptions, and what can never work, are for whoever runs the role. */
function isNotToBeHeld(error: unknown): boolean {
  return error instanceof ControlError || error instanceof ContextClosedError || error instanceof UsageError;
}
