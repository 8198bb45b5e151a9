import { jobName } from "./cell.ts";
import type { FinishedCell } from "./cell-run.ts";
import { canonicalJson, type JsonObject, textHash } from "../../kernel/json.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import type { ChatResponse, ModelPrice, Observed, RunEvent, RunResult } from "../../index.ts";

export interface UsedModel {
  readonly id: string;
  /** The price that its calls were settled by; null where none is known. */
  readonly price: ModelPrice | null;
}

/** How a model was asked, and what the provider says answered. Each way counts once. */
export interface AskedModel {
  readonly id: string;
  /** Temperature, limits, tool choice and the fields of the provider: all of a request but its messages, tools, form and seed. */
  readonly options: JsonObject;
  readonly served?: ChatResponse["served"];
}

export interface CellUse {
  readonly calls: number;
  readonly microUsd: number;
  readonly unpriced: number;
  /** Calls that were in flight when a process died: they may have been paid. Left out by older versions. */
  readonly uncertain?: number;
  readonly models: readonly UsedModel[];
  /** Left out by older versions. */
  readonly asked?: readonly AskedModel[];
  /** The sha256 of each system prompt that a model was asked with. */
  readonly prompts: readonly string[];
}

/** The sum of several uses. UseSum.U1 (`add`) each model at each price and in each way, and each prompt, counts once. UseSum.U2 (`use`) it is sorted. */
export class UseSum {
  #calls = 0;
  #microUsd = 0;
  #unpriced = 0;
  #uncertain = 0;
  readonly #models = new Map<string, UsedModel>();
  readonly #asked = new Map<string, AskedModel>();
  readonly #prompts = new Set<string>();

  add({ calls = 0, microUsd = 0, unpriced = 0, uncertain = 0, models = [], asked = [], prompts = [] }: Partial<CellUse>): void {
    this.#calls += calls;
    this.#microUsd += microUsd;
    this.#unpriced += unpriced;
    this.#uncertain += uncertain;
    for (const model of models) this.#models.set(canonicalJson([model.id, model.price]), model);
    for (const one of asked) this.#asked.set(canonicalJson(one), one);
    for (const prompt of prompts) this.#prompts.add(prompt);
  }

