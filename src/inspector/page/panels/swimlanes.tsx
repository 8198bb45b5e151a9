import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type CauseChain, causeChain } from "../../view/cause-chain.ts";
import { type LaneDrawing, lanesIn } from "../../view/lanes.ts";
import { counted, plural } from "../amounts.ts";
import { Button, Select } from "../controls.tsx";
import type { OpenRun, PanelProps } from "../open-run.ts";
import {
  ArrowLayer,
  BarButtons,
  ClockAxis,
  LANE,
  type LaneFrame,
  LaneName,
  type LayerProps,
  LiveLines,
  MessageButtons,
  yOf,
} from "./lane-drawing.tsx";

const SPANS: readonly [number, ...number[]] = [20, 40, 80, 160, 320, 640, 1_280];
const USUAL = 80;
const SPARE = 2;
/** In a window of more events messages have no button of their own: their arrows and the bars stay. */
const MOST_WITH_MESSAGES = 320;

/** Roles as lanes, activations as bars, messages as arrows. Only what is in the window and in view is in the document. */
export function SwimlanesPanel({ run }: PanelProps) {
  /** Index into the list of spans; undefined shows a short run whole. */
  const zoom = useSignal<number | undefined>(undefined);
  /** The last event of the window; undefined follows the shown one. */
  const end = useSignal<number | undefined>(undefined);
  const box = useSignal({ width: 800, height: 480, top: 0 });
  const shown = run.shown.value;
  const span = SPANS[zoom.value ?? SPANS.findIndex((one) => one >= Math.min(run.count.value, USUAL))] ?? SPANS[0];
  const last = Math.max(span - 1, Math.min(end.value ?? shown, run.count.value - 1));
  const roles = [...run.timeline.now.roles.keys()];
  const first = Math.max(0, Math.floor(box.value.top / LANE) - SPARE);
  const visible = roles.slice(first, Math.ceil((box.value.top + box.value.height) / LANE) + SPARE);
  const frame: LaneFrame = { from: last - span + 1, span, width: box.value.width, top: first };
  const drawing = lanesIn(run.timeline, { from: frame.from, until: last, shown, roles: visible });
  const chain = chainOf(run, shown);
  useEffect(() => {
    const at = selectedEvent(run);
    if (at !== undefined && (at < frame.from || at > last)) end.value = at + Math.floor(span / 2);
  }, [run.selection.value]);
  useEffect(() => {
    end.value = undefined;
  }, [run.scrubbed.value]);
  const move = (events: number): void => {
    const to = Math.max(span - 1, last + events);
    end.value = to >= shown ? undefined : to;
  };
  return (
    <section class="lanes" aria-label="Swimlanes">
      <WindowBar
        frame={frame}
        isLast={last >= shown}
        zoom={zoom}
        move={move}
        words={windowWords(drawing, frame.from, Math.min(last, shown), chain)}
      />
      <LaneView run={run} roles={roles} drawing={drawing} frame={frame} box={box} chain={chain} move={move} />
      <LaneLegend />
    </section>
  );
}

interface WindowBarProps {
  readonly frame: LaneFrame;
  readonly isLast: boolean;
  readonly zoom: Signal<number | undefined>;
  readonly move: (events: number) => void;
  readonly words: string;
}

function WindowBar({ frame, isLast, zoom, move, words }: WindowBarProps) {
  const half = Math.ceil(frame.span / 2);
  return (
    <div class="panel-bar flex" role="toolbar" aria-label="Window">
      <Button onClick={() => move(-half)} disabled={frame.from <= 0}>
        Earlier
      </Button>
      <Button onClick={() => move(half)} disabled={isLast}>
        Later
      </Button>
      <Select
        name="Window"
        value={String(SPANS.indexOf(frame.span))}
        options={SPANS.map((events, nth) => [String(nth), `${counted(events)} events`])}
        onValue={(value) => (zoom.value = Number(value))}
      />
      <p class="soft small numbers" role="status">
        {words}
      </p>
    </div>
  );
}

interface LaneViewProps extends LayerProps {
  readonly roles: readonly string[];
  readonly box: Signal<{ readonly width: number; readonly height: number; readonly top: number }>;
  readonly move: (events: number) => void;
}

function LaneView({ roles, box, move, ...layer }: LaneViewProps) {
  const { run, drawing, frame } = layer;
  const view = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const watched = new ResizeObserver(() => {
      box.value = { ...box.value, width: field.current?.clientWidth ?? 800, height: view.current?.clientHeight ?? 480 };
    });
    for (const one of [view.current, field.current]) if (one !== null) watched.observe(one);
    return () => watched.disconnect();
  }, [box]);
  const height = roles.length * LANE;
  return (
    <div
      class="lane-view"
      ref={view}
      onScroll={({ currentTarget }) => {
        box.value = { ...box.value, top: currentTarget.scrollTop };
      }}
      onWheel={(event) => {
        if (Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
        event.preventDefault();
        move(Math.sign(event.deltaX) * Math.ceil(frame.span / 20));
      }}
    >
      {run.timeline.record.ticks.length > 0 && <ClockAxis {...layer} />}
      <div class="lane-names" style={{ height: `${height}px` }}>
        {drawing.lanes.map((role, lane) => (
          <LaneName key={role} run={run} role={role} top={yOf(frame, lane) - LANE / 2} />
        ))}
      </div>
      <div class="lane-field" ref={field} style={{ height: `${height}px` }}>
        <ArrowLayer {...layer} height={height} />
        {frame.span <= MOST_WITH_MESSAGES && <MessageButtons {...layer} />}
        <BarButtons {...layer} />
        <LiveLines {...layer} />
      </div>
    </div>
  );
}

function LaneLegend() {
  return (
    <p class="lane-legend soft small">
      Bars are activations: <span class="sign mono">✓</span> took effect, <span class="sign mono">✕</span> failed,{" "}
      <span class="sign mono">…</span> under way. Arrows are messages: a head is taken, a ring waits, a cross halfway was lost by the edges,
      a cross at the end was dropped. Long dashes: delayed. Arrow keys go from bar to bar.
    </p>
  );
}

function windowWords({ bars, arrows, omitted }: LaneDrawing, from: number, until: number, chain: CauseChain | undefined): string {
  const many = omitted === 0 ? "" : `, and ${plural(omitted, "arrow")} more than are drawn`;
  const lit =
    chain === undefined
      ? ""
      : ` Chain of causes: ${plural(chain.messages.size, "message")}, ${plural(chain.activations.size, "activation")}${chain.isCut ? ", and more" : ""}.`;
  return `Events ${counted(Math.max(0, from))} to ${counted(until)}: ${plural(bars.length, "activation")}, ${plural(arrows.length, "arrow")}${many}.${lit}`;
}

function selectedEvent({ timeline, selection }: OpenRun): number | undefined {
  const chosen = selection.value;
  switch (chosen?.kind) {
    case "message":
      return timeline.record.sentWithId(chosen.id)?.seq;
    case "activation":
    case "step":
      return timeline.record.activationNamed(chosen.act)?.from;
    case "event":
      return chosen.seq;
    default:
      return undefined;
  }
}

function chainOf({ timeline, selection }: OpenRun, shown: number): CauseChain | undefined {
  const chosen = selection.value;
  if (chosen?.kind !== "message" && chosen?.kind !== "activation") return undefined;
  const { record } = timeline;
  const index = chosen.kind === "message" ? record.sentWithId(chosen.id)?.index : record.activationNamed(chosen.act)?.index;
  return index === undefined ? undefined : causeChain(timeline, { kind: chosen.kind, index }, shown);
}
