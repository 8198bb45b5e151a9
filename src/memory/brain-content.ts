import { assertMessage, createMessage, type Message } from "../message/message.ts";
import { type BrainState, MOST_COVERED } from "./brain-state.ts";
import { Memory } from "./memory.ts";
import { NO_SUMMARY, type SummaryLevels, summaryText } from "./summary-levels.ts";

/** How the levels of a summary become others. */
export type LevelsChange = (levels: SummaryLevels) => SummaryLevels;

/**
 * What a brain remembers right now: what was said, what is known, the summary and which messages it covers. It counts its changes, so that
 * its owner knows whether exactly this was stored.
 *
 * N1 messages are never changed: one that has another role is made anew under its id. N2 what a summary covers is not remembered as said
 * again.
 */
export class BrainContent {
  #history = new Memory();
  #knowledge = new Memory();
  #levels: SummaryLevels = NO_SUMMARY;
  #covered: readonly string[] = [];
  #lastTalk: string | undefined;
  #revision = 0;

  /** How often it has changed. */
  get revision(): number {
    return this.#revision;
  }

  /** What was said and is not summed up yet, oldest first. */
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

  /** Ids of messages that the summary covers, the newest last. */
  get covered(): readonly string[] {
    return this.#covered;
  }

  get lastTalk(): string | undefined {
    return this.#lastTalk;
  }

  get state(): BrainState {
    return { history: this.history, knowledge: this.knowledge, levels: this.#levels, covered: this.#covered, lastTalk: this.#lastTalk };
  }

  /** False, and nothing changes, when it is remembered or summed up already. */
  addTalk(message: Message): boolean {
    if (!this.#addHistory(message, "user")) return false;
    this.#lastTalk = message.content;
    return true;
  }

  /** The same for an answer. */
  addAnswer(message: Message): boolean {
    return this.#addHistory(message, "assistant");
  }

  addKnowledge(message: Message): boolean {
    const isNew = this.#knowledge.add(message);
    if (isNew) this.#revision++;
    return isNew;
  }

  /** Whether exactly this was said, and is not summed up yet. */
  has(text: string): boolean {
    for (const message of this.#history.newestFirst()) if (message.content === text) return true;
    return false;
  }

  /** Whether this message is remembered as it was said. */
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

  /** Puts a summary in the place of all that was said. */
  sumUpAs(text: string): void {
    if (this.summary === text && this.#history.size === 0) return;
    this.cover(this.history, () => ({ ...NO_SUMMARY, oldest: text }));
  }

  /** What it would hold if a summary covered these messages. */
  stateCovering(messages: readonly Message[], change: LevelsChange): BrainState {
    const ids = new Set(messages.map(({ id }) => id));
    const history = this.history.filter(({ id }) => !ids.has(id));
    return { ...this.state, history, levels: change(this.#levels), covered: this.#coveredWith(messages) };
  }

  /** A summary covers these messages from now on. */
  cover(messages: readonly Message[], change: LevelsChange): void {
    for (const message of messages) this.#history.delete(message);
    this.#covered = this.#coveredWith(messages);
    this.#levels = change(this.#levels);
    this.#revision++;
  }

  /** Holds this state and nothing else from now on. */
  hold(state: BrainState): void {
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
