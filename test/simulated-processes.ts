import { having, takes } from "../src/kernel/argument.ts";
import { JournalError } from "../src/kernel/errors.ts";
import type { Journal } from "../src/runtime/record/journal.ts";
import { unowned } from "../src/runtime/record/owners.ts";

export interface SimulatedProcess {
  /** The journal as this process sees it: a run that another living process owns is refused with `RUN_OWNED`. */
  readonly journal: Journal;
  /**
   * Ends the process at once, as SIGKILL does: from then on nothing of what it asks takes effect or is answered. The next owner of its runs
   * knows that it died. Timers of a team in it go on: give it a clock of its own, such as `simulatedClock()`.
   */
  kill(): void;
}

export interface SimulatedProcesses {
  start(): SimulatedProcess;
}

const aMemoryJournal = having("a journal with watch and command", "claim", "release", "append", "watch", "command");

interface Owned {
  readonly by: Life;
  readonly epoch: number;
}

interface Life {
  isAlive: boolean;
}

/** The result of every call of a process that has been killed: it never comes. */
function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}

/** Simulates processes that share a journal in memory, so that a test can kill one of them. */
export function simulatedProcesses(journal: Journal): SimulatedProcesses {
  takes("simulatedProcesses", "journal", journal, aMemoryJournal);
  const owners = new Map<string, Owned>();
  return { start: () => started(journal, owners) };
}

function started(inner: Journal, owners: Map<string, Owned>): SimulatedProcess {
  const life: Life = { isAlive: true };
  const alive = <T>(work: () => Promise<T>): Promise<T> =>
    life.isAlive ? work().then((value) => (life.isAlive ? value : never<T>())) : never();
  const assertFree = (runId: string): void => {
    const owner = owners.get(runId);
    if (owner !== undefined && owner.by !== life && owner.by.isAlive) throw owned(runId);
  };
  const journal: Journal = {
    create: (runId) => alive(() => inner.create(runId)),
    claim: (runId, o = {}) =>
      alive(async () => {
        if (o.take !== true) assertFree(runId);
        const before = owners.get(runId);
        const { epoch, former } = await inner.claim(runId, {
          ...(o.lost && { lost: () => void (life.isAlive && o.lost?.()) }),
          ...(o.command && { command: (command) => alive(async () => o.command?.(command) ?? null) }),
        });
        owners.set(runId, { by: life, epoch });
        if (before === undefined) return { epoch, former };
        return { epoch, former: before.by === life ? "none" : before.by.isAlive ? "moved" : "died" };
      }),
    release: (runId, epoch, o) =>
      alive(async () => {
        if (owners.get(runId)?.epoch === epoch) owners.delete(runId);
        await inner.release(runId, epoch, o);
      }),
    append: (...given) => alive(() => inner.append(...given)),
    read: (...given) => inner.read(...given),
    runs: () => alive(() => inner.runs()),
    watch: async function* (runId, o) {
      if (inner.watch !== undefined) yield* inner.watch(runId, o);
    },
    command: (runId, command, o) =>
      alive(async () => {
        if (owners.get(runId)?.by.isAlive === false) throw unowned(runId);
        return (await inner.command?.(runId, command, o)) ?? null;
      }),
    keepSnapshot: (...given) => alive(async () => inner.keepSnapshot?.(...given)),
    newestSnapshot: (runId) => alive(async () => inner.newestSnapshot?.(runId)),
    remove: (runId) =>
      alive(async () => {
        assertFree(runId);
        owners.delete(runId);
        await inner.remove(runId);
      }),
    close: () => Promise.resolve(),
  };
  return { journal, kill: () => void (life.isAlive = false) };
}

function owned(runId: string): JournalError {
  const text = `Expected run ${runId} to have no owner, but another simulated process works on it. Kill that one, or wait for it.`;
  return new JournalError("RUN_OWNED", text, { data: { runId } });
}
