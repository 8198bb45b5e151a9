import type { Spendings } from "../../model/ledger.ts";
import type { RunTimeline } from "./run-timeline.ts";

/** The cost of a role or a model. */
export interface SpendingRow {
  readonly name: string;
  /** Micro-dollars. */
  readonly known: number;
  /** Calls without a known price. */
  readonly unpriced: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly isEstimated: boolean;
  /** Answered calls of models. */
  readonly calls: number;
  /** Further tries after failed ones. */
  readonly retries: number;
  /** Its share of all known costs, 0 to 1; of all tokens where nothing has a cost. */
  readonly share: number;
}

/** The spending of a run after an event. */
export interface SpendingView {
  readonly roles: readonly SpendingRow[];
  readonly models: readonly SpendingRow[];
  readonly total: SpendingRow;
  /** Micro-dollars. */
  readonly budget: number | undefined;
  /** Micro-dollars reserved by calls under way. */
  readonly held: number;
  /** Micro-dollars of calls that were in flight when a process died. */
  readonly uncertain: number;
  /** Micro-dollars that answers taken from another run had cost there. */
  readonly saved: number;
}

interface Calls {
  calls: number;
  retries: number;
}

/** Returns costs and tokens by role and by model: the sums are those of the runtime's state, the numbers of calls are counted. */
export function spendingAt(timeline: RunTimeline, seq: number): SpendingView {
  const { byRole, byModel, ledger, budget, uncertain, saved } = timeline.stateAt(seq);
  const counts = callsAt(timeline, seq);
  const { known, unpriced } = ledger.cost();
  const all = { cost: ledger.cost(), usage: ledger.usage };
  const whole = { known, tokens: ledger.usage.inputTokens + ledger.usage.outputTokens };
  return {
    roles: rowsOf(byRole.record(), counts.roles, whole),
    models: rowsOf(byModel.record(), counts.models, whole),
    total: { ...rowOf("", all, counts.total, whole), unpriced },
    budget,
    held: ledger.held,
    uncertain,
    saved,
  };
}

function callsAt({ record }: RunTimeline, seq: number) {
  const roles = new Map<string, Calls>();
  const models = new Map<string, Calls>();
  const total: Calls = { calls: 0, retries: 0 };
  for (const { kind, name, activation, seqs, tries, ok } of record.steps) {
    const [first = Infinity] = seqs;
    if (first > seq) break;
    if (kind !== "model") continue;
    const isWhole = (seqs.at(-1) ?? Infinity) <= seq;
    // Events of a step are starts and ends in turn.
    const begun = isWhole ? tries : Math.ceil(seqs.filter((one) => one <= seq).length / 2);
    for (const counts of [countsOf(roles, record.activations[activation]?.role ?? ""), countsOf(models, name), total]) {
      if (isWhole && ok === true) counts.calls += 1;
      counts.retries += Math.max(0, begun - 1);
    }
  }
  return { roles, models, total };
}

function countsOf(table: Map<string, Calls>, name: string): Calls {
  const counts = table.get(name) ?? { calls: 0, retries: 0 };
  table.set(name, counts);
  return counts;
}

interface Whole {
  readonly known: number;
  readonly tokens: number;
}

function rowsOf(sums: Spendings, counts: ReadonlyMap<string, Calls>, whole: Whole): readonly SpendingRow[] {
  return Object.entries(sums)
    .map(([name, spending]) => rowOf(name, spending, counts.get(name), whole))
    .sort((a, b) => b.known - a.known || b.inputTokens + b.outputTokens - a.inputTokens - a.outputTokens);
}

function rowOf(name: string, { cost, usage }: Spendings[string], counts: Calls | undefined, whole: Whole): SpendingRow {
  const { inputTokens, outputTokens, cachedTokens, estimated } = usage;
  const { calls = 0, retries = 0 } = counts ?? {};
  const share = whole.known > 0 ? cost.known / whole.known : whole.tokens > 0 ? (inputTokens + outputTokens) / whole.tokens : 0;
  return {
    name,
    known: cost.known,
    unpriced: cost.unpriced,
    inputTokens,
    outputTokens,
    cachedTokens,
    isEstimated: estimated,
    calls,
    retries,
    share,
  };
}
