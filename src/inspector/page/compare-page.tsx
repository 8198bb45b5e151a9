import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type ActivationPair, compareRuns, type RunTotals } from "../view/run-comparison.ts";
import { shownLine } from "../view/shown-text.ts";
import { costText, counted, durationText } from "./amounts.ts";
import { type Column, DataTable, Fault } from "./controls.tsx";
import { Rest } from "./detail-parts.tsx";
import { OpenRun } from "./open-run.ts";
import { FIRST_PANEL, hashOf } from "./route.ts";
import type { RunSource } from "./run-source.ts";
import { StatusBadge } from "./status.tsx";

interface ComparePageProps {
  readonly source: RunSource;
  readonly ids: readonly [string, string];
}

type Pair = readonly [OpenRun, OpenRun];

export function ComparePage({ source, ids: [a, b] }: ComparePageProps) {
  const runs = useMemo<Pair>(() => [new OpenRun(a), new OpenRun(b)], [a, b]);
  useEffect(() => {
    const stop = new AbortController();
    for (const run of runs) {
      void run.watch(source, stop.signal);
      void run.ask(source, stop.signal);
    }
    return () => stop.abort();
  }, [runs, source]);
  const refused = runs.map(({ connection }) => connection.value).find((connection) => connection.state === "refused");
  const isHere = runs.every(({ count }) => count.value > 0);
  return (
    <section class="compare" aria-labelledby="compare-title">
      <h1 class="page-title" id="compare-title">
        Comparison of two runs
      </h1>
      <Fault text={refused?.why} />
      {isHere && <Comparison runs={runs} />}
    </section>
  );
}

/** Compares the runs when all of their events that have come are read: a comparison takes as long as the runs are. */
function useComparison(runs: Pair) {
  const last = useRef<ReturnType<typeof compared> | undefined>(undefined);
  if (!runs.some(({ count, known }) => count.value < known.value)) last.current = compared(runs);
  return last.current;
}

function compared([a, b]: Pair) {
  return { ...compareRuns(a.timeline, b.timeline), costs: [costByRole(a), costByRole(b)] };
}

function Comparison({ runs }: { readonly runs: Pair }) {
  const comparison = useComparison(runs);
  if (comparison === undefined) return <p role="status">Reading the runs.</p>;
  const { left, right, roles, pairs, first, costs } = comparison;
  return (
    <>
      <PairTable caption="Sums of the runs" first="Sum" runs={runs}>
        <PairRow
          name="Status"
          values={runs.map(({ standing }) => standing.value && <StatusBadge status={standing.value.summary.status} />)}
        />
        {textRow("Scheduler", [left.scheduler, right.scheduler])}
        {left.faults + right.faults !== "" && textRow("On the edges", [left.faults, right.faults])}
        {SUMS.map(([name, of, text]) => sumRow(name, [of(left), of(right)], text))}
      </PairTable>
      <section>
        <h2>Cost by role</h2>
        <PairTable caption="Cost by role" first="Role" runs={runs}>
          {roles.slice(0, MOST).map((role) => sumRow(shownLine(role, 80), [costs[0]?.get(role), costs[1]?.get(role)], costText))}
        </PairTable>
        <Rest count={roles.length} most={MOST} of=" roles" />
      </section>
      <section>
        <h2>What they said</h2>
        <p class="soft">
          {first === undefined
            ? "Every activation said the same in both runs."
            : `They first differ at activation #${first.n} of ${shownLine(first.role, 80)}: ${DIFFERENCE_WORDS[first.difference]}.`}
        </p>
        <PairTable caption="What each activation said" first="Activation" runs={runs}>
          {pairs.slice(0, MOST).map(saidRow)}
        </PairTable>
        <Rest count={pairs.length} most={MOST} of=" activations" />
      </section>
    </>
  );
}

const MOST = 500;

const SUMS: readonly (readonly [string, (run: RunTotals) => number, (value: number) => string])[] = [
  ["Cost", ({ known }) => known, costText],
  ["Calls without a known price", ({ unpriced }) => unpriced, counted],
  ["Duration", ({ ms }) => ms, durationText],
  ["Model calls", ({ calls }) => calls, counted],
  ["Input tokens", ({ inputTokens }) => inputTokens, counted],
  ["Output tokens", ({ outputTokens }) => outputTokens, counted],
  ["Activations", ({ activations }) => activations, counted],
  ["Failures", ({ failures }) => failures, counted],
  ["Retries", ({ retries }) => retries, counted],
  ["Messages", ({ messages }) => messages, counted],
  ["Events", ({ events }) => events, counted],
];

const DIFFERENCE_WORDS: Readonly<Record<ActivationPair["difference"], string>> = {
  equal: "the same",
  "said differently": "they say something else",
  "ended differently": "they end otherwise",
  "only left": "the first run has it alone",
  "only right": "the second run has it alone",
};

function costByRole({ timeline }: OpenRun): ReadonlyMap<string, number> {
  const { record, now } = timeline;
  const costs = new Map([...now.roles.keys()].map((name) => [name, 0]));
  for (const { role, cost } of record.activations) costs.set(role, (costs.get(role) ?? 0) + cost);
  return costs;
}

interface PairTableProps {
  readonly caption: string;
  readonly first: string;
  readonly runs: Pair;
  readonly children: ComponentChildren;
}

function PairTable({ caption, first, runs, children }: PairTableProps) {
  const heads = runs.map((run): Column => [
    <a class="run-link strong mono" href={hashOf({ page: "run", run: run.id, panel: FIRST_PANEL })}>
      {run.id}
    </a>,
    "text",
  ]);
  return (
    <DataTable label={caption} columns={[[first, "text"], ...heads, ["Difference", "text"]]}>
      {children}
    </DataTable>
  );
}

interface PairRowProps {
  readonly name: ComponentChildren;
  readonly values: readonly ComponentChildren[];
  readonly difference?: ComponentChildren;
}

function PairRow({ name, values, difference }: PairRowProps) {
  return (
    <tr>
      <th scope="row">{name}</th>
      {values.map((value, nth) => (
        <td key={nth} class="numbers">
          {value ?? <span class="soft">none</span>}
        </td>
      ))}
      <td class="soft">{difference}</td>
    </tr>
  );
}

function textRow(name: string, values: readonly [string, string]) {
  const texts = values.map((value) => (value === "" ? undefined : shownLine(value, 120)));
  return <PairRow name={name} values={texts} difference={values[0] === values[1] ? "the same" : "not the same"} />;
}

function sumRow(name: string, [x, y]: readonly [number | undefined, number | undefined], text: (value: number) => string) {
  const by = x === undefined || y === undefined ? undefined : y - x;
  const difference = by === undefined ? "" : by === 0 ? "the same" : `${text(Math.abs(by))} ${by > 0 ? "more" : "less"}`;
  return (
    <PairRow
      key={name}
      name={name}
      values={[x, y].map((value) => (value === undefined ? undefined : text(value)))}
      difference={difference}
    />
  );
}

function saidRow({ role, n, left, right, leftText, rightText, difference }: ActivationPair) {
  const name = (
    <>
      {shownLine(role, 60)} <span class="soft numbers">#{n}</span>
    </>
  );
  const values = [left && leftText, right && rightText];
  const words = DIFFERENCE_WORDS[difference];
  return (
    <PairRow
      key={`${role}#${n}`}
      name={name}
      values={values}
      difference={difference === "equal" ? words : <span class="badge inline tiny nowrap badge-warn">{words}</span>}
    />
  );
}
