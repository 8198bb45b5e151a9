import { computed, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import type { RunEvent } from "../../runtime/record/event.ts";
import { RunTimeline } from "../view/run-timeline.ts";
import type { Connection, RunSource, RunStanding } from "./run-source.ts";

/** The choice of the person. All panels mark it, and the drawer shows it. */
export type Selection =
  | { readonly kind: "message"; readonly id: string }
  /** An activation: `role#n~attempt`. */
  | { readonly kind: "activation"; readonly act: string }
  | { readonly kind: "step"; readonly act: string; readonly key: string }
  | { readonly kind: "role"; readonly name: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "event"; readonly seq: number };

/**
 * A run on the page. Panels get it, read its signals, and write `selection` and `scrubbed`.
 *
 * OpenRun.O1 (`take`) the event n of `timeline` has the sequence number n: nothing is missing and nothing stands twice.
 * OpenRun.O2 (`shown`) panels show the run as it was after event `shown`, never a later one.
 */
export class OpenRun {
  readonly id: string;
  /** All events so far, and the state after each. It grows in place: read `count` to be told. */
  readonly timeline: RunTimeline = new RunTimeline();
  readonly #count = signal(0);
  readonly #connection = signal<Connection>({ state: "connecting" });
  readonly #standing = signal<RunStanding | undefined>(undefined);
  /** The event that the scrubber stands on; undefined follows the newest one. */
  readonly scrubbed: Signal<number | undefined> = signal(undefined);
  readonly selection: Signal<Selection | undefined> = signal(undefined);
  /** Sequence number of the last event that panels show; -1 before the first one has come. */
  readonly shown: ReadonlySignal<number> = computed(() => Math.min(this.scrubbed.value ?? Infinity, this.#count.value - 1));

  constructor(id: string) {
    this.id = id;
  }

  /** The number of events so far. */
  get count(): ReadonlySignal<number> {
    return this.#count;
  }

  get connection(): ReadonlySignal<Connection> {
    return this.#connection;
  }

  /** The data that the source has of the run besides its events; undefined before it was asked. */
  get standing(): ReadonlySignal<RunStanding | undefined> {
    return this.#standing;
  }

  /** Watches the run until the signal aborts. */
  async watch(source: RunSource, aborted: AbortSignal): Promise<void> {
    const watcher = {
      events: (events: readonly RunEvent[]) => this.take(events),
      connection: (connection: Connection) => {
        this.#connection.value = connection;
      },
    };
    try {
      await source.watch(this.id, watcher, aborted);
    } catch (error) {
      if (!aborted.aborted) this.#connection.value = { state: "refused", why: wordsOf(error) };
    }
  }

  /** Asks the source how the run stands. A source that cannot be reached leaves the last answer. */
  async ask(source: RunSource, aborted: AbortSignal): Promise<void> {
    const standing = await source.standing(this.id, aborted).catch(() => undefined);
    if (standing !== undefined && !aborted.aborted) this.#standing.value = standing;
  }

  /** Takes the next events. One that is known is passed over. */
  take(events: readonly RunEvent[]): void {
    const { timeline } = this;
    const from = events.findIndex(({ seq }) => seq === timeline.length);
    if (from === -1) return;
    timeline.add(from === 0 ? events : events.slice(from));
    this.#count.value = timeline.length;
    if (timeline.trouble !== undefined) this.#connection.value = { state: "refused", why: timeline.trouble.message };
  }
}

/** The words of a fault for a person. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
