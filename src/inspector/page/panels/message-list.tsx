import type { Message } from "../../../message/message.ts";
import { visibleText } from "../../../kernel/value-text.ts";
import type { MessageList } from "../../view/role-view.ts";
import { shownLine } from "../../view/shown-text.ts";
import { plural } from "../amounts.ts";
import type { OpenRun } from "../open-run.ts";
import { RowWindow } from "../row-window.tsx";

/** Rows of a list of messages that are seen at once. */
const MOST_ROWS = 8;

interface MessagesProps {
  readonly run: OpenRun;
  readonly list: MessageList;
  /** The words that a screen reader says for the list. */
  readonly label: string;
}

/** Messages as rows that open them. */
export function Messages({ run, list, label }: MessagesProps) {
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

/** A message as one line: its sender, its cause and the beginning of its text. */
export function MessageButton({ run, message }: { readonly run: OpenRun; readonly message: Message }) {
  const { id, sentFrom, causeBy, content } = message;
  const selected = run.selection.value;
  return (
    <button
      type="button"
      class="message-line"
      aria-pressed={selected?.kind === "message" && selected.id === id}
      onClick={() => {
        run.selection.value = { kind: "message", id };
      }}
    >
      <span class="message-from">{sentFrom === "" ? "from outside" : shownLine(sentFrom, 40)}</span>
      <span class="message-cause">{visibleText(causeBy)}</span>
      <span class="message-text">{shownLine(content, 160)}</span>
    </button>
  );
}

/** A name of an activation that opens it. */
export function ActivationButton({ run, act }: { readonly run: OpenRun; readonly act: string }) {
  return (
    <button
      type="button"
      class="choose mono"
      onClick={() => {
        run.selection.value = { kind: "activation", act };
      }}
    >
      {shownLine(act, 80)}
    </button>
  );
}
