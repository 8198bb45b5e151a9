import type { ComponentType } from "preact";
import { EventsPanel } from "./events-panel.tsx";
import type { OpenRun } from "./open-run.ts";
import { CostsPanel } from "./panels/costs.tsx";
import { FilesPanel } from "./panels/files.tsx";
import { GraphPanel } from "./panels/graph.tsx";
import { RolesPanel } from "./panels/roles.tsx";
import { SwimlanesPanel } from "./panels/swimlanes.tsx";
import type { RunActions } from "./run-source.ts";

export interface PanelProps {
  readonly run: OpenRun;
  /** Undefined where the run can only be read. */
  readonly actions?: RunActions | undefined;
}

export interface Panel {
  /** Its name in the address: `#/runs/<run>/<id>`. */
  readonly id: string;
  readonly title: string;
  readonly Component: ComponentType<PanelProps>;
}

export const PANELS: readonly Panel[] = [
  { id: "lanes", title: "Swimlanes", Component: SwimlanesPanel },
  { id: "events", title: "Events", Component: EventsPanel },
  { id: "graph", title: "Graph", Component: GraphPanel },
  { id: "roles", title: "Roles", Component: RolesPanel },
  { id: "files", title: "Files", Component: FilesPanel },
  { id: "costs", title: "Costs", Component: CostsPanel },
];
