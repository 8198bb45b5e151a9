import { useEffect, useMemo } from "preact/hooks";
import { OpenRun } from "./open-run.ts";
import { PANELS } from "./panels.ts";
import { Scrubber } from "./panels/scrubber.tsx";
import { hashOf } from "./route.ts";
import type { RunSource } from "./run-source.ts";

/** One run: the tabs of its panels, and the panel that the address names. */
export function RunPage({ source, id, panel }: { readonly source: RunSource; readonly id: string; readonly panel: string }) {
  const run = useMemo(() => new OpenRun(id), [id]);
  useEffect(() => {
    const stop = new AbortController();
    void run.watch(source, stop.signal);
    return () => stop.abort();
  }, [run, source]);
  const chosen = PANELS.find((one) => one.id === panel) ?? PANELS[0];
  const connection = run.connection.value;
  if (connection.state === "refused") return <p role="alert">{connection.why}</p>;
  return (
    <section class="run" aria-label={`Run ${id}`}>
      <nav class="tabs" aria-label="Views of the run">
        {PANELS.map((one) => (
          <a key={one.id} href={hashOf({ page: "run", run: id, panel: one.id })} aria-current={one === chosen ? "page" : undefined}>
            {one.title}
          </a>
        ))}
      </nav>
      {chosen !== undefined && <chosen.Component run={run} />}
      <Scrubber run={run} />
    </section>
  );
}
