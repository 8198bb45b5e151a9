import type { ComponentChildren } from "preact";
import type { Message } from "../../../message/message.ts";
import { visibleText } from "../../../kernel/value-text.ts";
import type { MessageList } from "../../view/role-view.ts";
import { shownLine } from "../../view/shown-text.ts";
import { plural } from "../amounts.ts";
import { Choose, ChooseMarked } from "../controls.tsx";
import type { OpenRun, Selection } from "../open-run.ts";
import { RowWindow } from "../row-window.tsx";

const MOST_ROWS = 8;

interface MessagesProps {
  readonly run: OpenRun;
  readonly list: MessageList;
  readonly label: string;
}

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

export function MessageButton({ run, message }: { readonly run: OpenRun; readonly message: Message }) {
  const { id, sentFrom, causeBy, content } = message;
  return (
    <ChooseMarked class="message-line row cells" run={run} what={{ kind: "message", id }}>
      <span class="strong">{sentFrom === "" ? "from outside" : shownLine(sentFrom, 40)}</span>
      <span class="message-cause tiny soft mono">{visibleText(causeBy)}</span>
      <span class="message-text">{shownLine(content, 160)}</span>
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
