import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren, ComponentProps } from "preact";
import { useMemo } from "preact/hooks";
import { type OpenRun, type Selection, wordsOf } from "./open-run.ts";
import { visibleText } from "../../kernel/value-text.ts";
import { SHOWN_AT_FIRST, shownText } from "../view/shown-text.ts";
import { counted } from "./amounts.ts";

export function Button({ look, ...rest }: ComponentProps<"button"> & { readonly look?: "main" | "plain" | undefined }) {
  return <button type="button" {...rest} class={`button inline small strong nowrap${look === undefined ? "" : ` button-${look}`}`} />;
}

interface ChooseProps extends ComponentProps<"button"> {
  readonly run: OpenRun;
  readonly what: Selection;
}

export function Choose({ run, what, ...rest }: ChooseProps) {
  return <button type="button" class="choose" {...rest} onClick={() => (run.selection.value = what)} />;
}

export function ChooseMarked(props: ChooseProps) {
  const selected = props.run.selection.value;
  return <Choose aria-pressed={selected !== undefined && JSON.stringify(selected) === JSON.stringify(props.what)} {...props} />;
}

export function useTask() {
  const isBusy = useSignal(false);
  const fault = useSignal<string | undefined>(undefined);
  const start = async (work: () => Promise<void>): Promise<void> => {
    if (isBusy.value) return;
    isBusy.value = true;
    fault.value = undefined;
    try {
      await work();
    } catch (error) {
      fault.value = wordsOf(error);
    } finally {
      isBusy.value = false;
    }
  };
  return { isBusy: isBusy.value, fault: fault.value, start: (work: () => Promise<void>) => void start(work) };
}

/** The words of a fault. A screen reader says them at once. */
export function Fault({ text, tone = "bad" }: { readonly text: string | undefined; readonly tone?: "bad" | "warn" }) {
  if (text === undefined) return null;
  return (
    <p class={`note frame small note-${tone}`} role="alert">
      {text}
    </p>
  );
}

interface FormProps extends Omit<ComponentProps<"form">, "onSubmit"> {
  readonly task: ReturnType<typeof useTask>;
  readonly verb: string;
  readonly submit: () => void;
  readonly fault?: string | undefined;
  readonly isOff?: boolean;
  readonly cancel?: readonly [word: string, close: () => void];
  readonly beside?: ComponentChildren;
}

export function Form({ task, verb, submit, fault, isOff = false, cancel, beside, children, ...rest }: FormProps) {
  return (
    <form
      class="form frame stack"
      {...rest}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {children}
      <Fault text={fault ?? task.fault} />
      <div class="form-end flex">
        {beside}
        {cancel !== undefined && <Button onClick={cancel[1]}>{cancel[0]}</Button>}
        <Button type="submit" look="main" disabled={task.isBusy || isOff}>
          {verb}
        </Button>
      </div>
    </form>
  );
}

interface TextFieldProps extends Omit<ComponentProps<"textarea">, "name"> {
  readonly type?: "password";
  readonly name: string;
  readonly text: Signal<string>;
}

export function TextField({ name, text, ...rest }: TextFieldProps) {
  const Input = rest.rows === undefined ? "input" : "textarea";
  const listen = {
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => (text.value = currentTarget.value),
  };
  return (
    <label class="field tight">
      <span class="strong">{name}</span>
      <Input class="field-input" {...(rest as object)} value={text.value} {...listen} />
    </label>
  );
}

interface SelectProps {
  readonly name: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onValue: (value: string) => void;
  readonly class?: string;
}

export function Select({ name, value, options, onValue, class: look = "panel-choice inline small soft" }: SelectProps) {
  return (
    <label class={look}>
      <span>{name}</span>
      <select value={value} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Facts({ facts, class: look = "detail-facts tight" }: { readonly facts: readonly Fact[]; readonly class?: string }) {
  return (
    <dl class={look}>
      {facts.map(
        (fact) =>
          fact !== undefined &&
          fact !== false && (
            <div key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

export type Fact = readonly [string, ComponentChildren] | false | undefined;

export function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** A column: its title, the class of its cells (`row` for the head of a row), and the content of a cell. */
export type Column<Row> = readonly [title: ComponentChildren, look: string | undefined, cell: (row: Row) => ComponentChildren];

export const NUMBER = "right numbers";

interface DataTableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf?: (row: Row) => string;
  readonly lookOf?: (row: Row) => string;
}

/** A table in a frame that scrolls by itself and can be focused, so that a keyboard can scroll it. */
export function DataTable<Row>({ label, columns, rows, keyOf, lookOf }: DataTableProps<Row>) {
  return (
    <div class="table-frame frame" tabIndex={0} role="region" aria-label={label}>
      <table>
        <caption class="hidden">{label}</caption>
        <thead>
          <tr>
            {columns.map(([title, look], nth) => (
              <th key={nth} scope="col" class={look === NUMBER ? "right" : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={keyOf?.(row) ?? index} class={lookOf?.(row)}>
              {columns.map(([, look, cell], nth) => {
                const [Cell, kind] = look === "row" ? (["th", { scope: "row" }] as const) : (["td", { class: look }] as const);
                return (
                  <Cell key={nth} {...kind}>
                    {cell(row)}
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const MORE = 200_000;

interface TextViewProps {
  readonly text: string;
  readonly label: string;
  readonly as?: (text: string) => ComponentChildren;
}

/** Text of a model, a person or a file is never HTML, and characters that hide or turn text are shown by their number. */
export function TextView({ text, label, as }: TextViewProps) {
  const most = useSignal(SHOWN_AT_FIRST);
  const { text: beginning, left } = shownText(text, most.value);
  const body = useMemo(() => as?.(beginning) ?? beginning, [beginning, as]);
  const Box = as === undefined ? "pre" : "div";
  return (
    <div class="text-view tight">
      <Box class={as && "markdown stack"} tabIndex={0} role="region" aria-label={label} dir="auto">
        {body}
      </Box>
      {left > 0 && <Button onClick={() => (most.value += MORE)}>Show more ({counted(left)} characters left)</Button>}
    </div>
  );
}

const LIVE = 4_000;

/** A screen reader does not read each piece: the component around it announces the end. */
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
