import { useSignal } from "@preact/signals";
import { SHOWN_AT_FIRST, shownText } from "../../view/shown-text.ts";
import { counted } from "../amounts.ts";

/** A text of a model: never as HTML, what would steer or hide made visible, and cut until a person asks for more. */
export function LongText({ text, label }: { readonly text: string; readonly label: string }) {
  const most = useSignal(SHOWN_AT_FIRST);
  const shown = shownText(text, most.value);
  return (
    <div class="long-text">
      <pre tabIndex={0} role="region" aria-label={label}>
        {shown.text}
      </pre>
      {shown.left > 0 && (
        <button
          type="button"
          class="button"
          onClick={() => {
            most.value += SHOWN_AT_FIRST * 5;
          }}
        >
          Show more of {counted(shown.left)} left characters
        </button>
      )}
    </div>
  );
}
