import { useEffect, useMemo } from "preact/hooks";
import { shownText, visibleText } from "../../kernel/value-text.ts";
import type { RunState } from "../../runtime/record/run-state.ts";
import { faultCountsText, schedulerOf, tickText } from "../view/run-terms.ts";
import { shownLine } from "../view/shown-text.ts";
import { costText, counted, durationText, plural } from "./amounts.ts";
import { Button, type Fact, Facts, Fault, Form, Select, TextField, useTask } from "./controls.tsx";
import { Drawer } from "./drawer.tsx";
import { OpenRun } from "./open-run.ts";
import { EventsPanel } from "./events-panel.tsx";
import { BoardPanel } from "./panels/board.tsx";
import { ConversationPanel } from "./panels/conversation.tsx";
import { CostsPanel } from "./panels/costs.tsx";
import { FilesPanel } from "./panels/files.tsx";
import { GraphPanel } from "./panels/graph.tsx";
import { RolesPanel } from "./panels/roles.tsx";
import { Scrubber } from "./panels/scrubber.tsx";
import { SwimlanesPanel } from "./panels/swimlanes.tsx";
import { Questions } from "./questions.tsx";
import { FIRST_PANEL, hashOf } from "./route.ts";
import type { RunActions, RunSource } from "./run-source.ts";
import { ConnectionBadge, Icon, type IconName, StatusBadge } from "./status.tsx";
import { useSignal } from "@preact/signals";

export const PANELS = [
  { id: FIRST_PANEL, title: "Conversation", Component: ConversationPanel },
  { id: "lanes", title: "Swimlanes", Component: SwimlanesPanel },
  { id: "events", title: "Events", Component: EventsPanel },
  { id: "graph", title: "Graph", Component: GraphPanel },
  { id: "roles", title: "Roles", Component: RolesPanel },
  { id: "board", title: "Board", Component: BoardPanel },
  { id: "files", title: "Files", Component: FilesPanel },
  { id: "costs", title: "Costs", Component: CostsPanel },
] as const;

/** Milliseconds after new events until the server is asked for the state of the run. */
const CALM = 300;

export function RunPage({ source, id, panel }: { readonly source: RunSource; readonly id: string; readonly panel: string }) {
  const run = useMemo(() => new OpenRun(id), [id]);
  const ask = useStanding(run, source);
  const chosen = PANELS.find((one) => one.id === panel) ?? PANELS[0];
  const connection = run.connection.value;
  if (connection.state === "refused" && run.count.value === 0)
    return (
      <div class="empty soft" role="alert">
        <h1>This run cannot be shown</h1>
        <p>{connection.why}</p>
        <p>
          <a href={hashOf({ page: "runs" })}>All runs</a>
        </p>
      </div>
    );
  return (
    <section class="run" aria-label={`Run ${id}`}>
      <RunHead run={run} source={source} ask={ask} />
      <nav class="tabs" aria-label="Views of the run">
        {PANELS.filter((one) => one.id !== "board" || one === chosen || hasBoard(run)).map((one) => (
          <a key={one.id} href={hashOf({ page: "run", run: id, panel: one.id })} aria-current={one === chosen ? "page" : undefined}>
            {one.title}
          </a>
        ))}
      </nav>
      <div class="run-body">
        <div class="panel">{run.count.value === 0 ? <Coming run={run} /> : <chosen.Component run={run} actions={source.actions} />}</div>
        {(chosen.id !== "roles" || run.selection.value?.kind !== "role") && <Drawer run={run} source={source} />}
      </div>
      <Scrubber run={run} />
    </section>
  );
}

function hasBoard({ count, timeline }: OpenRun): boolean {
  return count.value > 0 && timeline.now.board.size + timeline.now.board.noteCount > 0;
}

/** Replaces a panel until the first event has come: an empty panel would say that the run has none. */
function Coming({ run }: { readonly run: OpenRun }) {
  const events = run.standing.value?.summary.events;
  return (
    <div class="empty soft" role="status">
      <h2>{events === 0 ? "The run has no events yet" : "Reading the run"}</h2>
      <p>{events === undefined || events === 0 ? "Its events appear here as they come." : `On their way: ${plural(events, "event")}.`}</p>
    </div>
  );
}

/** Watches a run, and asks for its state now and after each pause in its events. Returns a function that asks at once. */
function useStanding(run: OpenRun, source: RunSource): () => void {
  const stop = useMemo(() => new AbortController(), [run, source]);
  const count = run.count.value;
  const { state } = run.connection.value;
  useEffect(() => {
    void run.watch(source, stop.signal);
    return () => stop.abort();
  }, [run, source]);
  useEffect(() => {
    const timer = setTimeout(() => void run.ask(source, stop.signal), count === 0 ? 0 : CALM);
    return () => clearTimeout(timer);
  }, [run, source, count, state]);
  return () => void run.ask(source, stop.signal);
}

function RunHead({ run, source, ask }: { readonly run: OpenRun; readonly source: RunSource; readonly ask: () => void }) {
  const summary = run.standing.value?.summary;
  const connection = run.connection.value;
  return (
    <header class="run-head">
      <div class="run-title flex">
        <h1 class="cut-two">{summary === undefined ? run.id : visibleText(summary.idea === "" ? run.id : summary.idea)}</h1>
        {source.actions !== undefined && <RunActionBar run={run} actions={source.actions} ask={ask} />}
      </div>
      <RunFacts run={run} />
      <Reading run={run} />
      <div class="run-notes stack">
        {connection.state === "lost" && (
          <p class="note frame small note-warn" role="status">
            {connection.why} {plural(run.count.value, "event")} are here.
          </p>
        )}
        <Fault text={connection.state === "refused" ? connection.why : undefined} />
        {summary?.error !== undefined && summary.status !== "waiting" && (
          <p class="note frame small note-bad">
            {summary.error.code}: {visibleText(summary.error.message)}
          </p>
        )}
        {summary?.failures?.map(({ act, code, message }) => (
          <p key={act} class="note frame small note-bad">
            {visibleText(act)} failed: {code}: {visibleText(message)}
          </p>
        ))}
        <Questions run={run} actions={source.actions} ask={ask} />
      </div>
    </header>
  );
}

