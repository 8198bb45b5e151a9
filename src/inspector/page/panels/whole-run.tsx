import { visibleText } from "../../../kernel/value-text.ts";
import type { ActivationFact } from "../../view/run-facts.ts";
import { shownLine } from "../../view/shown-text.ts";
import { plural } from "../amounts.ts";
import { ChooseMarked } from "../controls.tsx";
import { RoleLink } from "../detail-parts.tsx";
import type { OpenRun } from "../open-run.ts";

const MOST_ROLES = 12;
/** Activations of a long run that are nearer to each other than this share of it are one bar. */
const NEAR = 0.01;
const ROOM = 0.04;

export function huesOf({ timeline }: OpenRun): ReadonlyMap<string, string> {
  const roles = new Set(timeline.record.activations.map(({ role }) => role));
  return new Map([...roles].map((role, nth) => [role, String((nth * 137 + 250) % 360)]));
}

interface WholeBar {
  readonly first: ActivationFact;
  until: number;
  count: number;
}

/** The whole run fitted to the width: a row for each role that has acted, a bar for each activation, or for several near each other. */
export function WholeRun({ run, hues }: { readonly run: OpenRun; readonly hues: ReadonlyMap<string, string> }) {
  const shown = run.shown.value;
  const { record } = run.timeline;
  const span = shown + 1;
  const rows = new Map<string, WholeBar[]>();
  for (const first of record.activations) {
    if (first.from > shown) break;
    const row = rows.get(first.role) ?? [];
    rows.set(first.role, row);
    const until = Math.min(first.until ?? shown, shown) + 1;
    const last = row.at(-1);
    if (last !== undefined && first.from - last.until < span * NEAR - 1) Object.assign(last, { until, count: last.count + 1 });
    else row.push({ first, until, count: 1 });
  }
  const word = ({ first: { said }, count }: WholeBar): string =>
    shownLine(`${record.sent[said[0] ?? -1]?.message.causeBy ?? ""}${count > 1 ? ` +${count - 1}` : ""}`, 60);
  return (
    <section class="whole" aria-label="The whole run">
      {[...rows].slice(0, MOST_ROLES).map(([role, row]) => (
        <div key={role} class="whole-role of-role" style={{ "--hue": hues.get(role) }}>
          <span class="small cut">
            <RoleLink run={run} name={role} />
          </span>
          <div class="whole-bars" role="group" aria-label={`Activations of ${shownLine(role, 60)}`} onKeyDown={toNeighbour}>
            {row.map((bar, nth) => (
              <ChooseMarked
                key={bar.first.index}
                class="whole-bar tiny cut"
                run={run}
                what={{ kind: "activation", act: bar.first.act }}
                tabIndex={nth === 0 ? 0 : -1}
                aria-label={`${word(bar)} ${visibleText(bar.first.act)}, events ${bar.first.from} to ${bar.until - 1}`}
                style={{ left: `${(100 * bar.first.from) / span}%`, width: `${(100 * (bar.until - bar.first.from)) / span}%` }}
              >
                {(bar.until - bar.first.from) / span < ROOM ? "" : word(bar)}
              </ChooseMarked>
            ))}
          </div>
        </div>
      ))}
      {rows.size > MOST_ROLES && <p class="small soft">{plural(rows.size - MOST_ROLES, "more role")} in the swimlanes.</p>}
    </section>
  );
}

function toNeighbour({ key, target }: KeyboardEvent): void {
  const { previousElementSibling, nextElementSibling } = target as HTMLElement;
  const next = key === "ArrowRight" ? nextElementSibling : key === "ArrowLeft" ? previousElementSibling : null;
  if (next instanceof HTMLElement) next.focus();
}
