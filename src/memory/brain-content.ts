import { assertMessage, createMessage, type Message } from "../message/message.ts";
import { type BrainState, MOST_COVERED } from "./brain-state.ts";
import { Memory } from "./memory.ts";
import { NO_SUMMARY, type SummaryLevels, summaryText } from "./summary-levels.ts";

/** Computes new summary levels from the present ones. */
export type LevelsChange = (levels: SummaryLevels) => SummaryLevels;

/**
 * The present content of a brain memory: history, knowledge, summary, and the ids of the messages that the summary covers. Owns the number of
 * its changes (`revision`), by which the brain memory knows whether this content was stored.
 *
 * BrainContent.N1 (`#addHistory`) messages are never changed: a message with another role is copied under its id. BrainContent.N2 (`#addHistory`)
 * a message that the summary covers is not added again.
 */
export class BrainContent {
  #history = new Memory();
  #knowledge = new Memory();
  #levels: SummaryLevels = NO_SUMMARY;
  #covered: readonly string[] = [];
  #lastTalk: string | undefined;
  #revision = 0;

  /** Number of changes. */
  get revision(): number {
    return this.#revision;
  }

  /** Messages that are not summarized yet, oldest first. */
  get history(): Message[] {
    return this.#history.get();
  }

  get knowledge(): Message[] {
    return this.#knowledge.get();
  }

  get levels(): SummaryLevels {
    return this.#levels;
  }

  get summary(): string {
    return summaryText(this.#levels);
  }

  /** Ids of the messages that the summary covers, newest last. */
  get covered(): readonly string[] {
    return this.#covered;
  }

  get lastTalk(): string | undefined {
    return this.#lastTalk;
  }

  get state(): BrainState {
    return { history: this.history, knowledge: this.knowledge, levels: this.#levels, covered: this.#covered, lastTalk: this.#lastTalk };
  }

  /** Adds a message of the user. Returns false when it is held or summarized already. */
  addTalk(message: Message): boolean {
    if (!this.#addHistory(message, "user")) return false;
    this.#lastTalk = message.content;
    return true;
  }

  /** Adds an answer. Returns false when it is held or summarized already. */
  addAnswer(message: Message): boolean {
    return this.#addHistory(message, "assistant");
  }

  addKnowledge(message: Message): boolean {
    const isNew = this.#knowledge.add(message);
    if (isNew) this.#revision++;
    return isNew;
  }

  /** True when a message of the history has exactly this content. */
  has(text: string): boolean {
    for (const message of this.#history.newestFirst()) if (message.content === text) return true;
    return false;
  }

  /** True when the history has this message. */
  holds({ id }: Message): boolean {
    return this.#history.has(id);
  }

  popLastTalk(): string | undefined {
    const talk = this.#lastTalk;
    if (talk === undefined) return undefined;
    this.#lastTalk = undefined;
    this.#revision++;
    return talk;
  }

  /** Replaces the history by a summary. */
  replaceHistory(text: string): void {
    if (this.summary === text && this.#history.size === 0) return;
    this.cover(this.history, () => ({ ...NO_SUMMARY, oldest: text }));
  }

  /** Returns the content as it would be after {@link cover}. */
  stateCovering(messages: readonly Message[], change: LevelsChange): BrainState {
    const ids = new Set(messages.map(({ id }) => id));
    const history = this.history.filter(({ id }) => !ids.has(id));
    return { ...this.state, history, levels: change(this.#levels), covered: this.#coveredWith(messages) };
  }

  /** Replaces messages of the history by new summary levels. */
  cover(messages: readonly Message[], change: LevelsChange): void {
    for (const message of messages) this.#history.delete(message);
    this.#covered = this.#coveredWith(messages);
    this.#levels = change(this.#levels);
    this.#revision++;
  }

  /** Replaces the content. */
  replace(state: BrainState): void {
    this.#history = new Memory();
    this.#knowledge = new Memory();
    this.#history.addBatch(state.history);
    this.#knowledge.addBatch(state.knowledge);
    this.#covered = state.covered;
    this.#levels = state.levels;
    this.#lastTalk = state.lastTalk;
    this.#revision++;
  }

  #addHistory(message: Message, role: Message["role"]): boolean {
    assertMessage(message);
    if (this.#covered.includes(message.id)) return false;
    const isNew = this.#history.add(message.role === role ? message : createMessage(message.content, { ...message, role }));
    if (isNew) this.#revision++;
    return isNew;
  }

  #coveredWith(messages: readonly Message[]): readonly string[] {
    return [...this.#covered, ...messages.map((message) => message.id)].slice(-MOST_COVERED);
  }
}
