import { render } from "preact";
import type { RunEvent } from "../../runtime/record/event.ts";
import { App } from "./app.tsx";
import { offlineSource } from "./offline-source.ts";
import { useTheme } from "./theme.ts";

const place = document.querySelector("#app");
const embedded = JSON.parse(document.querySelector("#troupe-runs")?.textContent ?? "[]") as readonly (readonly RunEvent[])[];
useTheme(
  document,
  storageOf(() => localStorage),
);
if (place !== null) render(<App source={offlineSource(embedded)} />, place);

/** A page that was opened from a file, or in a private window, may have no storage. */
function storageOf(read: () => Storage): Storage | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
