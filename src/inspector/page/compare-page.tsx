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

type Pair = readonly [OpenRun, OpenRun];

export function ComparePage({ source, ids: [a, b] }: { readonly source: RunSource; readonly ids: readonly [string, string] }) {
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

/** The runs are compared when all of their events that have come are read: a comparison takes as long as the runs are. */
function useComparison([a, b]: Pair) {
  const last = useRef<ReturnType<typeof compareRuns> | undefined>(undefined);
  if (![a, b].some(({ count, known }) => count.value < known.value)) last.current = compareRuns(a.timeline, b.timeline);
  return last.current;
}

function Comparison({ runs }: { readonly runs: Pair }) {
  const comparison = useComparison(runs);
  if (comparison === undefined) return <p role="status">Reading the runs.</p>;
  const { left, right, roles, pairs, first } = comparison;
  const badges = runs.map(({ standing }) => standing.value && <StatusBadge status={standing.value.summary.status} />);
  const sums: readonly Row[] = [
    { name: "Status", values: badges },
    textRow("Scheduler", left.scheduler, right.scheduler),
    ...(left.faults + right.faults === "" ? [] : [textRow("On the edges", left.faults, right.faults)]),
    ...SUMS.map(([name, of, text]) => sumRow(name, [of(left), of(right)], text)),
  ];
  return (
    <>
      <PairTable caption="Sums of the runs" first="Sum" runs={runs} rows={sums} />
      <section>
        <h2>Cost by role</h2>
        <PairTable
          caption="Cost by role"
          first="Role"
          runs={runs}
          rows={roles
            .slice(0, MAX_ROWS)
            .map((role) => sumRow(shownLine(role, 80), [left.costs.get(role), right.costs.get(role)], costText))}
        />
        <Rest count={roles.length} most={MAX_ROWS} of=" roles" />
      </section>
      <section>
        <h2>What they said</h2>
        <p class="soft">
          {first === undefined
            ? "Every activation said the same in both runs."
            : `They first differ at activation #${first.n} of ${shownLine(first.role, 80)}: ${DIFFERENCE_WORDS[first.difference]}.`}
        </p>
        <PairTable caption="What each activation said" first="Activation" runs={runs} rows={pairs.slice(0, MAX_ROWS).map(saidRow)} />
        <Rest count={pairs.length} most={MAX_ROWS} of=" activations" />
      </section>
    </>
  );
}

const MAX_ROWS = 500;

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

interface Row {
  readonly name: ComponentChildren;
  readonly values: readonly ComponentChildren[];
  readonly difference?: ComponentChildren;
}

interface PairTableProps {
  readonly caption: string;
  readonly first: string;
  readonly runs: Pair;
  readonly rows: readonly Row[];
}

function PairTable({ caption, first, runs, rows }: PairTableProps) {
  const columns: readonly Column<Row>[] = [
    [first, "row", ({ name }) => name],
    ...runs.map(({ id }, nth): Column<Row> => [
      <a class="run-link strong mono" href={hashOf({ page: "run", run: id, panel: FIRST_PANEL })}>
        {id}
      </a>,
      "numbers",
      ({ values }) => values[nth] ?? <span class="soft">none</span>,
    ]),
    ["Difference", "soft", ({ difference }) => difference],
  ];
  return <DataTable label={caption} columns={columns} rows={rows} />;
}

function textRow(name: string, left: string, right: string): Row {
  const values = [left, right].map((value) => (value === "" ? undefined : shownLine(value, 120)));
  return { name, values, difference: left === right ? "the same" : "not the same" };
}

function sumRow(name: string, sums: readonly [number | undefined, number | undefined], text: (value: number) => string): Row {
  const [x, y] = sums;
  const by = x === undefined || y === undefined ? undefined : y - x;
  const difference = by === undefined ? "" : by === 0 ? "the same" : `${text(Math.abs(by))} ${by > 0 ? "more" : "less"}`;
  return { name, values: sums.map((value) => (value === undefined ? undefined : text(value))), difference };
}

function saidRow({ role, n, left, right, leftText, rightText, difference }: ActivationPair): Row {
  const name = (
    <>
      {shownLine(role, 60)} <span class="soft numbers">#{n}</span>
    </>
  );
  const words = DIFFERENCE_WORDS[difference];
  const marked = difference === "equal" ? words : <span class="badge inline tiny nowrap badge-warn">{words}</span>;
  return { name, values: [left && leftText, right && rightText], difference: marked };
}
