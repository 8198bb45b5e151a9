import { aNumber, aText, fits, listOf, object, orNothing, type Shape } from "../../kernel/argument.ts";

/** The kind of the steps that read and change the board of a run. The runtime decides their answers itself. */
export const BOARD_STEP = "board";

/** A task of a run's board. Plain JSON. */
export interface BoardTask {
  readonly id: string;
  readonly title: string;
  readonly by: string;
  /** The role that it belongs to: no other one can claim it. */
  readonly owner?: string | undefined;
  /** Ids of the tasks that must be done before it is claimed. */
  readonly needs: readonly string[];
  /** Names of the checks that must be green before it is done. */
  readonly checks: readonly string[];
  readonly state:
    | { readonly kind: "open"; readonly reason?: string | undefined }
    | { readonly kind: "claimed" }
    | { readonly kind: "blocked"; readonly reason: string }
    | { readonly kind: "done"; readonly result?: string | undefined };
}

/** A note of a run's scratchpad. Plain JSON. */
export interface Note {
  readonly name: string;
  readonly version: number;
  readonly by: string;
  readonly text: string;
}

export type TaskKind = BoardTask["state"]["kind"];

export const TASK_KINDS: readonly TaskKind[] = ["open", "claimed", "blocked", "done"];

// The page of the inspector folds the board too, and has no schemas.
const maybe = orNothing(aText);
const STATES: Readonly<Record<TaskKind, Shape>> = {
  open: object("open", { reason: maybe }),
  claimed: object("claimed"),
  blocked: object("blocked", { reason: aText }),
  done: object("done", { result: maybe }),
};
const texts = listOf(aText);
const aState: Shape = {
  says: "a state",
  fits: (value) => TASK_KINDS.some((kind) => (value as BoardTask["state"]).kind === kind && STATES[kind].fits(value)),
};
const aTask = object("a task", { id: aText, title: aText, by: aText, owner: maybe, needs: texts, checks: texts, state: aState });
const aNote = object("a note", { name: aText, version: aNumber, by: aText, text: aText });
const isTrue: Shape = { says: "true", fits: (value) => value === true };

interface BoardChange {
  readonly tasks: readonly BoardTask[];
  readonly note?: Note;
}
const aChange = object("a change", { ok: isTrue, changed: isTrue, tasks: listOf(aTask), note: orNothing(aNote) });

/** Names of notes that are listed without a search. */
const RECENT = 100;
/** Characters of a reason that quotes an error. */
const LONGEST_REASON = 500;

type Groups<Key extends string = string> = Map<Key, Set<string>>;

/** The entries and their indexes, as Maps and Sets for a structured clone. */
export interface BoardForm {
  readonly tasks: Map<string, BoardTask>;
  readonly notes: Map<string, Note>;
  /** Ids by the state of their tasks. */
  readonly byKind: Groups<TaskKind>;
  readonly ready: Set<string>;
  /** Ids of tasks that are not done, by their owners. */
  readonly owned: Groups;
  /** The number of needs of a task that are not done. */
  readonly unmet: Map<string, number>;
  /** Ids by the needs that are not done. */
  readonly dependants: Groups;
  /** The names of the notes written last, the newest last. */
  readonly recent: Set<string>;
}

/**
 * The tasks and the notes of a run: a part of its state, which only recorded steps and the ends of roles change. It owns both and their indexes,
 * so that no operation reads all entries.
 *
 * Board.B1 (`apply`) a task has one state and at most one owner, and one that is done stays done.
 * Board.B2 (`#index`) `ready` has the open tasks without an owner whose needs are all done, in the order in which they became that.
 * Board.B3 (`release`) a role that left, or whose activation failed for good, owns no task that is not done.
 * Board.B4 (`form`) a board made of a form is the same board, with the same orders, and neither changes the other.
 */
export class Board {
  readonly #form: BoardForm;

  constructor(form?: BoardForm) {
    this.#form = copied(form ?? emptyForm());
  }

