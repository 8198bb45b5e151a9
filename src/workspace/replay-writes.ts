import { having, takes } from "../kernel/argument.ts";
import type { StepDoor } from "../kernel/step.ts";
import type { Workspace } from "./workspace.ts";

/** Workspaces that steps have come to: whether a replay may write there. */
const scratch = new WeakMap<Workspace, Promise<boolean>>();

/**
 * Whether a step may change a workspace. Live it may; in a replay only where there was nothing when the replay came to it: a project stays
 * as it is, and a fresh folder gets all the files of the run.
 *
 * @param mode as the step's door says
 * @throws WorkspaceError when the workspace cannot be listed
 */
export function mayWrite(workspace: Workspace, mode: StepDoor["mode"]): Promise<boolean> {
  takes("mayWrite", "workspace", workspace, having("a workspace", "list"));
  if (mode === "live") {
    scratch.set(workspace, Promise.resolve(false));
    return Promise.resolve(true);
  }
  const known = scratch.get(workspace);
  if (known !== undefined) return known;
  const isEmpty = workspace.list().then((files) => files.length === 0);
  scratch.set(workspace, isEmpty);
  isEmpty.catch(() => scratch.delete(workspace));
  return isEmpty;
}
