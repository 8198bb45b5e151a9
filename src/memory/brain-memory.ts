import { aText, takes } from "../kernel/argument.ts";
import { checkGivenOptions, type Known, checkKnownOptions } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { untilAborted } from "../kernel/abort.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Message } from "../message/message.ts";
import type { ChatModel } from "../model/chat-model.ts";
import { BrainEntry, type BrainLoad, type FoundBrain } from "./brain-entry.ts";
import { BrainModel } from "./brain-model.ts";
import {
  brainJson,
  type BrainJson,
  type BrainState,
  joinedBrain,
  NO_BRAIN,
  withCovered,
  withHistory,
  withKnowledge,
  withOriginals,
  withoutMessage,
} from "./brain-state.ts";
import { type Cache, cacheKey, type CacheKeyParts, checkedTtl, DEFAULT_TTL, KeyTurns } from "./cache.ts";
import { scopedCacheKey } from "./forget.ts";
import type { MemoryScope } from "./memory-scope.ts";
import { idOf } from "./message-memory.ts";
import { splitTexts } from "./summary.ts";
import { NO_SUMMARY, type NextSummary, openQuestion, summaryText } from "./summary-levels.ts";
import { estimatedTokens, type TokenCounter } from "./tokens.ts";

/** Options of a brain memory. */
export interface BrainMemoryOptions {
  /** Writes the summaries and answers questions. Each question is one attempt: retries are the model's own. */
  readonly model: ChatModel;
  /** Stores the memory. Without a cache it ends with its process. */
  readonly cache?: Cache | undefined;
  /** The key of the entry. Required with `cache`. By a scope, such as `{ role: "Guide", user: "ann" }`, `forget` finds it. */
  readonly key?: string | CacheKeyParts | MemoryScope | undefined;
  /** A history of this many messages is summarized. Default 10. */
  readonly maxMessages?: number | undefined;
  /** A history of more tokens is summarized too. Default 4000. */
  readonly maxTokens?: number | undefined;
  /** The number of the newest messages that no summary covers, as far as they fit into `maxTokens`; fewer than `maxMessages`. Default 4. */
  readonly keepMessages?: number | undefined;
  /** The number of the newest messages under a summary that stay in `originals` and are stored with every save. Default 300. */
  readonly keepOriginals?: number | undefined;
  /** Default: an estimate, a quarter of the characters and one for each Chinese, Japanese or Korean one. */
  readonly tokens?: TokenCounter | undefined;
  /** Time to live of the stored entry in milliseconds. Default 30 minutes. */
  readonly ttl?: number | undefined;
  /** Milliseconds that one answer of the model may take. Default 10 minutes. */
  readonly timeout?: number | undefined;
  readonly clock?: Clock | undefined;
}

const brainMemoryOptions: Known<BrainMemoryOptions> = {
  model: kinds.model,
  cache: kinds.cache,
  key: kinds.either(kinds.text, kinds.object),
  maxMessages: kinds.checked,
  maxTokens: kinds.checked,
  keepMessages: kinds.checked,
  keepOriginals: kinds.count,
  tokens: kinds.tokenCounter,
  ttl: kinds.checked,
  timeout: kinds.milliseconds,
  clock: kinds.clock,
};

/** Options of one call. */
export interface BrainCallOptions {
  readonly signal?: AbortSignal | undefined;
}

const callOptions: Known<BrainCallOptions> = { signal: kinds.signal };

const TIMEOUT = 10 * 60 * 1000;
const KEPT = 4;
const ORIGINALS = 300;

