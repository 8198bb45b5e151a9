import type { Clock } from "../kernel/clock.ts";
import { errorRecord, UsageError } from "../kernel/errors.ts";
import type { Mask } from "../kernel/mask.ts";
import { KeptMemory } from "../memory/kept-memory.ts";
import type { MemoryOp } from "../memory/memory-draft.ts";
import { type RoleMemoryOptions, type RoleMemoryParts, roleMemoryParts } from "../memory/role-memory.ts";
import type { Message } from "../message/message.ts";
import type { Role } from "../role/role.ts";
import { roleSpec } from "../role/role-spec.ts";
import type { ActEnded, ForkPoint, RunEvent } from "./record/event.ts";
import type { RunState } from "./record/run-state.ts";

/** How a role of a run remembers, and what it has kept. */
export interface RoleMemory {
  readonly options: RoleMemoryParts;
  readonly kept: KeptMemory;
  readonly mask: Mask;
}

/** For how long a role has what it heard and said: while it acts, while its run lasts, or for longer than that. */
export type Remembers = "its turn" | "its run" | "longer";

/** What the memories of a run are made with. */
export interface RoleMemoriesParts {
  /** The roles' default. False: who has no options of its own forgets what it heard. */
  readonly shared: RoleMemoryOptions | false | undefined;
  /** The run as stores know it. */
  readonly runId: () => string;
  readonly state: () => RunState;
  readonly clock: Clock;
  /** False in a replay: there nothing is stored or looked for. */
  readonly isLive: boolean;
  readonly mask: Mask;
  readonly warn: (role: string, text: string) => void;
  /** Who is hired under a name. */
  readonly roleNamed: (name: string) => Role | undefined;
}

/**
 * What the roles of one run remember for longer than the run. It owns which definitions do; what is kept is each role's kept memory's, made
 * when the role first acts.
 *
 * R1 what an activation remembered is stored once its end is durable, never before. R2 what is durable in the record and not in the store,
 * because the process died between, is stored when the run goes on. R3 a store that fails is told and does not fail the run.
 */
export class RoleMemories {
  readonly #parts: RoleMemoriesParts;
  readonly #options = new Map<Role, RoleMemoryParts>();
  readonly #memories = new Map<string, RoleMemory>();
  #ancestors: readonly ForkPoint[] = [];
  /** Whether any role remembers for longer than its run: asked every turn, and written here alone. */
  isUsed = false;

  constructor(parts: RoleMemoriesParts) {
    this.#parts = parts;
  }

  of(name: string): RoleMemory | undefined {
    return this.isUsed ? (this.#memories.get(name) ?? this.#make(name)) : undefined;
  }

  /**
   * Takes in a definition that somebody is hired by, and says for how long it remembers. A step function keeps no memory.
   *
   * @throws UsageError `OPTION_INVALID`; `ROLE_INVALID` where it would wait for what is forgotten
   */
  enlist(role: Role): Remembers {
    const { shared } = this.#parts;
    const options = role.step === undefined ? roleMemoryParts(role.memory, shared === false ? undefined : shared) : undefined;
    if (options === undefined) {
      if (shared !== false) return "its run";
      assertNeedsNothing(role);
      return "its turn";
    }
    this.#options.set(role, options);
    this.isUsed = true;
    return "longer";
  }

  #make(name: string): RoleMemory | undefined {
    const { runId, clock, mask, warn, roleNamed } = this.#parts;
    const role = roleNamed(name);
    const options = role === undefined ? undefined : this.#options.get(role);
    if (options === undefined) return undefined;
    const onError = (error: unknown): void => warn(name, `What ${name} remembers could not be stored: ${errorRecord(error).message}`);
    const isAncestor = (id: string): boolean => this.#ancestors.some((point) => point.runId === id);
    const kept = new KeptMemory({ parts: options, role: name, runId: runId(), isAncestor, clock, onError });
    const memory = { options, kept, mask };
    this.#memories.set(name, memory);
    return memory;
  }

  /** The runs this one was forked from, from the nearest on. */
  descendsFrom(ancestors: readonly ForkPoint[]): void {
    this.#ancestors = ancestors;
  }

  /**
   * Takes in an event that is durable.
   *
   * @param taken of an end, the messages that the activation took, where the run keeps no history
   */
  learn(event: RunEvent, taken: readonly Message[] = []): void {
    if (event.type !== "act.ended" || !this.#parts.isLive) return;
    const kept = this.of(event.role)?.kept;
    if (kept === undefined || event.memory.length === 0) return;
    kept.learn(this.#resolved(event, taken), this.#livedBy(event));
  }

  /** Stores what waits, and lets go of the stores. Never throws: what was not stored is told, and stored when the run goes on. */
  async rest(): Promise<void> {
    if (!this.#parts.isLive) return;
    const all = [...this.#memories].map(async ([name, { kept }]) => {
      try {
        await kept.saved();
        await kept.close();
      } catch (error) {
        const { message } = errorRecord(error);
        const what =
          kept.unsaved === 0
            ? `The store of what ${name} remembers could not be closed`
            : `${kept.unsaved} changes of what ${name} remembers are not stored, until the run is resumed`;
        this.#parts.warn(name, `${what}: ${message}`);
      }
    });
    await Promise.all(all);
  }

  /** The run that an event was first recorded in: this one, or the farthest of its ancestors that shares it. */
  #livedBy({ seq }: RunEvent): string {
    let runId = this.#parts.runId();
    for (const parent of this.#ancestors) {
      if (seq > parent.at) break;
      ({ runId } = parent);
    }
    return runId;
  }

  /** What a record names by its id alone was said in the activation, or taken by it, and so had been delivered. */
  #resolved({ memory, said, role }: ActEnded, taken: readonly Message[]): readonly MemoryOp[] {
    const words = new Map<string, Message>([...taken, ...said.map(({ message }) => message)].map((message) => [message.id, message]));
    const { history, roles } = this.#parts.state();
    return memory.flatMap((op): readonly MemoryOp[] => {
      if (op[0] !== "+" || typeof op[1] !== "string") return [op as MemoryOp];
      const message = words.get(op[1]) ?? history.find(op[1]) ?? roles.get(role)?.memory.find(op[1]);
      return message === undefined ? [] : [["+", message]];
    });
  }
}

/**
 * What a reaction needs that is all that triggers it is among the news.
 *
 * @throws UsageError `ROLE_INVALID`
 */
function assertNeedsNothing(role: Role): void {
  const waiting = roleSpec(role).reactions.find(({ on, needs }) => needs.some((need) => on.size > 1 || !on.has(need)));
  if (waiting === undefined) return;
  throw new UsageError(
    "ROLE_INVALID",
    `Expected role ${role.name} to need nothing that was said before, because this environment has memory: false, got a reaction that needs ${waiting.needs.join(", ")}. Write memory: {} in the role: then it remembers.`,
  );
}
