import { z } from "zod";
import { type Message, TeamChange, UserFeedback, UserRequirement } from "../src/index.ts";

/*
 * The state of a process, folded from the messages of its lead. It decides nothing twice: an order, a ruling or a batch counts when it is read.
 *
 * Flow.F1 (`order`) a role has one item at a time, and an item one role at a time.
 * Flow.F2 (`order`) a stage and what waits behind it are never more than its limit, but for items that were sent back.
 * Flow.F3 (`read`) each item ends once: done after the last stage, or dropped by a ruling.
 */

/** Who wins when an item was sent back too often. */
export const WINNERS = ["author", "reviewer", "person"] as const;

/** A stage that each item passes. */
export interface StageTerms {
  readonly name: string;
  readonly by: readonly string[];
  readonly task: string;
  /** Roles that work on an item one after another: 2 is a pair, or two approvals. */
  readonly together: number;
  /** Nobody who built the item. */
  readonly other: boolean;
  /** The stage to which it sends an item back. Default: itself. */
  readonly back: string;
  /** Items in the stage and waiting behind it. */
  readonly limit: number;
  /** The roles that work as agents. */
  readonly agents: readonly string[];
}

/** Items that begin and end together. */
export interface BatchTerms {
  readonly name?: string | undefined;
  readonly size: number;
  /** An item enters a stage when all of its batch have left the stage before. */
  readonly phases: boolean;
  /** The cause that must come before the work of a batch, and the one after it. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

export interface ProcessTerms {
  readonly name: string;
  readonly lead: string;
  /** The action that lists the items. */
  readonly backlog: string;
  /** The field of its output that is the list. */
  readonly list: string;
  readonly stages: readonly StageTerms[];
  readonly batch?: BatchTerms | undefined;
  /** Times that an item may be sent back. */
  readonly rework: number;
  readonly otherwise: (typeof WINNERS)[number];
}

/** The cause of the message that begins a batch. */
export function batchName({ name, batch }: ProcessTerms): string {
  return batch?.name ?? `${name}, batch`;
}

export interface Work {
  readonly stage: string;
  readonly by: string;
  readonly verdict: "done" | "back";
  readonly speech: string;
  readonly result: string;
  readonly day: number;
}

export interface Item {
  readonly id: string;
  readonly title: string;
  /** Index of the stage in which it is, or for which it waits. */
  readonly stage: number;
  readonly history: readonly Work[];
  /** Times that a role left it in the middle. */
  readonly lost: number;
  readonly seat?: { readonly names: readonly string[]; readonly turn: number; readonly task: string; readonly since: number } | undefined;
  /** In a pair, the next one has its turn. */
  readonly then?: { readonly names: readonly string[]; readonly turn: number } | undefined;
  readonly isDisputed: boolean;
  readonly end?: "done" | "dropped";
  readonly entered?: number;
  readonly left?: number;
}

/** The result of a piece of work. */
export const WorkSchema = z.object({
  verdict: z.enum(["done", "back"]).default("done"),
  speech: z.string().default(""),
  result: z.string().default(""),
});

/** The fields that simulated people add to a result. */
const StampSchema = z.object({ day: z.number(), away: z.array(z.string()).default([]) });

const LeadSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("assigned"),
    item: z.string(),
    stage: z.string(),
    names: z.array(z.string()),
    turn: z.number(),
    task: z.string(),
  }),
  z.object({ kind: z.literal("left"), item: z.string(), by: z.string() }),
  z.object({ kind: z.literal("ruled"), item: z.string(), wins: z.string() }),
  z.object({ kind: z.literal("opened"), items: z.array(z.string()) }),
  z.object({ kind: z.literal("closed"), items: z.array(z.string()) }),
  z.object({ kind: z.literal("delivered") }),
]);

/** The payload of a `TeamChange`. */
const ChangeSchema = z.object({ role: z.string(), change: z.enum(["hired", "retired"]) });

const MOST_ITEMS = 1_000;

export const workedCause = (name: string): string => `${name}, worked`;

/** Whether the lead waits for a meeting, or the items of a batch are open. */
type BatchState =
  | { readonly kind: "none" }
  | { readonly kind: "opening"; readonly items: readonly string[] }
  | { readonly kind: "open"; readonly items: readonly string[] }
  | { readonly kind: "closing" };

export class Flow {
  readonly decided: string[] = [];
  about = "";
  day = 0;
  isOver = false;
  readonly #terms: ProcessTerms;
  readonly #items = new Map<string, Item>();
  readonly #gone = new Set<string>();
  #away: ReadonlySet<string> = new Set();
  #batch: BatchState = { kind: "none" };
  #batched = 0;
  #isPlanned = false;
  /** Turns of the lead: each begins with news. */
  #turns = 0;
  #isNews = false;
  /** The newest news is of the user or of the team, which come when a run is at rest too. */
  #isOutside = false;

  constructor(terms: ProcessTerms, messages: readonly Message[]) {
    this.#terms = terms;
    for (const message of messages) this.read(message);
  }