  get use(): CellUse {
    const [models, asked] = [sorted(this.#models), sorted(this.#asked)];
    const sums = { calls: this.#calls, microUsd: this.#microUsd, unpriced: this.#unpriced, uncertain: this.#uncertain };
    return { ...sums, models, asked, prompts: [...this.#prompts].sort() };
  }
}

function sorted<T>(found: ReadonlyMap<string, T>): readonly T[] {
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value);
}

type Listening = <T extends Observed["type"]>(type: T, listener: (observed: Extract<Observed, { readonly type: T }>) => void) => () => void;
type StepStarted = Extract<RunEvent, { readonly type: "step.started" }>;
type RunStarted = Extract<RunEvent, { readonly type: "run.started" }>;
type StepEnded = Extract<RunEvent, { readonly type: "step.ended" }>;

/** The use of a run since the last report. `isWhole`: the sum of all its use, with that of earlier tries. */
export interface FreshUse extends Partial<CellUse> {
  readonly isWhole?: true;
}

interface Step {
  readonly isAnswer: boolean;
  readonly isOpen: boolean;
  readonly isUnpriced: boolean;
  readonly hold: number;
  readonly model: Pick<AskedModel, "id" | "options"> | undefined;
}

const MAX_PROMPTS = 1_000;
/** Ways in which models are asked. */
const MAX_WAYS = 100;

/**
 * Watches the use of models by a run. It owns the steps under way.
 *
 * UseWatch.W1 (`#ended`) each open try counts once, a lost one when it is settled, and an answer from a record does not count. UseWatch.W2
 * (`#report`) new use is reported as soon as a try begins or ends, because the process may die. UseWatch.W3 (`#started`) a call is uncertain
 * from its start to its end: those that a kill interrupted stay so.
 */
export class UseWatch {
  readonly #sum = new UseSum();
  readonly #reported: ((fresh: FreshUse) => void) | undefined;
  readonly #steps = new Map<string, Step>();
  readonly #known = new Set<string>();
  #isWatching = false;
  #ways = 0;
  /** Called with the start of the run, where its roles are described. */
  onStart: ((start: RunStarted) => void) | undefined;
  /** Calls without a known price that a kill interrupted. */
  lostUnpriced = 0;
  /** Micro-dollars that calls without an end may cost at most. */
  held = 0;

  constructor(report?: (fresh: FreshUse) => void) {
    this.#reported = report;
  }

  get use(): CellUse {
    return this.#sum.use;
  }

  watch(on: Listening): () => void {
    this.#isWatching = true;
    const offs = [
      on("step.started", (event) => this.#started(event)),
      on("step.ended", (event) => this.#ended(event)),
      on("model.priced", ({ model: id, price }) => {
        if (this.#isNew(canonicalJson([id, price]))) this.#report({ models: [{ id, price }] });
      }),
    ];
    if (this.onStart !== undefined) offs.push(on("run.started", (event) => this.onStart?.(event)));
    return () => {
      for (const off of offs) off();
    };
  }

  /** Begins with the record of a run that continues: what comes now is all that the run has used. */
  begin(): void {
    this.#reported?.({ isWhole: true });
  }

  /** Counts an event of the record of a run that continues. */
  learn(event: RunEvent): void {
    if (event.type === "run.started") this.onStart?.(event);
    else if (event.type === "step.started") this.#started(event);
    else if (event.type === "step.ended") this.#ended(event);
  }

  /** True if calls were not free. */
  get isPaid(): boolean {
    const { microUsd, unpriced } = this.#sum.use;
    return microUsd + unpriced > 0;
  }

  /** Takes the use from the result of a run, where neither the world nor the run could be watched. */
  take({ cost, byModel }: Pick<RunResult, "cost" | "byModel">, calls: number): void {
    if (this.#isWatching) return;
    const models = Object.keys(byModel).map((id) => ({ id, price: null }));
    this.#report({ calls, microUsd: cost.known, unpriced: cost.unpriced, models });
  }

  #started({ act, key, kind, name, request, reused, unpriced, hold }: StepStarted): void {
    const isAnswer = kind === "model" && reused === undefined;
    this.#steps.set(`${act} ${key}`, {
      isAnswer,
      isOpen: true,
      isUnpriced: unpriced === true,
      hold,
      model: isAnswer ? modelIn(name, request) : undefined,
    });
    this.held += hold;
    if (isAnswer) this.#report({ uncertain: 1 });
    if (unpriced === true) this.lostUnpriced += 1;
    if (kind !== "model" || !isRecord(request) || !Array.isArray(request["messages"])) return;
    for (const said of request["messages"] as readonly unknown[]) {
      if (!isRecord(said) || said["role"] !== "system" || typeof said["content"] !== "string") continue;
      const hash = textHash(said["content"]);
      if (this.#known.size < MAX_PROMPTS && this.#isNew(hash)) this.#report({ prompts: [hash] });
    }
  }

  #ended({ act, key, retry, ok, value, cost, basis, settles = [] }: StepEnded): void {
    const name = `${act} ${key}`;
    const step = this.#steps.get(name);
    if (step === undefined) return;
    if (retry === true) this.#steps.set(name, { ...step, isOpen: false });
    else this.#steps.delete(name);
    const isUnpriced = step.isOpen && cost === null && basis !== "none";
    if (step.isOpen && step.isUnpriced) this.lostUnpriced -= 1;
    this.held -= (step.isOpen ? step.hold : 0) + settles.reduce((sum, one) => sum + one.hold, 0);
    this.lostUnpriced -= settles.filter((one) => one.unpriced === true && one.cost !== null).length;
    const lost = settles.reduce((sum, one) => sum + (one.cost ?? 0), 0);
    const microUsd = lost + (step.isOpen ? (cost ?? 0) : 0);
    if (ok && step.model !== undefined) this.#answered(step.model, value);
    const calls = step.isAnswer && retry !== true ? 1 : 0;
    const uncertain = step.isAnswer && step.isOpen ? -1 : 0;
    if (isUnpriced || microUsd + calls + uncertain !== 0) this.#report({ calls, microUsd, unpriced: isUnpriced ? 1 : 0, uncertain });
  }

  #answered({ id, options }: Pick<AskedModel, "id" | "options">, value: unknown): void {
    const served = isRecord(value) ? (value["served"] as AskedModel["served"]) : undefined;
    const way: AskedModel = { id, options, ...(served === undefined ? {} : { served }) };
    if (this.#ways >= MAX_WAYS || !this.#isNew(canonicalJson(way))) return;
    this.#ways += 1;
    this.#report({ asked: [way] });
  }

  #isNew(name: string): boolean {
    if (this.#known.has(name)) return false;
    this.#known.add(name);
    return true;
  }

  #report(fresh: FreshUse): void {
    this.#sum.add(fresh);
    this.#reported?.(fresh);
  }
}

function modelIn(id: string, request: unknown): Pick<AskedModel, "id" | "options"> {
  const { messages: _messages, tools: _tools, schema: _schema, seed: _seed, model: _model, ...options } = isRecord(request) ? request : {};
  return { id, options: options as JsonObject };
}

export interface ModelSpending {
  readonly calls: number;
  readonly usd: number;
  readonly unpriced: number;
}

export interface SweepSpending {
  /** All runs: the failed ones, and tries whose process died, too. */
  readonly spent: ModelSpending;
  /** The part that no row has: failed runs, those that were run again later, tries whose process died, and calls that a kill interrupted. */
  readonly lost: ModelSpending;
  /** Calls that were in flight when a process died: a provider may have counted them. */
  readonly uncertain: number;
}

/** The use of models by a sweep. SweepUse.S1 (`sweepUse`) each run, and each try whose process died, counts once, a continued run as a whole. */
export function sweepUse(finished: Iterable<FinishedCell>): SweepSpending & { readonly use: CellUse } {
  const lines = new Map<string, FinishedCell[]>();
  for (const one of finished) lines.set(jobName(one), [...(one.continued === true ? [] : (lines.get(jobName(one)) ?? [])), one]);
  const [all, gone] = [new UseSum(), new UseSum()];
  for (const { end, continued, lost = {} } of [...lines.values()].flat()) {
    for (const use of [end.use, lost]) all.add(use);
    for (const use of [end.kind === "failed" ? end.use : {}, lost]) gone.add(use);
    // A row leaves out the calls that a kill interrupted.
    if (continued === true && end.kind === "done") gone.add({ microUsd: end.use.microUsd - Math.round(end.counts.usd * 1_000_000) });
  }
  const { use } = all;
  return { use, spent: spendingOf(use), lost: spendingOf(gone.use), uncertain: use.uncertain ?? 0 };
}

function spendingOf({ calls, microUsd, unpriced }: CellUse): ModelSpending {
  return { calls, usd: microUsd / 1_000_000, unpriced };
}
