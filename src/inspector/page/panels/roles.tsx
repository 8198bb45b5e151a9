import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { visibleText } from "../../../kernel/value-text.ts";
import { type RoleView, roleView } from "../../view/role-view.ts";
import { momentOf } from "../../view/run-terms.ts";
import { shownLine } from "../../view/shown-text.ts";
import { counted, plural } from "../amounts.ts";
import type { OpenRun } from "../open-run.ts";
import type { PanelProps } from "../panels.ts";
import type { RunActions } from "../run-source.ts";
import { JsonView, TextView } from "../text-view.tsx";
import { HireButton, RetireButton } from "./team-change.tsx";
import { ActivationButton, Messages } from "./message-list.tsx";

/** Most roles in the list; the others are found by the swimlanes. */
const MOST = 500;

/** Every role as it was after the shown event: its mailbox, memory, plan and state. */
export function RolesPanel({ run, actions }: PanelProps) {
  const state = run.timeline.stateAt(run.shown.value);
  const names = [...state.roles.keys()];
  // The role stays while its messages are looked at.
  const last = useRef<string | undefined>(undefined);
  last.current = chosenRole(run) ?? last.current;
  const chosen = names.find((name) => name === last.current) ?? names[0];
  const view = chosen === undefined ? undefined : roleView(state, chosen);
  if (view === undefined) return <p class="empty">No role has been hired yet.</p>;
  return (
    <div class="panel-two">
      <nav class="panel-list" aria-label="Roles">
        <ul>
          {names.slice(0, MOST).map((name) => {
            const { waiting = 0, open, isHired } = state.roles.get(name) ?? {};
            return (
              <li key={name}>
                <button
                  type="button"
                  class="panel-item"
                  aria-current={name === chosen ? "true" : undefined}
                  onClick={() => {
                    run.selection.value = { kind: "role", name };
                  }}
                >
                  <span class="panel-item-name">{shownLine(name, 60)}</span>
                  <span class="soft small numbers">
                    {isHired === false ? "retired " : ""}
                    {open === undefined ? "" : "acts "}
                    {waiting > 0 ? `${counted(waiting)} waiting` : ""}
                  </span>
                </button>
              </li>
            );
          })}
        </ul>
        {names.length > MOST && <p class="soft small">and {counted(names.length - MOST)} more</p>}
        {actions !== undefined && <HireButton run={run} actions={actions} />}
      </nav>
      <RoleDetail key={view.name} run={run} view={view} actions={actions} />
    </div>
  );
}

function chosenRole({ selection, timeline }: OpenRun): string | undefined {
  const chosen = selection.value;
  if (chosen?.kind === "role") return chosen.name;
  return chosen?.kind === "activation" || chosen?.kind === "step" ? timeline.record.activationNamed(chosen.act)?.role : undefined;
}

interface RoleDetailProps {
  readonly run: OpenRun;
  readonly view: RoleView;
  readonly actions: RunActions | undefined;
}

function RoleDetail({ run, view, actions }: RoleDetailProps) {
  const { name, traits, questions, mailbox, memory, working, plan, state, summary } = view;
  return (
    <article class="panel-detail" aria-label={`Role ${visibleText(name)}`}>
      <h2>{shownLine(name, 120)}</h2>
      {traits.profile !== "" && traits.profile !== name && <p class="soft">{shownLine(traits.profile, 200)}</p>}
      {traits.goal !== "" && <p>{shownLine(traits.goal, 500)}</p>}
      <RoleFacts run={run} view={view} />
      {questions.map(({ act, key, text }) => (
        <section key={`${act} ${key}`} class="part">
          <h3>Question that waits</h3>
          <TextView text={text} label="Question" />
        </section>
      ))}
      <Part title={`Mailbox (${counted(mailbox.count)})`}>
        <Messages run={run} list={mailbox} label="Mailbox" />
      </Part>
      {plan !== undefined && <PlanPart plan={plan} />}
      {Object.keys(state).length > 0 && (
        <Part title="State">
          <JsonView value={state} label="State" />
        </Part>
      )}
      <Part title={`Memory (${counted(memory.count)}), newest first`}>
        <Messages run={run} list={memory} label="Memory" />
      </Part>
      {working.count > 0 && (
        <Part title={`Working memory (${counted(working.count)})`}>
          <Messages run={run} list={working} label="Working memory" />
        </Part>
      )}
      {actions !== undefined && run.timeline.now.roles.get(name)?.isHired === true && (
        <div>
          <RetireButton run={run} actions={actions} role={name} waiting={run.timeline.now.roles.get(name)?.waiting ?? 0} />
        </div>
      )}
      {summary.covered.length > 0 && (
        <Part title="Summary of its memory">
          <JsonView value={summary} label="Summary" />
        </Part>
      )}
    </article>
  );
}

function RoleFacts({ run, view }: Omit<RoleDetailProps, "actions">) {
  const { traits, activations, open, failures, isHired, delayed } = view;
  return (
    <dl class="detail-facts">
      <Fact name="Now">{open === undefined ? isHired ? "waits for mail" : "retired" : <ActivationButton run={run} act={open.act} />}</Fact>
      <Fact name="Acted">{`${plural(activations, "time")}${failures === 0 ? "" : `, ${plural(failures, "failed attempt")} of the present one`}`}</Fact>
      {delayed.next !== undefined && (
        <Fact name="Delayed">
          {`${plural(delayed.count, "message")} on the way to it, the first is due: ${momentOf(run.timeline.now.clock, delayed.next)}`}
        </Fact>
      )}
      <Fact name="Hears">
        {traits.observesAll ? "every broadcast" : traits.watch.map(visibleText).join(", ") || "only what is addressed to it"}
      </Fact>
      {traits.actions.length > 0 && <Fact name="Actions">{traits.actions.map(visibleText).join(", ")}</Fact>}
      {traits.mode !== "" && <Fact name="Mode">{visibleText(traits.mode)}</Fact>}
    </dl>
  );
}

function PlanPart({ plan }: { readonly plan: NonNullable<RoleView["plan"]> }) {
  const done = plan.tasks.filter(({ status }) => status === "done").length;
  return (
    <Part title={`Plan (${done} of ${plan.tasks.length} done)`}>
      {plan.goal !== "" && <p class="small">{shownLine(plan.goal, 500)}</p>}
      <ol class="tasks">
        {plan.tasks.map((task) => (
          <li key={task.id}>
            <span class="sign" aria-hidden="true">
              {task.status === "done" ? "✓" : "○"}
            </span>
            <span>
              <span class="mono">{shownLine(task.id, 40)}</span> {shownLine(task.instruction, 300)}{" "}
              <span class="soft small">
                {task.status}
                {task.dependsOn.length > 0 ? `, after ${task.dependsOn.map((id) => shownLine(id, 40)).join(", ")}` : ""}
              </span>
            </span>
          </li>
        ))}
      </ol>
    </Part>
  );
}

type Children = ComponentChildren;

function Part({ title, children }: { readonly title: string; readonly children: Children }) {
  return (
    <section class="part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: Children }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
