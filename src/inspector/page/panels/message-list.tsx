import type { ComponentChildren } from "preact";
import type { Message } from "../../../message/message.ts";
import { visibleText } from "../../../kernel/value-text.ts";
import type { MessageList } from "../../view/role-graph.ts";
import { shownLine } from "../../view/shown-text.ts";
import { spokenLine } from "../../view/spoken.ts";
import { plural } from "../amounts.ts";
import { Choose, ChooseMarked } from "../controls.tsx";
import type { OpenRun, Selection } from "../open-run.ts";
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

const MOST_ROWS = 8;

export function Messages({ run, list, label }: { readonly run: OpenRun; readonly list: MessageList; readonly label: string }) {
  const { count, part } = list;
  if (count === 0) return <p class="soft small">Empty.</p>;
  return (
    <RowWindow
      count={count}
      label={`${label}: ${plural(count, "message")}`}
      most={MOST_ROWS}
      rows={(first, last) =>
        part(first, last).map((message) => (
          <li key={message.id}>
            <MessageButton run={run} message={message} />
          </li>
        ))
      }
    />
  );
}

export function MessageButton({ run, message }: { readonly run: OpenRun; readonly message: Message }) {
  const { id, sentFrom, causeBy } = message;
  return (
    <ChooseMarked class="message-line row cells" run={run} what={{ kind: "message", id }}>
      <span class="strong">{sentFrom === "" ? "from outside" : shownLine(sentFrom, 40)}</span>
      <span class="message-cause tiny soft mono">{visibleText(causeBy)}</span>
      <span class="message-text">{spokenLine(message, 160)}</span>
    </ChooseMarked>
  );
}

export function TwoParts<T>({ run, label, entries, chosen, more, children }: TwoPartsProps<T>) {
  return (
    <div class="panel-two">
      <nav class="panel-list" aria-label={label}>
        <ul>
          {entries.map(({ of, what, name, words }) => (
            <li key={JSON.stringify(what)}>
              <Choose class="panel-item row" run={run} what={what} aria-current={of === chosen ? "true" : undefined}>
                <span class="small strong">{name}</span>
                <span class="soft small numbers">{words}</span>
              </Choose>
            </li>
          ))}
        </ul>
        {more}
      </nav>
      {children}
    </div>
  );
}

interface TwoPartsProps<T> {
  readonly run: OpenRun;
  readonly label: string;
  readonly entries: readonly { readonly of: T; readonly what: Selection; readonly name: ComponentChildren; readonly words: string }[];
  readonly chosen: T;
  readonly more?: ComponentChildren;
  readonly children: ComponentChildren;
}

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
