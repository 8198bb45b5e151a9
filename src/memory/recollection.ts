import type { Logger } from "../kernel/emit.ts";
import { ContextClosedError, ControlError, errorRecord, UsageError } from "../kernel/errors.ts";
import { contentHash } from "../kernel/json.ts";
import type { Mask } from "../kernel/mask.ts";
import type { StepDoor, StepPort } from "../kernel/step.ts";
import type { Message } from "../message/message.ts";
import type { CallPolicy } from "../model/call.ts";
import type { ChatMessage } from "../model/chat-message.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { KeptMemory } from "./kept-memory.ts";
import { KeyTurns } from "./cache.ts";
import type { ReadableMemory } from "./message-memory.ts";
import { meteredEmbedder } from "./metered-embedder.ts";
import { nextSummary, type RoleSummary } from "./summary-levels.ts";
import {
  type Fitting,
  RECALL_FRAME,
  type RecalledMessage,
  recallMessages,
  recentWindow,
  type RecentWindow,
  relatedWithin,
  summaryWindow,
} from "./recall-window.ts";
import type { RoleMemoryParts } from "./role-memory.ts";
import { beginningOf } from "./text-terms.ts";

export interface RecollectionParts {
  readonly role: string;
  readonly options: RoleMemoryParts;
  readonly kept: KeptMemory;
  /** Masks secrets before a string is cut: a part of a secret could not be recognized later. */
  readonly mask: Mask;
  readonly memory: ReadableMemory;
  /** The news of the activation. They are part of the question, so they are not recalled. */
  readonly news: () => readonly Message[];
  readonly summary: RoleSummary;
  readonly steps: StepPort;
  readonly model: (other: ChatModel | undefined) => ChatModel;
  readonly policy: CallPolicy;
  /** Limit on the milliseconds for the embedder, so that the activation has time left. */
  readonly longest: number;
  readonly logger: Pick<Logger, "warn">;
  readonly signal: AbortSignal;
}

/** The recorded result of one recall. */
export interface Recalled {
  readonly maxTokens: number;
  readonly summary: { readonly tokens: number };
  /** Oldest first. */
  readonly recent: { readonly tokens: number; readonly ids: readonly string[] };
  /** Newer before older. */
  readonly related: { readonly tokens: number; readonly messages: readonly RecalledMessage[] };
  /** The error of the search for related messages. */
  readonly failed?: { readonly code: string; readonly message: string };
}

/** Limit on the characters of a question. */
const MAX_QUERY = 20_000;
/** Limit on the ids of summarized messages. The newest one that the memory still holds marks the end of the summary. */
const MAX_COVERED = 100;

/**
 * Recalls messages for the questions of one activation. Owns the uncommitted summary.
 *
 * Recollection.C1 (`#recorded`) a recall is one recorded step, so a resumed run, a replay and a fork recall the same. Recollection.C2 (`memoryLine`)
 * requests and step addresses contain senders, contents, and the recorded time of messages of other runs. Recollection.C3 (`#recall`) the
 * recalled lines stay within the budget. Recollection.C4 (`#sumUp`) messages that are neither news nor summarized fit the recent messages; when
 * the model fails it is asked again with twice as many. Recollection.C5 (`#related`) a failing memory is logged and recalls nothing.
 * Recollection.C6 (`recall`) recalls of one activation run one after another.
 */
export class Recollection {
  readonly #parts: RecollectionParts;
  readonly #recalled = new Map<string, Promise<Recalled>>();
  #summary: RoleSummary;
  readonly #turns = new KeyTurns();
  #isSummaryBroken = false;

  constructor(parts: RecollectionParts) {
    this.#parts = parts;
    this.#summary = parts.summary;
  }

  get newSummary(): RoleSummary | undefined {
    return this.#summary === this.#parts.summary ? undefined : this.#summary;
  }

