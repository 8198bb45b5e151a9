import type { Panel } from "./panel.ts";
import { EventsPanel } from "./events-panel.tsx";

/** The panels of a run in the order of their tabs. */
export const PANELS: readonly Panel[] = [{ id: "events", title: "Events", Component: EventsPanel }];
