import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { visibleText } from "../../kernel/value-text.ts";
import type { RunSummary } from "../../runtime/record/run-summary.ts";
import { agoText, costText, counted, durationText, momentText } from "./amounts.ts";
import { wordsOf } from "./open-run.ts";
import { FIRST_PANEL, hashOf } from "./route.ts";
import { extended, refreshed, type RunList } from "./run-list.ts";
import type { RunSource } from "./run-source.ts";
import { StatusBadge } from "./status.tsx";

/** Milliseconds between two looks at the list of a server. */
const LOOK = 3_000;

/** The list of runs. Two of them can be chosen and compared. */
export function RunsPage({ source }: { readonly source: RunSource }) {
  const list = useSignal<RunList | undefined>(undefined);
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
      <div class="page-title">
        <h1 id="runs-title">Runs</h1>
      </div>
      {fault.value !== undefined && (
        <p class="note note-warn" role="alert">
          {fault.value}
        </p>
      )}
      {runs?.length === 0 && (
        <div class="empty">
          <h2>No runs yet</h2>
          <p>A run that begins appears here.</p>
        </div>
      )}
      {runs !== undefined && runs.length > 0 && <RunTable runs={runs} chosen={chosen.value} choose={choose} />}
      {list.value?.next !== undefined && (
        <button type="button" class="button" onClick={more}>
          Show older runs
        </button>
      )}
      <CompareBar chosen={chosen.value} />
    </section>
  );
}

type Held<T> = { value: T };

/** Reads the list, and looks at it again while it is open. Returns a function that adds the next page. */
function useRuns(source: RunSource, list: Held<RunList | undefined>, fault: Held<string | undefined>): () => void {
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
  return (
    <div class="table-frame">
      <table>
        <caption class="hidden">Runs, the newest first</caption>
        <thead>
          <tr>
            <th scope="col">
              <span class="hidden">Compare</span>
            </th>
            <th scope="col">Run</th>
            <th scope="col">Status</th>
            <th scope="col" class="right">
              Cost
            </th>
            <th scope="col" class="right">
              Calls
            </th>
            <th scope="col" class="right">
              Duration
            </th>
            <th scope="col" class="right">
              Events
            </th>
            <th scope="col">Began</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <RunRow key={run.id} run={run} isChosen={chosen.includes(run.id)} choose={choose} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RunRowProps {
  readonly run: RunSummary;
  readonly isChosen: boolean;
  readonly choose: RunTableProps["choose"];
}

function RunRow({ run, isChosen, choose }: RunRowProps) {
  const { id, idea, parent, started, moved } = run;
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          aria-label={`Compare ${id}`}
          checked={isChosen}
          onChange={({ currentTarget }) => choose(id, currentTarget.checked)}
        />
      </td>
      <th scope="row">
        <a class="run-link run-idea" href={hashOf({ page: "run", run: id, panel: FIRST_PANEL })}>
          {idea === "" ? id : visibleText(idea)}
        </a>
        <span class="run-id">
          {id}
          {parent === undefined ? "" : `, fork of ${parent.runId} after event ${parent.at}`}
        </span>
      </th>
      <td>
        <StatusBadge status={run.status} />
      </td>
      <td class="right">{costText(run.cost, run.unpriced)}</td>
      <td class="right">{counted(run.calls)}</td>
      <td class="right">{started === null || moved === null ? "" : durationText(moved - started)}</td>
      <td class="right">{counted(run.events)}</td>
      <td class="soft">{started === null ? "" : <time title={momentText(started)}>{agoText(started, Date.now())}</time>}</td>
    </tr>
  );
}

function CompareBar({ chosen }: { readonly chosen: readonly string[] }) {
  const [a, b] = chosen;
  if (a === undefined) return null;
  return (
    <div class="compare-bar" role="status">
      {b === undefined ? (
        <span>Choose one more run to compare.</span>
      ) : (
        <>
          <span>Two runs are chosen.</span>
          <a class="button button-main" href={hashOf({ page: "compare", runs: [a, b] })}>
            Compare
          </a>
        </>
      )}
    </div>
  );
}
