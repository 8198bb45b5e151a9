import type { Message } from "../../message/message.ts";
import type { Sent } from "./event.ts";

/** Most messages of an activation that are looked through one by one. */
const FEW_MESSAGES = 8;

/** The messages that the record of an activation may name by their ids: those that it said, else those that it took. */
export class KnownMessages {
  readonly #taken: readonly Message[];
  readonly #said: readonly Sent[];
  #byId: Map<string, Message> | undefined;

  constructor(taken: readonly Message[], said: readonly Sent[]) {
    this.#taken = taken;
    this.#said = said;
  }

  find(id: string): Message | undefined {
    const taken = this.#taken;
    const said = this.#said;
    if (taken.length + said.length > FEW_MESSAGES) return (this.#byId ??= indexed(taken, said)).get(id);
    for (let place = said.length - 1; place >= 0; place -= 1) if (said[place]?.message.id === id) return said[place]?.message;
    for (let place = taken.length - 1; place >= 0; place -= 1) if (taken[place]?.id === id) return taken[place];
    return undefined;
  }
}

function indexed(taken: readonly Message[], said: readonly Sent[]): Map<string, Message> {
  const known = new Map(taken.map((message) => [message.id, message]));
  for (const { message } of said) known.set(message.id, message);
  return known;
}
