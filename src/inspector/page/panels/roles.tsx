import { useRef } from "preact/hooks";
import { visibleText } from "../../../kernel/value-text.ts";
import { type RoleView, roleView } from "../../view/role-graph.ts";
import { momentOf } from "../../view/run-terms.ts";
import { shownLine } from "../../view/shown-text.ts";
import { counted, plural } from "../amounts.ts";
import { Button, Facts, Form, JsonView, Part, Select, TextField, TextView, useTask } from "../controls.tsx";
import { ActivationLink, Rest } from "../detail-parts.tsx";
import type { OpenRun, PanelProps } from "../open-run.ts";
import type { RunActions } from "../run-source.ts";
import { Messages, TwoParts } from "./message-list.tsx";
import { useSignal } from "@preact/signals";

/** Roles in the list; the swimlanes show the others. */
const MOST = 500;

export function RolesPanel({ run, actions }: PanelProps) {
  const state = run.timeline.stateAt(run.shown.value);
  const names = [...state.roles.keys()];
  // The role stays while its messages are looked at.
  const last = useRef<string | undefined>(undefined);
  last.current = chosenRole(run) ?? last.current;
  const chosen = names.find((name) => name === last.current) ?? names[0];
  const view = chosen === undefined ? undefined : roleView(state, chosen);
  if (view === undefined) return <p class="empty soft">No role has been hired yet.</p>;
  const entries = names.slice(0, MOST).map((name) => {
    const { waiting = 0, open, isHired } = state.roles.get(name) ?? {};
    const words = [isHired === false ? "retired" : "", open === undefined ? "" : "acts", waiting > 0 ? `${counted(waiting)} waiting` : ""];
    return { of: name, what: { kind: "role", name } as const, name: shownLine(name, 60), words: words.filter(Boolean).join(" ") };
  });
  const more = (
    <>
      <Rest count={names.length} most={MOST} />
      {actions !== undefined && <HireButton run={run} actions={actions} />}
    </>
  );
  return (
    <TwoParts run={run} label="Roles" entries={entries} chosen={chosen} more={more}>
      <RoleDetail key={view.name} run={run} view={view} actions={actions} />
    </TwoParts>
  );
}

function chosenRole({ selection, timeline }: OpenRun): string | undefined {
  const chosen = selection.value;
  if (chosen?.kind === "role") return chosen.name;
  return chosen?.kind === "activation" || chosen?.kind === "step" ? timeline.record.activationNamed(chosen.act)?.role : undefined;
}

interface RoleDetailProps extends PanelProps {
  readonly view: RoleView;
}

function RoleDetail({ run, view, actions }: RoleDetailProps) {
  const { name, traits, questions, mailbox, memory, working, plan, state, summary } = view;
  return (
    <article class="panel-detail body" aria-label={`Role ${visibleText(name)}`}>
      <h2>{shownLine(name, 120)}</h2>
      {traits.profile !== "" && traits.profile !== name && <p class="soft">{shownLine(traits.profile, 200)}</p>}
      {traits.goal !== "" && <p>{shownLine(traits.goal, 500)}</p>}
      <RoleFacts run={run} view={view} />
      {questions.map(({ act, key, text }) => (
        <Part key={`${act} ${key}`} title="Question that waits">
          <TextView text={text} label="Question" />
        </Part>
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
  const hears = traits.observesAll ? "every broadcast" : traits.watch.map(visibleText).join(", ");
  return (
    <Facts
      facts={[
        ["Now", open !== undefined ? <ActivationLink run={run} act={open.act} /> : isHired ? "waits for mail" : "retired"],
        ["Acted", `${plural(activations, "time")}${failures === 0 ? "" : `, ${plural(failures, "failed attempt")} of the present one`}`],
        delayed.next !== undefined && [
          "Delayed",
          `${plural(delayed.count, "message")} on the way to it, the first is due: ${momentOf(run.timeline.now.clock, delayed.next)}`,
        ],
        ["Hears", hears || "only what is addressed to it"],
        traits.actions.length > 0 && ["Actions", traits.actions.map(visibleText).join(", ")],
        traits.mode !== "" && ["Mode", visibleText(traits.mode)],
      ]}
    />
  );
}

function PlanPart({ plan }: { readonly plan: NonNullable<RoleView["plan"]> }) {
  const done = plan.tasks.filter(({ status }) => status === "done").length;
  return (
    <Part title={`Plan (${done} of ${plan.tasks.length} done)`}>
      {plan.goal !== "" && <p class="small">{shownLine(plan.goal, 500)}</p>}
      <ol class="tasks tight">
        {plan.tasks.map((task) => (
          <li key={task.id}>
            <span class="sign mono" aria-hidden="true">
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

interface TeamChangeProps {
  readonly run: OpenRun;
  readonly actions: RunActions;
}

function HireButton(props: TeamChangeProps) {
  const isOpen = useSignal(false);
  if (isOpen.value) return <HireForm {...props} close={() => (isOpen.value = false)} />;
  return <Button onClick={() => (isOpen.value = true)}>Hire a role</Button>;
}

function HireForm({ run, actions, close }: TeamChangeProps & { readonly close: () => void }) {
  const definition = useSignal(actions.definitions[0] ?? "");
  const name = useSignal("");
  const task = useTask();
  const hire = async (): Promise<void> => {
    const as = name.value.trim();
    await actions.hire(run.id, definition.value, as === "" ? undefined : as);
    run.selection.value = { kind: "role", name: as === "" ? definition.value : as };
    close();
  };
  return (
    <Form
      aria-label="Hire a role"
      task={task}
      submit={() => task.start(hire)}
      verb="Hire"
      isOff={definition.value === ""}
      cancel={["Cancel", close]}
    >
      <Select
        class="field tight"
        name="Definition"
        value={definition.value}
        options={actions.definitions.map((one) => [one, shownLine(one, 60)])}
        onValue={(one) => (definition.value = one)}
      />
      <TextField name="Name in this run, if another" text={name} maxLength={200} />
    </Form>
  );
}

function RetireButton({ run, actions, role, waiting }: TeamChangeProps & { readonly role: string; readonly waiting: number }) {
  const isSure = useSignal(false);
  const task = useTask();
  if (!isSure.value) return <Button onClick={() => (isSure.value = true)}>Retire</Button>;
  return (
    <Form
      task={task}
      submit={() => task.start(() => actions.retire(run.id, role))}
      verb={`Retire ${shownLine(role, 40)}`}
      cancel={["Keep", () => (isSure.value = false)]}
    >
      <p class="small">
        It ends what it is at and gets no further messages.
        {waiting > 0 && ` ${plural(waiting, "unread message")} will be dead letters.`}
      </p>
    </Form>
  );
}
