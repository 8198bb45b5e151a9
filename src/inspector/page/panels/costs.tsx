import { type SpendingRow, spendingAt } from "../../view/spending.ts";
import { shownLine } from "../../view/shown-text.ts";
import { costText, counted, plural, shareText } from "../amounts.ts";
import { type Column, DataTable, type Fact, Facts, NUMBER } from "../controls.tsx";
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
  /** Given where the rows are roles, which can be selected. */
  readonly run?: OpenRun;
}

function SpendingTable({ title, head, rows, run }: SpendingTableProps) {
  const name: Column<SpendingRow> = [
    head,
    "row",
    (row) => (run === undefined ? <span class="mono">{shownLine(row.name, 80)}</span> : <RoleLink run={run} name={row.name} />),
  ];
  return (
    <section>
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p class="soft small">Nothing has been spent.</p>
      ) : (
        <DataTable label={title} columns={[name, ...SPENDING]} rows={rows} keyOf={(row) => row.name} />
      )}
    </section>
  );
}

const SPENDING: readonly Column<SpendingRow>[] = [
  ["Cost", NUMBER, ({ known, unpriced }) => costText(known, unpriced)],
  ["Share", "cost-share nowrap", ({ share }) => <Share share={share} />],
  ["Calls", NUMBER, ({ calls }) => counted(calls)],
  ["Retries", NUMBER, ({ retries }) => counted(retries)],
  ["Tokens in", NUMBER, ({ inputTokens, isEstimated }) => `${isEstimated ? "about " : ""}${counted(inputTokens)}`],
  ["Tokens out", NUMBER, ({ outputTokens, isEstimated }) => `${isEstimated ? "about " : ""}${counted(outputTokens)}`],
];

function Share({ share }: { readonly share: number }) {
  return (
    <>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="cost-whole" width="100" height="8" />
        <rect class="cost-part" width={share * 100} height="8" />
      </svg>
      <span class="numbers small">{shareText(share)}</span>
    </>
  );
}