/** Fewer events that are not here yet come in a moment: a bar would only flicker. */
const SEEN = 1_000;

function Reading({ run }: { readonly run: OpenRun }) {
  const [here, all] = [run.count.value, eventsInAll(run)];
  if (here === 0 || all - here < SEEN || run.connection.value.state === "refused") return null;
  return <progress class="reading" value={here} max={all} aria-label="Events that have been read" />;
}

function eventsInAll(run: OpenRun): number {
  return Math.max(run.known.value, run.standing.value?.summary.events ?? 0);
}

function RunFacts({ run }: { readonly run: OpenRun }) {
  const { timeline, standing, connection } = run;
  const summary = standing.value?.summary;
  const began = summary?.started ?? timeline.event(0)?.time;
  const last = timeline.event(run.count.value - 1);
  const [here, all] = [run.count.value, eventsInAll(run)];
  const facts: readonly Fact[] = [
    summary && ["Cost", costText(summary.cost, summary.unpriced)],
    summary && ["Calls", counted(summary.calls)],
    summary && ["Tokens", counted(summary.tokens)],
    began !== undefined && last !== undefined && ["Duration", durationText(Math.max(0, last.time - began))],
    ["Events", here < all ? `${counted(here)} of ${counted(all)}` : counted(here)],
    ...(here > 0 ? termsOf(timeline.now) : []),
  ];
  return (
    <div class="facts flex small">
      {summary !== undefined && <StatusBadge status={summary.status} />}
      <ConnectionBadge connection={connection.value} />
      <Facts class="facts flex small" facts={facts} />
      {summary?.parent !== undefined && (
        <a class="small" href={hashOf({ page: "run", run: summary.parent.runId, panel: FIRST_PANEL })}>
          Fork of {summary.parent.runId} after event {summary.parent.at}
        </a>
      )}
    </div>
  );
}

function termsOf(now: RunState): readonly Fact[] {
  return [
    ["Scheduler", shownLine(schedulerOf(now), 100)],
    now.clock !== "activations" && [now.clock === "rounds" ? "Rounds" : "Time", tickText(now.tick)],
    now.edges.length > 0 && ["On the edges", faultCountsText(now.faults)],
  ];
}

interface RunActionsProps {
  readonly run: OpenRun;
  readonly actions: RunActions;
  readonly ask: () => void;
}

function RunActionBar(props: RunActionsProps) {
  const { run, actions, ask } = props;
  const task = useTask();
  const isSaying = useSignal(false);
  const status = run.standing.value?.summary.status;
  const act = (icon: IconName, word: string, work: (id: string) => Promise<void>, look?: "main") => (
    <Button look={look} disabled={task.isBusy} onClick={() => task.start(() => work(run.id).then(ask))}>
      <Icon name={icon} size={12} /> {word}
    </Button>
  );
  const canResume =
    (status !== undefined && RESTING.has(status)) || (status === "finished" && run.count.value > 0 && run.timeline.now.ready.size > 0);
  return (
    <>
      <div class="run-actions flex" role="group" aria-label="Actions on the run">
        <Button aria-expanded={isSaying.value} onClick={() => (isSaying.value = !isSaying.value)}>
          <Icon name="say" size={12} /> Say something
        </Button>
        {status === "running" && act("pause", "Pause", actions.pause)}
        {status === "paused" && act("run", "Proceed", actions.proceed, "main")}
        {(status === "running" || status === "paused") && act("stop", "Stop", actions.stop)}
        {canResume && act("run", "Resume", actions.resume, "main")}
      </div>
      <div class="run-action-words">
        <Fault text={task.fault} />
        {isSaying.value && <PublishForm {...props} close={() => (isSaying.value = false)} />}
      </div>
    </>
  );
}

/** States from which a run can be resumed. A finished run can once a role has mail again. */
const RESTING: ReadonlySet<string> = new Set(["waiting", "rounds", "budget", "stopped", "failed", "open"]);

function PublishForm({ run, actions, ask, close }: RunActionsProps & { readonly close: () => void }) {
  const text = useSignal("");
  const to = useSignal("");
  const reported = useSignal<string | undefined>(undefined);
  const task = useTask();
  const publish = async (): Promise<void> => {
    const { recipients, waits } = await actions.publish(run.id, text.value, to.value === "" ? [] : [to.value]);
    const names =
      recipients.length === 0 ? "No role watches for it." : `It goes to ${recipients.map((name) => shownText(name, 60)).join(", ")}.`;
    reported.value = `Published. ${names}${waits ? " It is read when the run is resumed." : ""}`;
    text.value = "";
    ask();
  };
  const roles = run.standing.value?.summary.roles ?? [];
  const options = roles.map((name) => [name, shownText(name, 60)] as const);
  return (
    <Form
      aria-label="Say something to the run"
      task={task}
      submit={() => task.start(publish)}
      verb="Publish"
      isOff={text.value.trim() === ""}
      cancel={["Close", close]}
      beside={
        <Select
          class="field-line inline small"
          name="To"
          value={to.value}
          options={[["", "Whoever watches for it"], ...options]}
          onValue={(name) => (to.value = name)}
        />
      }
    >
      <TextField name="Message" text={text} rows={3} required />
      <p class="small" role="status">
        {reported.value}
      </p>
    </Form>
  );
}
