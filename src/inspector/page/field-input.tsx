import { useId } from "preact/hooks";
import { shownText } from "../../kernel/value-text.ts";
import type { FormField } from "../../tool/form-fields.ts";

interface FieldInputProps {
  readonly field: FormField;
  readonly text: string;
  readonly fault: string | undefined;
  readonly onText: (text: string) => void;
}

export function FieldInput({ field, text, fault, onText }: FieldInputProps) {
  const id = useId();
  const label = field.name === "" ? "Your answer" : field.name;
  const described = `${id}-wanted${fault === undefined ? "" : ` ${id}-fault`}`;
  const shared = {
    id,
    class: "field-input",
    "aria-describedby": described,
    "aria-invalid": fault !== undefined,
    "aria-required": field.isRequired,
    value: text,
  } as const;
  return (
    <div class="field tight">
      <label for={id}>
        {shownText(label, 200)}
        {!field.isRequired && <span class="soft"> (may be left out)</span>}
      </label>
      {control(field, shared, onText)}
      <p id={`${id}-wanted`} class="small soft">
        {field.description === undefined ? "" : `${shownText(field.description, 500)} `}
        {`Wanted: ${shownText(field.wanted, 500)}.`}
      </p>
      {fault !== undefined && (
        <p id={`${id}-fault`} class="small bad" role="alert">
          {fault}
        </p>
      )}
    </div>
  );
}

interface Shared {
  readonly id: string;
  readonly class: string;
  readonly value: string;
}

function control({ kind, choices, isRequired }: FormField, shared: Shared, onText: (text: string) => void) {
  const listen = { onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => onText(currentTarget.value) };
  switch (kind) {
    case "choice":
    case "yes-no":
      return (
        <select {...shared} {...listen}>
          <option value="">{isRequired ? "Choose" : "Leave out"}</option>
          {(kind === "choice"
            ? (choices ?? []).map((choice) => (typeof choice === "string" ? choice : JSON.stringify(choice)))
            : ["yes", "no"]
          ).map((value) => (
            <option key={value} value={value}>
              {shownText(value, 200)}
            </option>
          ))}
        </select>
      );
    case "list":
    case "json":
      return <textarea {...shared} {...listen} rows={4} placeholder={kind === "list" ? "One entry on each line" : "JSON"} />;
    case "whole":
    case "number":
      return <input {...shared} {...listen} type="text" inputMode={kind === "whole" ? "numeric" : "decimal"} />;
    case "text":
      return <textarea {...shared} {...listen} rows={1} />;
  }
}
