import { type BoardTask, type Note, TASK_KINDS } from "../../../runtime/board/board.ts";
import { shownLine } from "../../view/shown-text.ts";
import { counted } from "../amounts.ts";
import { type Column, DataTable, Facts, TextView } from "../controls.tsx";
import { Rest, RoleLink } from "../detail-parts.tsx";
import type { OpenRun, PanelProps } from "../open-run.ts";

const MOST_TASKS = 300;

export function BoardPanel({ run }: PanelProps) {
  const { board } = run.timeline.stateAt(run.shown.value);
  const tasks: BoardTask[] = [];
  for (const kind of ["claimed", "blocked", "open", "done"] as const)
    for (const task of board.tasks(kind)) {
      if (tasks.length >= MOST_TASKS) break;
      tasks.push(task);
    }
  const notes = board.recentNotes();
  if (board.size + board.noteCount === 0) return <p class="empty soft">The roles share no tasks and no notes.</p>;
  return (
    <div class="costs body">
      <Facts class="cost-facts flex numbers" facts={TASK_KINDS.map((kind) => [kind, counted(board.count(kind))])} />
      {tasks.length > 0 && <DataTable label="Tasks" columns={columnsOf(run)} rows={tasks} keyOf={({ id }) => id} />}
      <Rest count={board.size} most={MOST_TASKS} />
      {notes.map((note) => (
        <NoteView key={note.name} run={run} note={note} />
      ))}
      <Rest count={board.noteCount} most={notes.length} of=" notes" />
    </div>
  );
}

function NoteView({ run, note: { name, version, by, text } }: { readonly run: OpenRun; readonly note: Note }) {
  return (
    <section>
      <h2>{shownLine(name, 80)}</h2>
      <p class="soft small">
        Version {counted(version)} by <RoleLink run={run} name={by} />
      </p>
      <TextView text={text} label={`Note ${shownLine(name, 80)}`} />
    </section>
  );
}

function columnsOf(run: OpenRun): readonly Column<BoardTask>[] {
  const role = (name: string | undefined) => (name === undefined ? "" : <RoleLink run={run} name={name} />);
  return [
    ["Task", "row", ({ id }) => <span class="mono">{shownLine(id, 64)}</span>],
    ["Title", "", ({ title }) => shownLine(title, 200)],
    ["State", "", ({ state }) => state.kind],
    ["Owner", "", ({ owner }) => role(owner)],
    ["After", "mono", ({ needs }) => shownLine(needs.join(", "), 80)],
    ["Said", "", ({ state }) => shownLine(("reason" in state ? state.reason : "result" in state ? state.result : "") ?? "", 200)],
    ["Added by", "", ({ by }) => role(by)],
  ];
}
