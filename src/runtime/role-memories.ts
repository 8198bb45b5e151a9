import type { Clock } from "../kernel/clock.ts";
import { errorRecord, UsageError } from "../kernel/errors.ts";
import type { Mask } from "../kernel/mask.ts";
import { KeptMemory } from "../memory/kept-memory.ts";
import type { MemoryOp } from "../memory/memory-draft.ts";
import { memoryScope } from "../memory/memory-scope.ts";
import { type RoleMemoryOptions, type RoleMemoryParts, roleMemoryParts } from "../memory/role-memory.ts";
import type { Message } from "../message/message.ts";
import type { Role } from "../role/role.ts";
import { roleSpec } from "../role/role-spec.ts";
import type { ActEnded, ForkPoint, RunEvent } from "./record/event.ts";
import type { RunState } from "./record/run-state.ts";

export interface RoleMemory {
  readonly options: RoleMemoryParts;
  readonly kept: KeptMemory;
  readonly mask: Mask;
}

export type Remembers = "its turn" | "its run" | "longer";

export interface WarmMemories {
  readonly shared: RoleMemoriesParts["shared"];
  readonly roles: ReadonlyMap<string, Role | undefined>;
  readonly memories: ReadonlyMap<string, KeptMemory>;
  /** Approximate number of characters in them. */
  readonly size: number;
}

export interface RoleMemoriesParts {
  /** The default of roles. False: a role without options of its own keeps no message after its turn. */
  readonly shared: RoleMemoryOptions | false | undefined;
  readonly runId: () => string;
  readonly state: () => RunState;
  readonly clock: Clock;
  /** False in a replay, which neither stores nor searches. */
  readonly isLive: boolean;
  readonly mask: Mask;
  readonly warn: (role: string, text: string) => void;
  readonly roleNamed: (name: string) => Role | undefined;
}

/**
 * The memories of one run's roles that outlast the run. It owns the set of definitions with such a memory. The stored entries belong to
 * each role's `KeptMemory`, which is made when the role first acts.
 *
 * RoleMemories.R1 (`learn`) the changes of an activation are stored once its end is durable, never before.
 * RoleMemories.R2 (`learn`) if the process dies between the record and the store, a resume stores the missing changes.
 * RoleMemories.R3 (`rest`) a failing store is reported as a warning and does not fail the run.
 * RoleMemories.R4 (`adopt`) a process that had the run at its last rest reads nothing for that, unless a role differs.
 */
export class RoleMemories {
  readonly #parts: RoleMemoriesParts;
  readonly #options = new Map<Role, RoleMemoryParts>();
  readonly #memories = new Map<string, RoleMemory>();
  #ancestors: readonly ForkPoint[] = [];
  /** True when any role has a memory that outlasts its run. Every turn reads it, and only `enlist` writes it. */
  isUsed = false;

  constructor(parts: RoleMemoriesParts) {
    this.#parts = parts;
  }

  of(name: string): RoleMemory | undefined {
    return this.isUsed ? (this.#memories.get(name) ?? this.#make(name)) : undefined;
  }

  /** Adds a definition of a hired role, and returns how long it remembers. */
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

  #make(name: string, warm?: KeptMemory): RoleMemory | undefined {
    const { runId, clock, mask, warn, roleNamed } = this.#parts;
    const role = roleNamed(name);
    const options = role === undefined ? undefined : this.#options.get(role);
    if (options === undefined) return undefined;
    const onError = (error: unknown): void => warn(name, `What ${name} remembers could not be stored: ${errorRecord(error).message}`);
    const isAncestor = (id: string): boolean => this.#ancestors.some((point) => point.runId === id);
    const { role: _role, ...scope } = memoryScope(name, this.#parts.state().scope, runId(), options.scope);
    warm?.continue({ isAncestor, onError });
    const kept = warm ?? new KeptMemory({ parts: options, role: name, scope, runId: runId(), isAncestor, clock, onError });
    const memory = { options, kept, mask };
    this.#memories.set(name, memory);
    return memory;
  }

  get warm(): WarmMemories | undefined {
    const { shared, isLive } = this.#parts;
    const memories = new Map([...this.#memories].map(([name, { kept }]) => [name, kept]));
    const all = [...memories.values()];
    if (!isLive || !this.isUsed || all.some(({ unsaved }) => unsaved > 0)) return undefined;
    return { shared, roles: this.#definitions, memories, size: all.reduce((sum, { held }) => sum + held, 0) };
  }

  /** Continues with memories that know the whole record. Returns false if a role differs and must learn the record. */
  adopt(warm: WarmMemories | undefined): boolean {
    const now = this.#definitions;
    const { shared } = this.#parts;
    if (warm?.shared !== shared || warm === undefined || [...now].some(([name, role]) => warm.roles.get(name) !== role)) return false;
    for (const [name, kept] of warm.memories) this.#make(name, kept);
    return true;
  }

  get #definitions(): ReadonlyMap<string, Role | undefined> {
    return new Map([...this.#parts.state().roles.keys()].map((name) => [name, this.#parts.roleNamed(name)]));
  }

  /** Sets the runs this one was forked from, the nearest first. */
  descendsFrom(ancestors: readonly ForkPoint[]): void {
    this.#ancestors = ancestors;
  }

  /** Processes a durable event. */
  learn(event: RunEvent, taken: readonly Message[] = []): void {
    if (event.type !== "act.ended" || !this.#parts.isLive) return;
    const kept = this.of(event.role)?.kept;
    if (kept === undefined || event.memory.length === 0) return;
    kept.learn(this.#resolved(event, taken), this.#livedBy(event));
  }

  /** Stores pending changes and closes the stores. Never throws: unsaved changes are reported, and stored when the run is resumed. */
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

  /** Returns the run that first recorded an event: this one, or the farthest ancestor that shares it. */
  #livedBy({ seq }: RunEvent): string {
    let runId = this.#parts.runId();
    for (const parent of this.#ancestors) {
      if (seq > parent.at) break;
      ({ runId } = parent);
    }
    return runId;
  }

  /** A message that a record names by its id was sent or taken by the activation, so it had been delivered. */
  #resolved({ memory, said, role }: ActEnded, taken: readonly Message[]): readonly MemoryOp[] {
    const words = new Map<string, Message>([...taken, ...said.map(({ message }) => message)].map((message) => [message.id, message]));
    const { history, roles } = this.#parts.state();
    return memory.flatMap((op): readonly MemoryOp[] => {
      if (op[0] !== "+" || typeof op[1] !== "string") return [op as MemoryOp];
      const message = words.get(op[1]) ?? roles.get(role)?.memory.find(op[1]) ?? history.find(op[1]);
      return message === undefined ? [] : [["+", message]];
    });
  }
}

function assertNeedsNothing(role: Role): void {
  const { reactions, join = [] } = roleSpec(role);
  const waiting = reactions.concat(join).find(({ on, needs }) => needs.some((need) => on.size > 1 || !on.has(need)));
  if (waiting === undefined) return;
  throw new UsageError(
    "ROLE_INVALID",
    `Expected role ${role.name} to need no earlier message, because this environment has memory: false, got a reaction that needs ${waiting.needs.join(", ")}. Write memory: {} in the role, so that it remembers.`,
  );
}