/**
 * The memory of a long conversation: the newest messages word by word, a rolling summary of the older ones, and knowledge.
 *
 * Owns the content, and decides when to summarize and store it. BrainMemory.B1 (`#inTurn`) a message that is added while a model answers or a cache
 * stores is never lost. BrainMemory.B2 (`#commit`) messages leave the history only when the summary that covers them is stored; a failing model or
 * cache changes nothing. No summary covers an open question. BrainMemory.B3 (`nextSummary`) every summary is made from the older one, and no level
 * grows without limit. BrainMemory.B4 (`BrainModel`, `compress`) the same question is asked once, also by concurrent callers. BrainMemory.B5
 * (`isDirty`) the memory is dirty until its present content was stored. BrainMemory.B6 (`#merge`) an entry stored by others since `load` is never
 * overwritten: both are merged. BrainMemory.B7 (`withHistory`) messages are never changed, and none that the summary covers is
 * added again.
 *
 * @example
 * import { BrainMemory, createMessage } from "troupe";
 * import { scriptedModel } from "troupe/testing";
 *
 * const brain = new BrainMemory({ model: scriptedModel(() => "They talk about a bridge."), maxMessages: 2 });
 * for (const text of ["Stone?", "Steel!", "Wood."]) brain.addTalk(createMessage(text));
 * await brain.compress();
 * console.log(brain.history.length, brain.summary); // 1 They talk about a bridge.
 */
export class BrainMemory {
  readonly #clock: Clock;
  readonly #model: BrainModel;
  readonly #entry: BrainEntry | undefined;
  readonly #keepOriginals: number;
  #state = NO_BRAIN;
  #stored: BrainState | undefined = NO_BRAIN;
  readonly #turns = new KeyTurns();

  /** @throws UsageError `OPTION_INVALID`, `LIMIT_INVALID` or `TTL_INVALID` */
  constructor(options: BrainMemoryOptions) {
    checkGivenOptions("new BrainMemory", options, brainMemoryOptions);
    const { model, cache, key, maxMessages = 10, maxTokens = 4000, tokens = estimatedTokens, ttl = DEFAULT_TTL } = options;
    const {
      clock = systemClock,
      timeout = TIMEOUT,
      keepOriginals = ORIGINALS,
      keepMessages = Math.max(0, Math.min(KEPT, maxMessages - 1)),
    } = options;
    if (cache !== undefined && key === undefined) {
      throw new UsageError("OPTION_INVALID", "Expected a key beside cache, got none. Give { prefix, userId, chatId }, or a string.");
    }
    const name = typeof key === "object" ? ("role" in key ? scopedCacheKey(key) : cacheKey(key)) : (key ?? "");
    checkedTtl(ttl);
    this.#keepOriginals = keepOriginals;
    this.#entry = cache === undefined ? undefined : new BrainEntry(cache, name, ttl);
    this.#clock = clock;
    this.#model = new BrainModel({ model, clock, timeout, limits: { maxMessages, maxTokens, keepMessages }, tokens });
  }

