import type { ComponentType } from "preact";
import type { OpenRun } from "./open-run.ts";

/** What every panel gets. */
export interface PanelProps {
  readonly run: OpenRun;
}

/** A view of a run. */
export interface Panel {
  /** Its name in the address: `#/runs/<run>/<id>`. */
  readonly id: string;
  readonly title: string;
  readonly Component: ComponentType<PanelProps>;
}
