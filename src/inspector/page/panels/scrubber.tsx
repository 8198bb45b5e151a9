import { useMemo, useRef } from "preact/hooks";
import { visibleText } from "../../../kernel/value-text.ts";
import { densityOf } from "../../view/lanes.ts";
import { momentOf } from "../../view/run-terms.ts";
import { counted } from "../amounts.ts";
import { Button } from "../controls.tsx";
import type { PanelProps } from "../open-run.ts";

const BINS = 240;
const PAGE = 100;

export function Scrubber({ run }: PanelProps) {
  const { timeline, scrubbed } = run;
  const count = run.count.value;
  const shown = run.shown.value;
  if (count === 0) return null;
  const go = (seq: number): void => {
    const to = Math.max(0, seq);
    scrubbed.value = to >= count - 1 ? undefined : to;
  };
  const event = timeline.event(shown);
  const { clock, tick } = timeline.stateAt(shown);
  const moment = clock === "activations" ? "" : `${momentOf(clock, tick)}, `;
  const words = event === undefined ? "" : `${moment}${event.type}${"act" in event ? ` ${visibleText(event.act)}` : ""}`;
  return (
    <section class="scrubber" aria-label="Events in time">
      <div class="flex">
        <Button aria-label="Start: the first event" disabled={shown <= 0} onClick={() => go(0)}>
          Start
        </Button>
        <Button aria-label="One event back" disabled={shown <= 0} onClick={() => go(shown - 1)}>
          ◀
        </Button>
        <Button aria-label="One event on" disabled={scrubbed.value === undefined} onClick={() => go(shown + 1)}>
          ▶
        </Button>
        <Button aria-pressed={scrubbed.value === undefined} onClick={() => go(count)}>
          Follow
        </Button>
      </div>
      <div class="scrubber-track">
        <Density run={run} count={count} />
        <Slider run={run} words={words} go={go} />
      </div>
      <p class="scrubber-words cut small numbers">
        {counted(shown)} / {counted(count - 1)} <span class="soft">{words}</span>
      </p>
    </section>
  );
}

function Slider({ run, words, go }: PanelProps & { readonly words: string; readonly go: (seq: number) => void }) {
  const [count, shown] = [run.count.value, run.shown.value];
  const wanted = useRef<number | undefined>(undefined);
  /** A drag gives more values than frames: only the last one of a frame is shown. */
  const goInFrame = (seq: number): void => {
    const isAsked = wanted.current !== undefined;
    wanted.current = seq;
    if (isAsked) return;
    requestAnimationFrame(() => {
      const to = wanted.current;
      wanted.current = undefined;
      if (to !== undefined) go(to);
    });
  };
  return (
    <input
      type="range"
      min={0}
      max={count - 1}
      step={1}
      value={shown}
      aria-label="Event that is shown"
      aria-valuetext={`Event ${shown} of ${count - 1}: ${words}`}
      onInput={({ currentTarget }) => goInFrame(Number(currentTarget.value))}
      onKeyDown={(pressed) => {
        if (pressed.key !== "PageUp" && pressed.key !== "PageDown") return;
        pressed.preventDefault();
        go(shown + (pressed.key === "PageUp" ? PAGE : -PAGE));
      }}
    />
  );
}

function Density({ run: { timeline }, count }: PanelProps & { readonly count: number }) {
  // A growing run is drawn again when it has grown by the events of one bin.
  const grown = count < BINS ? count : Math.floor(BINS * Math.log(count));
  const bins = useMemo(() => densityOf(timeline, BINS), [timeline, grown]);
  const most = bins.reduce((max, { entries }) => Math.max(max, entries), 1);
  const heightOf = (entries: number): number => (entries / most) * 20;
  return (
    <svg class="density" viewBox={`0 0 ${Math.max(1, bins.length)} 24`} preserveAspectRatio="none" aria-hidden="true">
      {bins.map(({ entries }, nth) => (
        <rect key={nth} x={nth} width={0.8} y={20 - heightOf(entries)} height={heightOf(entries)} />
      ))}
      {bins.map(({ failures }, nth) => failures > 0 && <rect key={nth} class="density-failed" x={nth} width={1} y={20} height={4} />)}
    </svg>
  );
}
