import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { FIRST_PANEL, hashOf } from "./route.ts";
import type { RunSource, RunSummary } from "./run-source.ts";

/** The list of runs. */
export function RunsPage({ source }: { readonly source: RunSource }) {
  const runs = useSignal<readonly RunSummary[]>([]);
  const fault = useSignal<string | undefined>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    source.runs(stop.signal).then(
      (found) => {
        runs.value = found;
      },
      (error: unknown) => {
        if (!stop.signal.aborted) fault.value = error instanceof Error ? error.message : String(error);
      },
    );
    return () => stop.abort();
  }, [source]);
  return (
    <section class="runs" aria-labelledby="runs-title">
      <h1 id="runs-title">Runs</h1>
      {fault.value !== undefined && <p role="alert">{fault.value}</p>}
      <table>
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Status</th>
            <th scope="col">Idea</th>
            <th scope="col">Events</th>
          </tr>
        </thead>
        <tbody>
          {runs.value.map((run) => (
            <tr key={run.id}>
              <td>
                <a href={hashOf({ page: "run", run: run.id, panel: FIRST_PANEL })}>{run.id}</a>
              </td>
              <td>{run.status}</td>
              <td>{run.idea}</td>
              <td>{run.events}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