  form(): BoardForm {
    return copied(this.#form);
  }

  get size(): number {
    return this.#form.tasks.size;
  }

  get noteCount(): number {
    return this.#form.notes.size;
  }

  get readyCount(): number {
    return this.#form.ready.size;
  }

  /** The roles that own tasks. */
  get owners(): readonly string[] {
    return [...this.#form.owned.keys()];
  }

  count(kind: TaskKind): number {
    return this.#form.byKind.get(kind)?.size ?? 0;
  }

  task(id: string): BoardTask | undefined {
    return this.#form.tasks.get(id);
  }

  note(name: string): Note | undefined {
    return this.#form.notes.get(name);
  }

  /** Returns tasks, all in the order in which they were added. @param kind only those in this state, in the order in which they came into it */
  tasks(kind?: TaskKind): Iterable<BoardTask> {
    return kind === undefined ? this.#form.tasks.values() : this.#named(this.#form.byKind.get(kind));
  }

  /** Returns the tasks that any role can claim. */
  ready(): Iterable<BoardTask> {
    return this.#named(this.#form.ready);
  }

  /** Returns the tasks of a role that are not done. */
  owned(role: string): Iterable<BoardTask> {
    return this.#named(this.#form.owned.get(role));
  }

  /** Returns the needs of a task that are not done. */
  unmet({ id, needs }: BoardTask): readonly string[] {
    return this.#form.unmet.get(id) === 0 ? [] : needs.filter((need) => !this.#isDone(need));
  }

  /** Returns the notes written last, the newest first. */
  recentNotes(): readonly Note[] {
    return [...this.#form.recent].flatMap((name) => this.note(name) ?? []).toReversed();
  }

  /** Applies the answer of a step. Returns whether it is a change. The record may be another program's, or erased, so nothing is taken on trust. */
  apply(answer: unknown): boolean {
    if (!fits(answer, aChange)) return false;
    const { tasks, note } = answer as BoardChange;
    for (const task of tasks) if (!this.#isDone(task.id)) this.#put(task);
    if (note !== undefined) this.#write(note);
    return true;
  }

  /** Gives back the tasks of a role. */
  release(role: string, why: string): void {
    const reason = why.slice(0, LONGEST_REASON);
    for (const { owner: _owner, ...task } of [...this.owned(role)])
      this.#put(task.state.kind === "claimed" ? { ...task, state: { kind: "open", reason } } : task);
  }

  #isDone(id: string): boolean {
    return this.task(id)?.state.kind === "done";
  }

  *#named(ids: ReadonlySet<string> = NONE): Generator<BoardTask> {
    for (const id of ids) {
      const task = this.task(id);
      if (task !== undefined) yield task;
    }
  }

  #put(task: BoardTask): void {
    const { tasks, byKind, owned, unmet, dependants } = this.#form;
    const { id, needs, owner, state } = task;
    const before = tasks.get(id);
    tasks.set(id, task);
    if (before === undefined) {
      const missing = new Set(needs.filter((need) => !this.#isDone(need)));
      unmet.set(id, missing.size);
      for (const need of missing) addTo(dependants, need, id);
    } else {
      takeFrom(byKind, before.state.kind, id);
      if (before.owner !== undefined) takeFrom(owned, before.owner, id);
    }
    addTo(byKind, state.kind, id);
    if (owner !== undefined && state.kind !== "done") addTo(owned, owner, id);
    this.#index(task);
    if (state.kind === "done") this.#meet(id);
  }

  #meet(id: string): void {
    const { unmet, dependants } = this.#form;
    for (const dependant of dependants.get(id) ?? []) {
      unmet.set(dependant, (unmet.get(dependant) ?? 1) - 1);
      const task = this.task(dependant);
      if (task !== undefined) this.#index(task);
    }
    dependants.delete(id);
  }

  #index({ id, owner, state }: BoardTask): void {
    const { ready, unmet } = this.#form;
    if (state.kind === "open" && owner === undefined && unmet.get(id) === 0) ready.add(id);
    else ready.delete(id);
  }

  #write(note: Note): void {
    const { notes, recent } = this.#form;
    notes.set(note.name, note);
    recent.delete(note.name);
    recent.add(note.name);
    const [oldest] = recent.size > RECENT ? recent : NONE;
    if (oldest !== undefined) recent.delete(oldest);
  }
}

const NONE: ReadonlySet<string> = new Set();

function emptyForm(): BoardForm {
  return {
    ...{ tasks: new Map(), notes: new Map(), byKind: new Map(), ready: new Set(), recent: new Set() },
    ...{ owned: new Map(), unmet: new Map(), dependants: new Map() },
  };
}

function copied(form: BoardForm): BoardForm {
  const copy = (value: unknown): unknown => {
    if (value instanceof Set) return new Set(value);
    return value instanceof Map ? new Map([...value].map(([key, member]) => [key, copy(member)])) : value;
  };
  return Object.fromEntries(Object.entries(form).map(([name, part]) => [name, copy(part)])) as unknown as BoardForm;
}

function addTo<Key extends string>(groups: Groups<Key>, key: Key, id: string): void {
  const ids = groups.get(key) ?? new Set();
  groups.set(key, ids.add(id));
}

function takeFrom<Key extends string>(groups: Groups<Key>, key: Key, id: string): void {
  const ids = groups.get(key);
  ids?.delete(id);
  if (ids?.size === 0) groups.delete(key);
}
