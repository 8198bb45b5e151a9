import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Pixels: the height of every row, as the style sheet has it. */
const ROW = 28;
const MOST_SPARE = 10;
/** Pixels: browsers draw no element that is much higher. */
const HIGHEST = 10_000_000;

export interface RowWindowProps {
  readonly count: number;
  readonly label: string;
  /** Rows that the box shows at once where there are as many. Default: as many as fit into the space that the box has. */
  readonly most?: number;
  readonly at?: number | undefined;
  /** The entries of the rows `first` to `last`, both included: each is a list item. */
  readonly rows: (first: number, last: number) => ComponentChildren;
}

/** Rows of one height in a box that scrolls. Only the visible rows are in the document. */
export function RowWindow({ count, label, most, at, rows }: RowWindowProps) {
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(most === undefined ? 800 : most * ROW);
  useLayoutEffect(() => {
    if (box.current === null) return;
    const watched = new ResizeObserver(([entry]) => {
      if (entry !== undefined) height.value = entry.contentRect.height;
    });
    watched.observe(box.current);
    return () => watched.disconnect();
  }, [height]);
  const spare = Math.min(MOST_SPARE, most ?? MOST_SPARE);
  const space = Math.min(count * ROW, HIGHEST);
  // Beyond the highest element a pixel of the scroll bar moves more than a pixel of rows.
  const reach = Math.max(1, space - height.value);
  const start = Math.max(0, ((count * ROW - height.value) * Math.min(top.value, reach)) / reach);
  const first = Math.max(0, Math.floor(start / ROW) - spare);
  const last = Math.min(count, Math.ceil((start + height.value) / ROW) + spare) - 1;
  useLayoutEffect(() => {
    if (box.current === null || at === undefined || (at * ROW >= start && (at + 1) * ROW <= start + height.value)) return;
    const wanted = Math.min(Math.max(0, at * ROW - height.value / 2), Math.max(0, count * ROW - height.value));
    box.current.scrollTop = (wanted * reach) / Math.max(1, count * ROW - height.value);
  }, [at]);
  return (
    <div
      class={most === undefined ? "rows" : "rows frame"}
      ref={box}
      style={most === undefined ? undefined : { height: `${Math.min(count, most) * ROW}px` }}
      // A box that shows all of its rows is no stop for the keyboard.
      {...(most !== undefined && count <= most ? {} : { tabIndex: 0, role: "region", "aria-label": label })}
      onScroll={({ currentTarget }) => {
        top.value = currentTarget.scrollTop;
      }}
    >
      <div class="rows-space" style={{ height: `${space}px` }}>
        <ol start={first} style={{ transform: `translateY(${first * ROW - start + Math.min(top.value, reach)}px)` }}>
          {rows(first, last)}
        </ol>
      </div>
    </div>
  );
}