  get items(): readonly Item[] {
    return [...this.#items.values()];
  }

  /** All that was planned has ended, and nothing is left to say. */
  get isEnded(): boolean {
    const isOpen = this.#batch.kind !== "none" || this.items.some(({ end }) => end === undefined);
    return this.#isPlanned && !isOpen && !this.isOver;
  }

  /** The newest results of the stages that build, of the items that are done, the last item first. */
  finished(): string {
    const building = [...new Set(this.#terms.stages.map(({ back }) => back))];
    const results = ({ history }: Item): readonly string[] =>
      building.flatMap((stage) => history.findLast((work) => work.stage === stage && work.verdict === "done")?.result ?? []);
    const done = this.items.filter(({ end }) => end === "done").toReversed();
    return done.map((item) => [`${item.id}: ${item.title}`, ...results(item)].join("\n")).join("\n\n");
  }

  /** Items that a role has had for a turn of the lead: one that it was given last may be claimed at this moment. */
  seated(): readonly Item[] {
    return this.items.filter(({ seat }) => seat !== undefined && (this.#isOutside || this.#turns - seat.since > 1));
  }

  disputed(): readonly Item[] {
    return this.items.filter(({ isDisputed, end }) => isDisputed && end === undefined);
  }

  read({ causeBy, sentFrom, content, speech, instructContent }: Message): void {
    const { name, lead, backlog, batch } = this.#terms;
    if (sentFrom !== lead && !this.#isNews) this.#turns += 1;
    this.#isNews = sentFrom !== lead;
    if (this.#isNews) this.#isOutside = causeBy === UserFeedback.name || causeBy === TeamChange.name;
    const stamp = sentFrom === lead ? undefined : StampSchema.safeParse(instructContent).data;
    if (stamp !== undefined) [this.day, this.#away] = [Math.max(this.day, stamp.day), new Set(stamp.away)];
    if (causeBy === TeamChange.name) this.#changed(instructContent);
    else if (causeBy === UserRequirement.name) this.about = content;
    else if (causeBy === backlog) this.#plan(instructContent);
    else if (causeBy === workedCause(name)) this.#worked(sentFrom, WorkSchema.safeParse(instructContent).data);
    else if (causeBy === batch?.before && this.#batch.kind === "opening") this.#batch = { kind: "open", items: this.#batch.items };
    else if (causeBy === batch?.after && this.#batch.kind === "closing") this.#batch = { kind: "none" };
    if (causeBy !== undefined && [batch?.before, batch?.after].includes(causeBy)) this.decided.push(`${causeBy}: ${speech ?? content}`);
    const own = sentFrom === lead ? LeadSchema.safeParse(instructContent).data : undefined;
    if (own !== undefined) this.#apply(own);
  }

  #changed(payload: unknown): void {
    const { data } = ChangeSchema.safeParse(payload);
    if (data?.role === this.#terms.lead) this.#gone.clear();
    else if (data?.change === "hired") this.#gone.delete(data.role);
    else if (data !== undefined) this.#gone.add(data.role);
  }

  #plan(payload: unknown): void {
    const listed = (Object(payload) as Readonly<Record<string, unknown>>)[this.#terms.list];
    const titles = (Array.isArray(listed) ? listed : []).filter((title) => typeof title === "string" && title.trim() !== "");
    this.#isPlanned = true;
    // A user who wants more has it built on what is there.
    if (titles.length > 0) this.isOver = false;
    for (const title of titles.slice(0, MOST_ITEMS - this.#items.size)) {
      const id = `i${this.#items.size + 1}`;
      this.#items.set(id, { id, title: String(title).replace(/\s+/g, " ").trim(), stage: 0, history: [], lost: 0, isDisputed: false });
    }
  }

  #change(id: string, changes: Partial<Item>): void {
    const item = this.#items.get(id);
    if (item !== undefined) this.#items.set(id, { ...item, ...changes });
  }

  #worked(by: string, said: z.infer<typeof WorkSchema> | undefined): void {
    const item = this.items.find(({ seat }) => seat?.names[seat.turn] === by);
    const stage = this.#terms.stages[item?.stage ?? -1];
    if (item?.seat === undefined || stage === undefined) return;
    const { verdict, speech, result } = said ?? { verdict: "back", speech: "", result: "no result" };
    const { names, turn } = item.seat;
    const history = [...item.history, { stage: stage.name, by, verdict, speech, result, day: this.day }];
    const changes = { history, seat: undefined, then: undefined };
    if (verdict === "back") {
      const times = history.filter((work) => work.verdict === "back").length;
      if (times > this.#terms.rework) return this.#change(item.id, { ...changes, isDisputed: true });
      return this.#change(item.id, { ...changes, stage: this.#index(stage.back) });
    }
    if (turn + 1 < names.length) return this.#change(item.id, { ...changes, then: { names, turn: turn + 1 } });
    return this.#advance(item.id, changes);
  }

  #advance(id: string, changes: Partial<Item>): void {
    const { stage = 0 } = this.#items.get(id) ?? {};
    const isLast = stage + 1 === this.#terms.stages.length;
    this.#change(id, { ...changes, isDisputed: false, ...(isLast ? { end: "done", left: this.day } : { stage: stage + 1 }) });
  }

  #apply(own: z.infer<typeof LeadSchema>): void {
    switch (own.kind) {
      case "assigned": {
        const { item, names, turn, task } = own;
        const entered = this.#items.get(item)?.entered ?? this.day;
        return this.#change(item, { seat: { names, turn, task, since: this.#turns }, then: undefined, entered });
      }
      case "left":
        this.#gone.add(own.by);
        return this.#change(own.item, { seat: undefined, then: undefined, lost: (this.#items.get(own.item)?.lost ?? 0) + 1 });
      case "ruled":
        if (own.wins === "author") return this.#advance(own.item, {});
        return this.#change(own.item, { end: "dropped", isDisputed: false, left: this.day });
      case "opened":
        this.#batched += own.items.length;
        this.#batch = { kind: this.#terms.batch?.before === undefined ? "open" : "opening", items: own.items };
        return;
      case "closed":
        this.#batch = { kind: this.#terms.batch?.after === undefined ? "none" : "closing" };
        return;
      case "delivered":
        this.isOver = true;
    }
  }

  /** The next batch, or the end of the present one. */
  batchTurn(): { readonly kind: "opened" | "closed"; readonly items: readonly Item[] } | undefined {
    const { batch } = this.#terms;
    const state = this.#batch;
    if (batch === undefined) return undefined;
    if (state.kind === "none") {
      const items = this.items.slice(this.#batched, this.#batched + batch.size);
      return items.length === 0 ? undefined : { kind: "opened", items };
    }
    if (state.kind !== "open") return undefined;
    const items = state.items.flatMap((id) => this.#items.get(id) ?? []);
    return items.every(({ end }) => end !== undefined) ? { kind: "closed", items } : undefined;
  }

  /** What to hand out next. Later stages come first: an item that is nearly done is finished before another begins. */
  order(): { readonly item: Item; readonly stage: StageTerms; readonly names: readonly string[]; readonly turn: number } | undefined {
    const { stages } = this.#terms;
    const waiting = this.items.filter((item) => this.#waits(item));
    for (const item of waiting) if (item.then !== undefined) return { item, stage: stages[item.stage] as StageTerms, ...item.then };
    for (const [index, stage] of [...stages.entries()].toReversed())
      for (const item of waiting) {
        if (item.stage !== index || !this.#mayEnter(item, index)) continue;
        const names = this.#team(item, stage);
        if (names !== undefined) return { item, stage, names, turn: 0 };
      }
    return undefined;
  }

  #waits({ seat, end, isDisputed, id }: Item): boolean {
    const isAdmitted = this.#terms.batch === undefined || (this.#batch.kind === "open" && this.#batch.items.includes(id));
    return seat === undefined && end === undefined && !isDisputed && isAdmitted;
  }

  #mayEnter(item: Item, index: number): boolean {
    const { stages, batch } = this.#terms;
    const isBack = item.history.at(-1)?.verdict === "back";
    const open = this.items.filter(({ end }) => end === undefined);
    if (batch?.phases === true && this.#batch.kind === "open") {
      const ids = this.#batch.items;
      if (open.some((other) => ids.includes(other.id) && other.stage < index)) return false;
    }
    const behind = open.filter(({ stage, seat, then }) => stage === index + 1 && seat === undefined && then === undefined);
    const inside = open.filter(({ stage, seat, then }) => stage === index && (seat !== undefined || then !== undefined));
    return isBack || inside.length + behind.length < (stages[index]?.limit ?? Infinity);
  }

  /** The roles that take an item: free, there, and none of those who built it, if others are to look. Who worked least comes first. */
  #team({ history }: Item, stage: StageTerms): readonly string[] | undefined {
    const busy = new Set(this.items.flatMap(({ seat, then }) => [...(seat?.names ?? []), ...(then?.names ?? [])]));
    const builders = lastBuilders(history, stage.back);
    const before = new Set(history.flatMap(({ by, stage: where }) => (where === stage.name ? [by] : [])));
    const there = stage.by.filter((name) => !this.#away.has(name) && !this.#gone.has(name));
    const others = stage.other ? there.filter((name) => !builders.has(name)) : there;
    const works = (name: string): number => this.items.flatMap((item) => item.history).filter(({ by }) => by === name).length;
    const free = others.filter((name) => !busy.has(name));
    const sorted = free.toSorted((a, b) => Number(before.has(b)) - Number(before.has(a)) || works(a) - works(b));
    const names = sorted.slice(0, Math.min(stage.together, others.length));
    return names.length === 0 || names.length < Math.min(stage.together, others.length) ? undefined : names;
  }

  #index(name: string): number {
    return this.#terms.stages.findIndex((stage) => stage.name === name);
  }
}

/** Those who built an item last: who built it before may judge it. */
function lastBuilders(history: readonly Work[], stage: string): ReadonlySet<string> {
  const end = history.findLastIndex((work) => work.stage === stage);
  const begin = history.slice(0, end + 1).findLastIndex((work) => work.stage !== stage);
  return new Set(history.slice(begin + 1, end + 1).map(({ by }) => by));
}
