import { useSignal } from "@preact/signals";
import { SHOWN_AT_FIRST, shownText } from "../view/shown-text.ts";
import { counted } from "./amounts.ts";

/** Characters that each press of the button adds. */
const MORE = 200_000;

/**
 * A text of a model, a person or a file. It stands in the document as text and never as HTML, characters that hide or turn text are shown by
 * their number, and a long one appears piece by piece.
 */
export function TextView({ text, label }: { readonly text: string; readonly label: string }) {
  const most = useSignal(SHOWN_AT_FIRST);
  const shown = shownText(text, most.value);
  return (
    <div class="text-view">
      <pre tabIndex={0} role="region" aria-label={label} dir="auto">
        {shown.text}
      </pre>
      {shown.left > 0 && (
        <button type="button" class="button" onClick={() => (most.value += MORE)}>
          Show more ({counted(shown.left)} characters left)
        </button>
      )}
    </div>
  );
}

/** A value of a record as indented JSON. */
export function JsonView({ value, label }: { readonly value: unknown; readonly label: string }) {
  return <TextView text={JSON.stringify(value, undefined, 2) ?? "nothing"} label={label} />;
}
