import { aText, takes } from "../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { untilAborted } from "../kernel/abort.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Message } from "../message/message.ts";
import { BrainContent } from "./brain-content.ts";
import { brainJson, type BrainJson, type BrainState, joinedBrain, mergedBrain } from "./brain-state.ts";
import { BrainPlace, conflict, type FoundBrain } from "./brain-place.ts";
import { askRelated, askRewritten, askTitle, BrainVoice, extractInfo } from "./brain-model.ts";
import { type Cache, cacheKey, type CacheKeyParts, checkedTtl, DEFAULT_TTL } from "./cache.ts";
import {
  checkedLimits,
  type CompressionLimits,
  dueMessages,
  MessageSizes,
  nextSummary,
  type NextSummary,
  windowOf,
} from "./next-summary.ts";
import { splitTexts, summarizeText } from "./summary.ts";
import { dueMerge } from "./summary-levels.ts";
import { estimatedTokens, type TokenCounter } from "./tokens.ts";
import type { ChatModel } from "../model/chat-model.ts";

/** What {@link BrainMemory.load} found. */
export type BrainLoad =
  | { readonly kind: "loaded" }
  | { readonly kind: "nothing" }
  /** Something was there that cannot be read; what is remembered here stays as it was. */
  | { readonly kind: "damaged"; readonly reason: string };

/** How one may wait. */
export interface BrainCallOptions {
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT = 10 * 60 * 1000;
/** How often what others have stored is taken over before a write is given up. */
const TRIES = 50;
/** No content has this revision. */
const NEVER = -1;

/**
 * The memory of a long conversation: what was said last, word by word; a rolling summary of what was said before; and what is known besides.
 *
 * Owns when it is summed up, and whether it is stored. What it holds is its content's, the levels of the summary are `summary-levels.ts`'s, the words that
 * a model is asked with `summary.ts`'s, where it is kept the cache's.
 *
 * B1 what is added while a model answers or a cache stores is never lost. B2 messages leave the history when, and only when, the summary that
 * covers them is stored; a model or a cache that fails leaves everything as it was. The history therefore has no bound of its own. B3 every summary is
 * made with the older one as its input, and no level of it grows without end. B4 the same material is asked for once, also when storing
 * the answer failed, and also by two callers at a time. B5 `isDirty` until exactly what is held now was stored. B6 what others have stored since it
 * was loaded is never written over: both are joined, or nothing is stored.
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
  readonly #voice: BrainVoice;
  readonly #place: BrainPlace | undefined;
  readonly #limits: CompressionLimits;
  readonly #sizes: MessageSizes;
  readonly #content = new BrainContent();
  /** The revision of the content that was stored. */
  #stored = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #compressing: { readonly work: Promise<boolean>; readonly signal: AbortSignal | undefined } | undefined;

  /** @throws UsageError `OPTION_INVALID`, `LIMIT_INVALID` or `TTL_INVALID` */
  constructor(options: BrainMemoryOptions) {
    checkGivenOptions("new BrainMemory", options, brainMemoryOptions);
    const { model, cache, key, maxMessages = 10, maxTokens = 4000, tokens = estimatedTokens, ttl = DEFAULT_TTL } = options;
    if (cache !== undefined && key === undefined) {
      throw new UsageError("OPTION_INVALID", "Expected a key beside cache, got none. Give { prefix, userId, chatId }, or a text.");
    }
    const name = typeof key === "object" ? cacheKey(key) : (key ?? "");
    checkedTtl(ttl);
    this.#place = cache === undefined ? undefined : new BrainPlace(cache, name, ttl);
    this.#limits = checkedLimits({ maxMessages, maxTokens });
    this.#sizes = new MessageSizes(tokens);
    this.#voice = new BrainVoice(model, options.clock ?? systemClock, options.timeout ?? TIMEOUT);
  }

  /** What was said and is not summed up yet, oldest first. */
  get history(): Message[] {
    return this.#content.history;
  }

  get knowledge(): Message[] {
    return this.#content.knowledge;
  }

  /** What is left of what was said before the history; empty when nothing was summed up. */
  get summary(): string {
    return this.#content.summary;
  }

  get isDirty(): boolean {
    return this.#content.revision !== this.#stored;
  }

  /** Id of the newest message that the summary covers. */
  get lastHistoryId(): string | undefined {
    return this.#content.covered.at(-1);
  }

  /** What the user said last. */
  get lastTalk(): string | undefined {
    return this.#content.lastTalk;
  }

  get isHistoryAvailable(): boolean {
    return this.history.length > 0 || this.summary !== "";
  }

  /** The summary and what was said since, without the last message: that is the one being answered. */
  get historyText(): string {
    const before = this.history.slice(0, -1).map((message) => message.content);
    return [this.summary, ...before].filter((text) => text !== "").join("\n");
  }

