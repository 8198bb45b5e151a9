import { type SpendingRow, spendingAt } from "../../view/spending.ts";
import { shownLine } from "../../view/shown-text.ts";
import { costText, counted, plural, shareText } from "../amounts.ts";
import { type Column, DataTable, type Fact, Facts } from "../controls.tsx";
import { RoleLink } from "../detail-parts.tsx";
import type { OpenRun, PanelProps } from "../open-run.ts";

export function CostsPanel({ run }: PanelProps) {
  const { roles, models, total, budget, held, uncertain, saved } = spendingAt(run.timeline, run.shown.value);
  const facts: readonly Fact[] = [
    ["Cost", costText(total.known, total.unpriced)],
    budget !== undefined && ["Budget", costText(budget)],
    ["Tokens", `${counted(total.inputTokens)} in, ${counted(total.outputTokens)} out`],
    total.cachedTokens > 0 && ["From a cache", counted(total.cachedTokens)],
    ["Calls", `${counted(total.calls)}${total.retries > 0 ? `, ${plural(total.retries, "retry", "retries")}` : ""}`],
    held > 0 && ["Reserved", `${costText(held)} for calls under way`],
    uncertain > 0 && ["Uncertain", `${costText(uncertain)} for calls in flight when a process died`],
    saved > 0 && ["Saved", `${costText(saved)} by answers of another run`],
  ];
  return (
    <div class="costs body">
      <Facts class="cost-facts flex numbers" facts={facts} />
      {budget !== undefined && budget > 0 && (
        <p class="cost-budget small">
          <label>
            Of the budget <meter min={0} max={budget} value={Math.min(budget, total.known)} /> {shareText(total.known / budget)}
          </label>
        </p>
      )}
      <SpendingTable title="By role" head="Role" rows={roles} run={run} />
      <SpendingTable title="By model" head="Model" rows={models} />
    </div>
  );
}

interface SpendingTableProps {
  readonly title: string;
  readonly head: string;
  readonly rows: readonly SpendingRow[];
  readonly run?: OpenRun;
}

const SPENDING: readonly Column[] = [
  ["Cost", "number"],
  ["Share", "text"],
  ["Calls", "number"],
  ["Retries", "number"],
  ["Tokens in", "number"],
  ["Tokens out", "number"],
];

function SpendingTable({ title, head, rows, run }: SpendingTableProps) {
  return (
    <section>
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p class="soft small">Nothing has been spent.</p>
      ) : (
        <DataTable label={title} columns={[[head, "text"], ...SPENDING]}>
          {rows.map((row) => (
            <SpendingLine key={row.name} row={row} run={run} />
          ))}
        </DataTable>
      )}
    </section>
  );
}

function SpendingLine({ row, run }: { readonly row: SpendingRow; readonly run: OpenRun | undefined }) {
  const { name, known, unpriced, share, calls, retries, inputTokens, outputTokens, isEstimated } = row;
  const about = isEstimated ? "about " : "";
  return (
    <tr>
      <th scope="row">{run === undefined ? <span class="mono">{shownLine(name, 80)}</span> : <RoleLink run={run} name={name} />}</th>
      <td class="right numbers">{costText(known, unpriced)}</td>
      <td class="cost-share nowrap">
        <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          <rect class="cost-whole" width="100" height="8" />
          <rect class="cost-part" width={share * 100} height="8" />
        </svg>
        <span class="numbers small">{shareText(share)}</span>
      </td>
      <td class="right numbers">{counted(calls)}</td>
      <td class="right numbers">{counted(retries)}</td>
      <td class="right numbers">{`${about}${counted(inputTokens)}`}</td>
      <td class="right numbers">{`${about}${counted(outputTokens)}`}</td>
    </tr>
  );
}
