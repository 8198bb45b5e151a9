import type { Message } from "../../../message/message.ts";
import { visibleText } from "../../../kernel/value-text.ts";
import type { MessageList } from "../../view/role-view.ts";
import { shownLine } from "../../view/shown-text.ts";
import { counted } from "../amounts.ts";
import type { OpenRun } from "../open-run.ts";

/** Messages as buttons that open them. */
export function Messages({ run, list, none }: { readonly run: OpenRun; readonly list: MessageList; readonly none: string }) {
  const { messages, count } = list;
  if (count === 0) return <p class="soft small">{none}</p>;
  return (
    <>
      <ol class="messages">
        {messages.map((message) => (
          <li key={message.id}>
            <MessageButton run={run} message={message} />
          </li>
        ))}
      </ol>
      {count > messages.length && <p class="soft small">and {counted(count - messages.length)} more</p>}
    </>
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