  /** Something the user said. False, and nothing changes, when it is remembered already. */
  addTalk(message: Message): boolean {
    return this.#content.addTalk(message);
  }

  /** Something that was answered. False, and nothing changes, when it is remembered already. */
  addAnswer(message: Message): boolean {
    return this.#content.addAnswer(message);
  }

  addKnowledge(message: Message): boolean {
    return this.#content.addKnowledge(message);
  }

  /** All that is known, one piece in a line. */
  getKnowledge(): string {
    return this.knowledge.map((message) => message.content).join("\n");
  }

  /** Whether exactly this was said, and is not summed up yet. */
  exists(text: string): boolean {
    return this.#content.has(text);
  }

  /** Gives what the user said last, once. */
  popLastTalk(): string | undefined {
    return this.#content.popLastTalk();
  }

  /** Puts a summary from elsewhere in the place of all that was said. */
  setHistorySummary(text: string): void {
    this.#content.sumUpAs(text);
  }

  /** Whether there is something to sum up. */
  async shouldCompress(): Promise<boolean> {
    return dueMerge(this.#content.levels) !== undefined || (await dueMessages(this.history, this.#sizes, this.#limits)).length > 0;
  }

  /**
   * Sums up the oldest messages while the history is too long, and summaries where ten have come together. With a cache, each new summary is stored
   * there before its messages leave the history. Whoever asks while it is under way waits for the same work.
   *
   * @returns whether anything was summed up
   * @throws ModelError, ControlError, CacheError, MemoryError `MEMORY_CONFLICT`: everything is as it was before the summary that failed
   */
  async compress({ signal }: BrainCallOptions = {}): Promise<boolean> {
    for (;;) {
      const current = (this.#compressing ??= this.#begun(signal));
      try {
        return await (signal === undefined ? current.work : untilAborted(current.work, signal));
      } catch (error) {
        const isAnothersEnd = current.signal !== signal && current.signal?.aborted === true && signal?.aborted !== true;
        if (!isAnothersEnd) throw error;
      }
    }
  }

  /**
   * Takes over what is stored under the key. What was added here before comes after it. "Nothing" says that the cache was asked and has nothing: where it
   * could not be asked, a local fallback answers, or else nobody does.
   *
   * @throws UsageError `BRAIN_NEWER` when a newer version wrote it; from then on nothing is stored over it.
   * @throws CacheError `CACHE_UNREACHABLE` when the cache could not be asked; nothing has changed, and it can be asked again.
   */
  async load({ signal }: BrainCallOptions = {}): Promise<BrainLoad> {
    const place = this.#place;
    if (place === undefined) return { kind: "nothing" };
    return this.#inTurn(signal, async () => {
      const read = await place.read();
      if (read.kind !== "found") return read;
      const { theirs, base, isLocalPart } = read;
      const { isDirty } = this;
      // What was here is what the stored does not know of.
      this.#content.hold(isDirty ? joinedBrain({ theirs, mine: this.#content.state, base }) : theirs);
      this.#stored = isDirty || isLocalPart ? NEVER : this.#content.revision;
      place.accept(read);
      return { kind: "loaded" };
    });
  }

