import { type SpendingRow, spendingAt } from "../../view/spending.ts";
import { shownLine } from "../../view/shown-text.ts";
import { costText, counted, plural, shareText } from "../amounts.ts";
import type { PanelProps } from "../panels.ts";
import { type Column, DataTable } from "./data-table.tsx";

/** The cost of the run after the shown event, by role and by model. */
export function CostsPanel({ run }: PanelProps) {
  const { roles, models, total, budget, held, uncertain, saved } = spendingAt(run.timeline, run.shown.value);
  const facts: readonly (readonly [string, string])[] = [
    ["Cost", costText(total.known, total.unpriced)],
    ...(budget === undefined ? [] : [["Budget", costText(budget)] as const]),
    ["Tokens", `${counted(total.inputTokens)} in, ${counted(total.outputTokens)} out`],
    ...(total.cachedTokens > 0 ? [["From a cache", counted(total.cachedTokens)] as const] : []),
    ["Calls", `${counted(total.calls)}${total.retries > 0 ? `, ${plural(total.retries, "retry", "retries")}` : ""}`],
    ...(held > 0 ? [["Reserved", `${costText(held)} for calls under way`] as const] : []),
    ...(uncertain > 0 ? [["Uncertain", `${costText(uncertain)} for calls in flight when a process died`] as const] : []),
    ...(saved > 0 ? [["Saved", `${costText(saved)} by answers of another run`] as const] : []),
  ];
  return (
    <div class="costs">
      <dl class="cost-facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="numbers">{value}</dd>
          </div>
        ))}
      </dl>
      {budget !== undefined && budget > 0 && (
        <p class="cost-budget small">
          <label>
            Of the budget <meter min={0} max={budget} value={Math.min(budget, total.known)} /> {shareText(total.known / budget)}
          </label>
        </p>
      )}
      <SpendingTable title="By role" head="Role" rows={roles} onChoose={(name) => (run.selection.value = { kind: "role", name })} />
      <SpendingTable title="By model" head="Model" rows={models} />
    </div>
  );
}

interface SpendingTableProps {
  readonly title: string;
  readonly head: string;
  readonly rows: readonly SpendingRow[];
  readonly onChoose?: (name: string) => void;
}

const SPENDING: readonly Column[] = [
  ["Cost", "number"],
  ["Share", "text"],
  ["Calls", "number"],
  ["Retries", "number"],
  ["Tokens in", "number"],
  ["Tokens out", "number"],
];

function SpendingTable({ title, head, rows, onChoose }: SpendingTableProps) {
  return (
    <section>
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p class="soft small">Nothing has been spent.</p>
      ) : (
        <DataTable label={title} columns={[[head, "text"], ...SPENDING]}>
          {rows.map((row) => (
            <SpendingLine key={row.name} row={row} onChoose={onChoose} />
          ))}
        </DataTable>
      )}
    </section>
  );
}

function SpendingLine({ row, onChoose }: { readonly row: SpendingRow; readonly onChoose: ((name: string) => void) | undefined }) {
  const { name, known, unpriced, share, calls, retries, inputTokens, outputTokens, isEstimated } = row;
  const text = shownLine(name, 80);
  return (
    <tr>
      <th scope="row">
        {onChoose === undefined ? (
          <span class="mono">{text}</span>
        ) : (
          <button type="button" class="choose" onClick={() => onChoose(name)}>
            {text}
          </button>
        )}
      </th>
      <td class="right">{costText(known, unpriced)}</td>
      <td class="cost-share">
        <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          <rect class="cost-whole" width="100" height="8" />
          <rect class="cost-part" width={share * 100} height="8" />
        </svg>
        <span class="numbers small">{shareText(share)}</span>
      </td>
      <td class="right">{counted(calls)}</td>
      <td class="right">{counted(retries)}</td>
      <td class="right">
        {isEstimated ? "about " : ""}
        {counted(inputTokens)}
      </td>
      <td class="right">
        {isEstimated ? "about " : ""}
        {counted(outputTokens)}
      </td>
    </tr>
  );
}
