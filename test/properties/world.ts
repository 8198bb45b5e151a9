import type { RunEvent } from "../../src/run/event.ts";

/**
 * What lies outside of a company: the things its steps do. It fails and answers by how often it was asked, so a company that goes on from
 * a record is given the world as that record left it.
 */
export class World {
  /** Names of the effects that ran, in the order they began. */
  readonly ran: string[] = [];
  /** How long each effect takes. */
  readonly #wait: (name: string) => Promise<void>;
  readonly #ended = new Map<string, number>();

  constructor(recorded: readonly RunEvent[] = [], wait: (name: string) => Promise<void> = () => Promise.resolve()) {
    this.#wait = wait;
    const names = new Map<string, string>();
    for (const event of recorded) {
      if (event.type === "step.started") names.set(`${event.act} ${event.key}`, event.name);
      if (event.type === "step.ended" && event.retry !== true) this.#count(names.get(`${event.act} ${event.key}`) ?? "");
    }
  }

  /** An effect that answers by its name. */
  effect(name: string): () => Promise<string> {
    return this.answering(name, () => `<${name}>`);
  }

  /** An effect that answers, or throws, by how often steps of this name have ended before. */
  answering(name: string, answer: (before: number) => string): () => Promise<string> {
    return async () => {
      this.ran.push(name);
      await this.#wait(name);
      const before = this.#ended.get(name) ?? 0;
      this.#count(name);
      return answer(before);
    };
  }

  #count(name: string): void {
    this.#ended.set(name, (this.#ended.get(name) ?? 0) + 1);
  }
}
