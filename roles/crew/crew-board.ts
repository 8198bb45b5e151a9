import type { Tool } from "../../src/agent/index.ts";
import { board, notes } from "../../src/tools/index.ts";
import { type FileWorkspace, type ForkedProject, workspaceForks } from "../../src/workspace/index.ts";
import { withValues } from "./crew-names.ts";
import type { CrewRole, CrewSpec } from "./crew-spec.ts";
import type { CrewViews } from "./declared-action.ts";
import type { CrewPorts } from "./open-crew.ts";

/** The folder in which an agent works: the project, or a fork of it. */
interface Place extends CrewPorts {
  readonly fork?: { readonly project: ForkedProject; readonly name: string; readonly author: string };
}

/** The parts that the roles of a crew share. */
export interface SharedParts {
  readonly views: CrewViews;
  readonly board: ReturnType<typeof board> | undefined;
  tools(place: Place): readonly Tool[];
  /** A workspace that is not on disk is refused when the agent begins. */
  placeOf(role: CrewRole): Place;
}

/** A process keeps its work on the board. */
export function sharedOf(crew: CrewSpec, ports: CrewPorts): SharedParts {
  const { process, board: tasks = process && true, notes: pad, roles = [], reserve = [] } = crew;
  const { workspace } = ports;
  let made: ForkedProject | undefined;
  const project = (): ForkedProject => (made ??= { workspace, forks: workspaceForks({ workspace: workspace as FileWorkspace }) });
  const names = [...roles, ...reserve].map(({ name }) => name);
  const boardIn = ({ workspace: folder, sandbox, fork }: Place) =>
    tasks && board({ workspace: folder, sandbox, ...withValues({ fork }), ...(tasks === true ? {} : withValues(tasks)) });
  const [shown, shared] = [boardIn(ports), pad && notes(pad === true ? {} : withValues(pad))];
  return {
    board: shown,
    views: withValues({
      board: shown && ((ctx) => shown.at(ctx).show()),
      notes: shared && ((ctx) => shared.at(ctx).show()),
    }),
    tools: (place) => [boardIn(place), shared].filter((tool) => tool !== undefined),
    placeOf({ name, isolation }) {
      if (isolation === undefined) return ports;
      const fork = `role-${names.indexOf(name) + 1}`;
      const own = {
        name: fork,
        author: name,
        get project() {
          return project();
        },
      };
      return { ...ports, workspace: "inspectGit" in workspace ? project().forks.workspace(fork) : workspace, fork: own };
    },
  };
}
