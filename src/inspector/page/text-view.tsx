import { useSignal } from "@preact/signals";
import { visibleText } from "../../kernel/value-text.ts";
import { SHOWN_AT_FIRST, shownText } from "../view/shown-text.ts";
import { counted } from "./amounts.ts";
import { Button } from "./controls.tsx";

const MORE = 200_000;

/**
 * A text of a model, a person or a file. It is text in the document and never HTML, characters that hide or turn text are shown by
 * their number, and a long one appears piece by piece.
 */
export function TextView({ text, label }: { readonly text: string; readonly label: string }) {
  const most = useSignal(SHOWN_AT_FIRST);
  const shown = shownText(text, most.value);
  return (
    <div class="text-view tight">
      <pre tabIndex={0} role="region" aria-label={label} dir="auto">
        {shown.text}
      </pre>
      {shown.left > 0 && <Button onClick={() => (most.value += MORE)}>Show more ({counted(shown.left)} characters left)</Button>}
    </div>
  );
}

const LIVE = 4_000;

/**
 * A text that grows. A screen reader does not read each piece: the component around it announces the end.
 */
export function LiveTextView({ text, isCut, label }: { readonly text: string; readonly isCut: boolean; readonly label: string }) {
  const end = text.slice(-LIVE);
  const isPart = isCut || end.length < text.length;
  return (
    <div class="text-view text-live">
      <pre tabIndex={0} role="region" aria-label={label} aria-live="off" dir="auto">
        {isPart && "… "}
        {visibleText(end)}
        <span class="caret" aria-hidden="true" />
      </pre>
    </div>
  );
}

export function JsonView({ value, label }: { readonly value: unknown; readonly label: string }) {
  return <TextView text={JSON.stringify(value, undefined, 2) ?? "nothing"} label={label} />;
}
