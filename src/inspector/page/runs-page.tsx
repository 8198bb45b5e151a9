import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { visibleText } from "../../kernel/value-text.ts";
import type { RunSummary } from "../../runtime/record/run-summary.ts";
import { agoText, costText, counted, durationText, momentText } from "./amounts.ts";
import { Button, type Column, DataTable, Fault, NUMBER } from "./controls.tsx";
import { wordsOf } from "./open-run.ts";
import { FIRST_PANEL, hashOf } from "./route.ts";
import type { RunPage, RunSource } from "./run-source.ts";
import { StatusBadge } from "./status.tsx";

const LOOK = 3_000;

export function RunsPage({ source }: { readonly source: RunSource }) {
  const list = useSignal<RunPage | undefined>(undefined);
  const fault = useSignal<string | undefined>(undefined);
  const chosen = useSignal<readonly string[]>([]);
  const more = useRuns(source, list, fault);
  const choose = (id: string, isChosen: boolean): void => {
    const others = chosen.value.filter((one) => one !== id);
    chosen.value = isChosen ? [...others, id].slice(-2) : others;
  };
  const runs = list.value?.runs;
  return (
    <section class="runs" aria-labelledby="runs-title">
      <h1 class="page-title" id="runs-title">
        Runs
      </h1>
      <Fault text={fault.value} tone="warn" />
      {runs?.length === 0 && (
        <div class="empty soft">
          <h2>No runs yet</h2>
          <p>A run that begins appears here.</p>
        </div>
      )}
      {runs !== undefined && runs.length > 0 && <RunTable runs={runs} chosen={chosen.value} choose={choose} />}
      {list.value?.next !== undefined && <Button onClick={more}>Show older runs</Button>}
      <CompareBar chosen={chosen.value} />
    </section>
  );
}

type Held<T> = { value: T };

/** Reads the list, and looks at it again while it is open. Returns a function that adds the next page. */
function useRuns(source: RunSource, list: Held<RunPage | undefined>, fault: Held<string | undefined>): () => void {
  const stop = useSignal(new AbortController());
  const isReading = useSignal(false);
  const read = async (cursor: string | undefined): Promise<void> => {
    // An answer that comes late must not replace a newer one.
    if (isReading.peek()) return;
    isReading.value = true;
    try {
      const page = await source.runs(cursor, stop.value.signal);
      list.value = cursor === undefined ? refreshed(list.value, page) : extended(list.value, page);
      fault.value = undefined;
    } catch (error) {
      if (!stop.value.signal.aborted) fault.value = wordsOf(error);
    } finally {
      isReading.value = false;
    }
  };
  useEffect(() => {
    stop.value = new AbortController();
    void read(undefined);
    const timer = source.kind === "live" ? setInterval(() => document.hidden || void read(undefined), LOOK) : undefined;
    return () => {
      clearInterval(timer);
      stop.value.abort();
    };
  }, [source]);
  return () => void read(list.value?.next);
}

interface RunTableProps {
  readonly runs: readonly RunSummary[];
  readonly chosen: readonly string[];
  readonly choose: (id: string, isChosen: boolean) => void;
}

function RunTable({ runs, chosen, choose }: RunTableProps) {
  const compare: Column<RunSummary> = [
    <span class="hidden">Compare</span>,
    undefined,
    ({ id }) => (
      <input
        type="checkbox"
        aria-label={`Compare ${id}`}
        checked={chosen.includes(id)}
        onChange={({ currentTarget }) => choose(id, currentTarget.checked)}
      />
    ),
  ];
  return <DataTable label="Runs, the newest first" columns={[compare, ...COLUMNS]} rows={runs} keyOf={({ id }) => id} />;
}

const COLUMNS: readonly Column<RunSummary>[] = [
  ["Run", "row", (run) => <RunLink run={run} />],
  ["Status", undefined, ({ status }) => <StatusBadge status={status} />],
  ["Cost", NUMBER, ({ cost, unpriced }) => costText(cost, unpriced)],
  ["Calls", NUMBER, ({ calls }) => counted(calls)],
  ["Duration", NUMBER, ({ started, moved }) => (started === null || moved === null ? "" : durationText(moved - started))],
  ["Events", NUMBER, ({ events }) => counted(events)],
  [
    "Began",
    "soft nowrap",
    ({ started }) => (started === null ? "" : <time title={momentText(started)}>{agoText(started, Date.now())}</time>),
  ],
];

function RunLink({ run: { id, idea, parent } }: { readonly run: RunSummary }) {
  return (
    <>
      <a class="run-link strong cut-two" href={hashOf({ page: "run", run: id, panel: FIRST_PANEL })}>
        {idea === "" ? id : visibleText(idea)}
      </a>
      <span class="tiny soft mono nowrap">
        {id}
        {parent === undefined ? "" : `, fork of ${parent.runId} after event ${parent.at}`}
      </span>
    </>
  );
}

function CompareBar({ chosen }: { readonly chosen: readonly string[] }) {
  const [a, b] = chosen;
  if (a === undefined) return null;
  return (
    <div class="compare-bar flex small" role="status">
      {b === undefined ? (
        <span>Choose one more run to compare.</span>
      ) : (
        <>
          <span>Two runs are chosen.</span>
          <a class="button inline small strong button-main" href={hashOf({ page: "compare", runs: [a, b] })}>
            Compare
          </a>
        </>
      )}
    </div>
  );
}

/** Returns a list after its newest runs were read again: new runs are in it, and runs that were removed meanwhile are not. */
export function refreshed(known: RunPage | undefined, { runs, next }: RunPage): RunPage {
  const last = runs.at(-1);
  const end = known?.runs.findIndex(({ id }) => id === last?.id) ?? -1;
  // Without a next page it is the whole list. If the last run is unknown, the known runs are all on later pages.
  if (known === undefined || next === undefined || end === -1) return { runs, ...(next === undefined ? {} : { next }) };
  return { runs: [...runs, ...known.runs.slice(end + 1)], ...(known.next === undefined ? {} : { next: known.next }) };
}

export function extended(known: RunPage | undefined, { runs, next }: RunPage): RunPage {
  const added = new Set(runs.map(({ id }) => id));
  return { runs: [...(known?.runs ?? []).filter(({ id }) => !added.has(id)), ...runs], ...(next === undefined ? {} : { next }) };
}
