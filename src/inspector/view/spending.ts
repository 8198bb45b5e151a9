import type { Spendings } from "../../model/ledger.ts";
import type { RunTimeline } from "./run-timeline.ts";

export type SpendingRow = ReturnType<typeof rowOf>;

interface Calls {
  calls: number;
  retries: number;
}

export function spendingAt(timeline: RunTimeline, seq: number) {
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

function rowsOf(sums: Spendings, counts: ReadonlyMap<string, Calls>, whole: Whole) {
  return Object.entries(sums)
    .map(([name, spending]) => rowOf(name, spending, counts.get(name), whole))
    .sort((a, b) => b.known - a.known || b.inputTokens + b.outputTokens - a.inputTokens - a.outputTokens);
}

/** Costs are in micro-dollars. `share` is that of all known costs, or of all tokens where nothing has a cost: 0 to 1. */
function rowOf(name: string, { cost: { known, unpriced }, usage }: Spendings[string], counts: Calls | undefined, whole: Whole) {
  const { inputTokens, outputTokens, cachedTokens, estimated: isEstimated } = usage;
  const { calls, retries } = counts ?? { calls: 0, retries: 0 };
  const share = whole.known > 0 ? known / whole.known : whole.tokens > 0 ? (inputTokens + outputTokens) / whole.tokens : 0;
  return { name, known, unpriced, inputTokens, outputTokens, cachedTokens, isEstimated, calls, retries, share };
}