  /** Messages that are not summarized yet, oldest first. */
  get history(): Message[] {
    return [...this.#state.history];
  }

  /** The newest `keepOriginals` messages that the summary covers, oldest first. */
  get originals(): Message[] {
    return [...this.#state.originals];
  }

  get knowledge(): Message[] {
    return [...this.#state.knowledge];
  }

  /** The summary of the messages before the history; empty when nothing was summarized. */
  get summary(): string {
    return summaryText(this.#state.levels);
  }

  get isDirty(): boolean {
    return this.#state !== this.#stored;
  }

  /** Id of the newest message that the summary covers. */
  get lastHistoryId(): string | undefined {
    return this.#state.covered.at(-1);
  }

  get lastTalk(): string | undefined {
    return this.#state.lastTalk;
  }

  get isHistoryAvailable(): boolean {
    return this.#state.history.length > 0 || this.summary !== "";
  }

  /** The summary and the history without its last message, which is being answered. */
  get historyText(): string {
    const before = this.history.slice(0, -1).map((message) => message.content);
    return [this.summary, ...before].filter((text) => text !== "").join("\n");
  }

  /** Adds a message of the user. Returns false when it is held already. */
  addTalk(message: Message): boolean {
    const isNew = this.#change(withHistory(this.#state, message, "user"));
    if (isNew) this.#state = { ...this.#state, lastTalk: message.content };
    return isNew;
  }

  addAnswer(message: Message): boolean {
    return this.#change(withHistory(this.#state, message, "assistant"));
  }

  addKnowledge(message: Message): boolean {
    return this.#change(withKnowledge(this.#state, message));
  }

  /** Deletes a message here and with the next `save`. A summary that covers it is deleted as a whole. Returns false for an unknown message. */
  delete(target: Message | string): boolean {
    return this.#change(withoutMessage(this.#state, idOf(target)));
  }

  /** Deletes all content up to now, here and in the cache, also if others store it later. @throws as `save` */
  async forget(o: BrainCallOptions = {}): Promise<void> {
    signalOf("forget", o);
    this.#state = { ...NO_BRAIN, forgotten: this.#clock.now() };
    await this.#inTurn(o.signal, async () => this.#entry?.erase());
    await this.save(o);
  }

  getKnowledge(): string {
    return this.knowledge.map((message) => message.content).join("\n");
  }

  exists(text: string): boolean {
    takes("BrainMemory.exists", "text", text, aText);
    return this.#state.history.some(({ content }) => content === text);
  }

  /** Returns the last message of the user, once. */
  popLastTalk(): string | undefined {
    const { lastTalk } = this.#state;
    if (lastTalk !== undefined) this.#state = { ...this.#state, lastTalk: undefined };
    return lastTalk;
  }

  /** Replaces the history, except an open question, by a given summary. */
  setHistorySummary(text: string): void {
    takes("BrainMemory.setHistorySummary", "text", text, aText);
    const { history } = this.#state;
    const covers = history.slice(0, history.length - openQuestion(history).length);
    if (this.summary === text && covers.length === 0) return;
    this.#state = this.#covered({ covers, change: () => ({ ...NO_SUMMARY, oldest: text }) });
  }

  /** True when `compress` would make a summary. */
  shouldCompress(): Promise<boolean> {
    return this.#model.isSummaryDue(this.#state);
  }

  /**
   * Summarizes the oldest messages while the history is too long. Returns true if this call has summarized a message. Calls run one after another.
   *
   * @throws ModelError, ControlError, CacheError, MemoryError `MEMORY_CONFLICT`: the state is the same as before the failed summary
   */
  compress(o: BrainCallOptions = {}): Promise<boolean> {
    const signal = signalOf("compress", o);
    return this.#inTurn(signal, () => this.#compressAll(signal), "compress");
  }

  /**
   * Loads the stored content. Messages added here before come after it. "nothing" means that the cache answered and has no entry.
   *
   * @throws UsageError `BRAIN_NEWER` when a newer version wrote the entry; CacheError `CACHE_UNREACHABLE`. Nothing has changed then.
   */
  async load(o: BrainCallOptions = {}): Promise<BrainLoad> {
    const signal = signalOf("load", o);
    const entry = this.#entry;
    if (entry === undefined) return { kind: "nothing" };
    return this.#inTurn(signal, () => entry.read((found) => this.#merge(found)));
  }

  /**
   * Stores changed content, after merging by message id what others have stored. Returns whether it was stored now.
   *
   * @throws CacheError; MemoryError `MEMORY_CONFLICT` when the stored entry cannot be read
   */
  async save(o: BrainCallOptions = {}): Promise<boolean> {
    const signal = signalOf("save", o);
    const entry = this.#entry;
    return this.#inTurn(signal, async () => {
      if (entry === undefined || !this.isDirty) return false;
      this.#stored = await entry.write(
        () => this.#state,
        (found) => this.#merge(found),
      );
      return true;
    });
  }

  /** Asks the model whether two texts are related. @throws OutputError `OUTPUT_INVALID`, ModelError, ControlError */
  async isRelated(text1: string, text2: string, o: BrainCallOptions = {}): Promise<boolean> {
    const signal = signalOf("isRelated", o);
    for (const text of [text1, text2]) takes("BrainMemory.isRelated", "the text", text, aText);
    return this.#model.isRelated(text1, text2, signal);
  }

  async rewrite(sentence: string, context: string, o: BrainCallOptions = {}): Promise<string> {
    const signal = signalOf("rewrite", o);
    for (const text of [sentence, context]) takes("BrainMemory.rewrite", "the text", text, aText);
    return this.#model.rewrite(sentence, context, signal);
  }

  /** Asks for a title of at most five words. @throws ModelError, ControlError */
  async getTitle(text: string, o: BrainCallOptions = {}): Promise<string> {
    const signal = signalOf("getTitle", o);
    return this.#model.titleOf(await this.summarize(text, { signal }), signal);
  }

  /** Summarizes a string of any length in at most `maxWords` words (default 300), window by window. @throws ModelError, ControlError */
  async summarize(text: string, o: BrainCallOptions & { readonly maxWords?: number | undefined } = {}): Promise<string> {
    checkKnownOptions("summarize", o, { ...callOptions, maxWords: kinds.size });
    const { signal, maxWords } = o;
    takes("BrainMemory.summarize", "text", text, aText);
    return this.#model.summarize(text, maxWords, signal);
  }

  toJSON(): BrainJson {
    return brainJson(this.#state);
  }

  static splitTexts(text: string, window: number): string[] {
    takes("BrainMemory.splitTexts", "window", window, kinds.size);
    takes("BrainMemory.splitTexts", "text", text, aText);
    return splitTexts(text, window);
  }

  /** Splits `[TAG]: text` into its two parts; a string of another form has no tag. */
  static extractInfo(input: string): { readonly tag: string | undefined; readonly text: string } {
    takes("BrainMemory.extractInfo", "input", input, aText);
    const [, tag, text = input] = /^\[([A-Z]+)\]:\s*(\S.*)$/s.exec(input) ?? [];
    return { tag, text };
  }

  async #compressAll(signal: AbortSignal | undefined): Promise<boolean> {
    for (let did = false; ; did = true) {
      const next = await this.#model.nextSummary(this.#state, signal);
      if (next === undefined) return did;
      await this.#commit(next, signal);
    }
  }

  /** Stores the summary first, then applies it, unless its messages have left the history meanwhile. */
  async #commit(next: NextSummary, signal: AbortSignal | undefined): Promise<void> {
    const entry = this.#entry;
    let from = this.#state;
    const make = (): BrainState | undefined => {
      from = this.#state;
      const ids = new Set(from.history.map(({ id }) => id));
      return next.covers.every(({ id }) => ids.has(id)) ? this.#covered(next) : undefined;
    };
    await this.#inTurn(signal, async () => {
      const stored = entry === undefined ? make() : await entry.write(make, (found) => this.#merge(found));
      if (stored === undefined) return;
      const isUnchanged = this.#state === from;
      this.#state = isUnchanged ? stored : this.#covered(next);
      if (isUnchanged && entry !== undefined) this.#stored = stored;
    });
  }

  #covered(next: NextSummary): BrainState {
    return withOriginals(withCovered(this.#state, next), this.#keepOriginals);
  }

  #merge({ theirs, isJoined, base }: FoundBrain): void {
    const { isDirty } = this;
    this.#state = withOriginals(isDirty ? joinedBrain({ theirs, mine: this.#state, base }) : theirs, this.#keepOriginals);
    this.#stored = isDirty || isJoined ? undefined : this.#state;
  }

  #change(state: BrainState): boolean {
    const isChanged = state !== this.#state;
    this.#state = state;
    return isChanged;
  }

  /** Runs one operation of a kind at a time, so an older state never overwrites a newer one. */
  #inTurn<T>(signal: AbortSignal | undefined, work: () => Promise<T>, kind: "compress" | "store" = "store"): Promise<T> {
    const turn = this.#turns.take(kind, work);
    return signal === undefined ? turn : untilAborted(turn, signal);
  }
}

function signalOf(what: string, o: BrainCallOptions): AbortSignal | undefined {
  checkKnownOptions(what, o, callOptions);
  return o.signal;
}