  /** Returns recalled messages that precede a question. @param query what to search for; default: the news */
  recall(query: string = textsOf(this.#parts.news()).join("\n\n")): Promise<readonly ChatMessage[]> {
    return this.#turns.take("", () => this.#recall(query));
  }

  async #recall(query: string): Promise<readonly ChatMessage[]> {
    const { options, memory, news, mask } = this.#parts;
    const { shares, tokens } = options;
    const maxTokens = options.maxTokens - (await tokens.count(RECALL_FRAME));
    if (maxTokens <= 0) return [];
    const ofNews = new Set(news().map(({ id }) => id));
    const [forSummary, forRecent] = [Math.floor(maxTokens * shares.summary), Math.floor(maxTokens * shares.recent)];
    if (options.summary !== undefined) await this.#sumUp(ofNews, forRecent);
    const messages = memory.get();
    const summary = await summaryWindow(this.#summary, forSummary, tokens);
    const recent = await recentWindow(messages, ofNews, forSummary + forRecent - summary.tokens, { ...options, mask });
    const left = Math.floor(maxTokens * Math.min(1, shares.summary + shares.recent + shares.related)) - summary.tokens - recent.tokens;
    const { related } = await this.#recorded({ query, messages, summary, recent, left: shares.related === 0 ? 0 : left, ofNews });
    return recallMessages({ summary: summary.texts, related: related.messages, recent: recent.texts });
  }

  /** Summarizes the oldest messages until the rest fits. Messages from the first news on are not summarized yet. */
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
        const covered = [...this.#summary.covered, ...next.covers.map(({ id }) => id)].slice(-MAX_COVERED);
        const { waits: _waits, ...summed } = this.#summary;
        this.#summary = { ...next.change(summed), covered };
      }
    } catch (error) {
      if (isFailing(error)) throw error;
      this.#isSummaryBroken = true;
      const isReported = this.#summary.waits !== undefined;
      this.#summary = { ...this.#summary, waits: Math.max(1, 2 * waiting) };
      if (!isReported)
        logger.warn(`${role} could not summarize what it remembers, and continues without a new summary: ${errorRecord(error).message}`);
    }
  }

  #uncovered(ofNews: ReadonlySet<string>): readonly Message[] {
    const covered = new Set(this.#summary.covered);
    const messages = this.#parts.memory.get();
    const uncovered = messages.slice(messages.findLastIndex(({ id }) => covered.has(id)) + 1);
    const firstNews = uncovered.findIndex(({ id }) => ofNews.has(id));
    return firstNews === -1 ? uncovered : uncovered.slice(0, firstNews);
  }

  /** The same question with the same memory is one recall. */
  async #recorded(question: RelatedQuestion): Promise<Recalled> {
    const { options, mask, steps, logger, role } = this.#parts;
    const { query, messages, left, summary, recent } = question;
    const request = {
      query: beginningOf(mask(query), options.embedder?.maxChars ?? MAX_QUERY).trim(),
      embedder: options.embedder?.id ?? null,
      k: options.k,
      neighbours: options.neighbours,
      threshold: options.threshold ?? null,
      maxTokens: left,
      // Memories with the same contents are equal to a model, whatever their ids.
      beside: contentHash([summary.texts, recent.texts]).slice(0, 32),
      // The result depends on the whole memory: a fork with a changed past must not reuse the recall of its parent.
      among: left > 0 ? options.digest.of(messages) : null,
    };
    const address = contentHash(request);
    const known = this.#recalled.get(address);
    if (known !== undefined) return known;
    const recalled = steps.step({ kind: "memory", name: "recall", request }, (step) => this.#related(question, request.query, step));
    this.#recalled.set(address, recalled);
    const { failed } = await recalled;
    if (failed !== undefined) logger.warn(`${role} could not search its memory, and continues without it: ${failed.message}`);
    return recalled;
  }

  async #related({ summary, recent, left, ofNews }: RelatedQuestion, query: string, step: StepDoor): Promise<Recalled> {
    const { options, kept, policy } = this.#parts;
    const rest = {
      maxTokens: options.maxTokens,
      summary: { tokens: summary.tokens },
      recent: { tokens: recent.tokens, ids: recent.messages.map(({ id }) => id) },
    };
    const none = { tokens: 0, messages: [] };
    if (left <= 0 || options.k === 0 || query === "") return { ...rest, related: none };
    const until = policy.clock.now() + Math.min(options.timeout, this.#parts.longest);
    const embedder = options.embedder === undefined ? undefined : meteredEmbedder(options.embedder, { steps: step, policy, until });
    const besides = new Set([...ofNews, ...rest.recent.ids]);
    const known = textsOf(recent.messages);
    const asked = [query, ...textsOf(this.#parts.news())];
    try {
      const hits = await kept.search(query, { asked, besides, known, embedder, signal: step.signal });
      return { ...rest, related: await relatedWithin(hits, left, options.tokens) };
    } catch (error) {
      if (isFailing(error)) throw error;
      const { code, message } = errorRecord(error);
      return { ...rest, related: none, failed: { code, message } };
    }
  }
}

interface RelatedQuestion {
  readonly query: string;
  readonly messages: readonly Message[];
  readonly summary: Fitting;
  readonly recent: RecentWindow;
  /** Tokens for related messages. */
  readonly left: number;
  readonly ofNews: ReadonlySet<string>;
}

function textsOf(messages: readonly Message[]): string[] {
  return messages.map(({ content }) => content);
}

/** Interruptions and usage errors fail the activation. */
function isFailing(error: unknown): boolean {
  return error instanceof ControlError || error instanceof ContextClosedError || error instanceof UsageError;
}