  /**
   * Stores what is held, if it changed since it was stored last. Without a cache it stays dirty. What others have stored since it was loaded is
   * taken over first: messages are joined by their ids, and what was added here comes after.
   *
   * @returns whether it was stored now
   * @throws CacheError when it could not be stored; it stays dirty.
   * @throws MemoryError `MEMORY_CONFLICT` when the summary was changed both here and there, or when what is stored cannot be read; it stays dirty.
   * `load` puts one summary behind the other.
   */
  async save({ signal }: BrainCallOptions = {}): Promise<boolean> {
    const place = this.#place;
    return this.#inTurn(signal, async () => {
      if (place === undefined || !this.isDirty) return false;
      for (let n = 0; n < TRIES; n++) {
        const { revision, state } = this.#content;
        const found = await place.write(state);
        if (found === undefined) {
          this.#stored = revision;
          return true;
        }
        this.#merge(found);
        place.accept(found);
      }
      throw conflict("others store it all the time");
    });
  }

  /** Takes over a state that was kept elsewhere; all that is here stays, and comes after it. @internal */
  adopt(state: BrainState): Promise<void> {
    return this.#inTurn(undefined, async () => {
      this.#content.hold(joinedBrain({ theirs: state, mine: this.#content.state }));
    });
  }

  /** Whether two texts are about the same. @throws OutputError `OUTPUT_INVALID`, ModelError, ControlError */
  isRelated(text1: string, text2: string, { signal }: BrainCallOptions = {}): Promise<boolean> {
    return askRelated((messages) => this.#voice.ask(messages, signal), text1, text2);
  }

  /** A sentence with what it leaves out filled in from its context. @throws ModelError, ControlError */
  rewrite(sentence: string, context: string, { signal }: BrainCallOptions = {}): Promise<string> {
    return askRewritten((messages) => this.#voice.ask(messages, signal), sentence, context);
  }

  /** A title of at most five words. @throws ModelError, ControlError */
  async getTitle(text: string, { signal }: BrainCallOptions = {}): Promise<string> {
    const short = await this.summarize(text, { signal });
    return askTitle((messages) => this.#voice.ask(messages, signal), short);
  }

  /** A text of any length in at most so many words (default 300), read in windows. @throws ModelError, ControlError */
  summarize(text: string, { signal, maxWords }: BrainCallOptions & { readonly maxWords?: number | undefined } = {}): Promise<string> {
    return summarizeText((messages) => this.#voice.askOnce(messages, signal), text, windowOf(this.#limits), maxWords);
  }

  toJSON(): BrainJson {
    return brainJson(this.#content.state);
  }

  /** A text as windows that overlap. */
  static splitTexts(text: string, window: number): string[] {
    takes("BrainMemory.splitTexts", "text", text, aText);
    return splitTexts(text, window);
  }

  /** `[TAG]: text` as its two parts. */
  static extractInfo(input: string): { readonly tag: string | undefined; readonly text: string } {
    takes("BrainMemory.extractInfo", "input", input, aText);
    return extractInfo(input);
  }

  #begun(signal: AbortSignal | undefined): { readonly work: Promise<boolean>; readonly signal: AbortSignal | undefined } {
    const work = this.#compressAll(signal).finally(() => (this.#compressing = undefined));
    return { work, signal };
  }

  async #compressAll(signal: AbortSignal | undefined): Promise<boolean> {
    for (let did = false; ; did = true) if (!(await this.#compressOnce(signal))) return did;
  }

  async #compressOnce(signal: AbortSignal | undefined): Promise<boolean> {
    const next = await nextSummary({
      levels: this.#content.levels,
      history: this.history,
      sizes: this.#sizes,
      limits: this.#limits,
      ask: (messages) => this.#voice.askOnce(messages, signal),
    });
    if (next === undefined) return false;
    await this.#commit(next, signal);
    return true;
  }

  /**
   * Stored first, then believed. What came meanwhile is neither stored nor touched. Where others have stored something, that is taken over, and the
   * summary holds as long as nobody else has summed up its messages.
   */
  async #commit({ covers, change }: NextSummary, signal: AbortSignal | undefined): Promise<void> {
    const place = this.#place;
    await this.#inTurn(signal, async () => {
      for (let n = 0; n < TRIES; n++) {
        const { revision } = this.#content;
        const found = await place?.write(this.#content.stateCovering(covers, change));
        if (found === undefined) {
          this.#content.cover(covers, change);
          if (place !== undefined && this.#content.revision === revision + 1) this.#stored = this.#content.revision;
          return;
        }
        this.#merge(found);
        place?.accept(found);
        if (!covers.every((message) => this.#content.holds(message))) return;
      }
      throw conflict("others store it all the time");
    });
  }

  /** Takes over what others have stored, before anything is written over it. @throws MemoryError `MEMORY_CONFLICT` */
  #merge({ theirs, base }: FoundBrain): void {
    const both = mergedBrain({ theirs, mine: this.#content.state, base });
    if (both === undefined)
      throw conflict("others have stored another summary since, and neither that nor the one here covers all of the other");
    this.#content.hold(both);
    this.#stored = NEVER;
  }

  /** One at a time, in the order asked: an older state never overwrites a newer. Each caller waits for its own, so none is queued for nobody. */
  #inTurn<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return signal === undefined ? turn : untilAborted(turn, signal);
  }
}

/** What a brain memory works with. */
export interface BrainMemoryOptions {
  /** Writes the summaries and answers questions. Each question is one attempt: retries are the model's own, as a role's model has them. */
  readonly model: ChatModel;
  /** Where it is kept between two lives. Without one it ends with its process. */
  readonly cache?: Cache | undefined;
  /** Under which key; needed with `cache`. */
  readonly key?: string | CacheKeyParts | undefined;
  /** A history of so many messages is summed up. Default 10. */
  readonly maxMessages?: number | undefined;
  /** So is one of more tokens than this. Default 4000. */
  readonly maxTokens?: number | undefined;
  /** Default: an estimate, a quarter of the characters and one for each Chinese, Japanese or Korean one. */
  readonly tokens?: TokenCounter | undefined;
  /** Milliseconds that what is stored stays. Default 30 minutes. */
  readonly ttl?: number | undefined;
  /** Milliseconds that one answer of the model may take. Default 10 minutes. */
  readonly timeout?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** Their names. @internal */
export const brainMemoryOptions: Known<BrainMemoryOptions> = {
  model: true,
  cache: true,
  key: true,
  maxMessages: true,
  maxTokens: true,
  tokens: true,
  ttl: true,
  timeout: true,
  clock: true,
};
