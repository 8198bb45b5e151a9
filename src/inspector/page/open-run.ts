import { batch, computed, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import type { RunEvent, RunNotice } from "../../runtime/record/event.ts";
import { type LiveText, LiveTexts } from "../view/live-texts.ts";
import { RunTimeline } from "../view/run-timeline.ts";
import type { Connection, RunActions, RunSource, RunStanding } from "./run-source.ts";

/** The choice of the person. All panels mark it, and the drawer shows it. */
export type Selection =
  | { readonly kind: "message"; readonly id: string }
  /** An activation: `role#n~attempt`. With `stays` an arrow key has come to it: the focus stays there, and does not go into the drawer. */
  | { readonly kind: "activation"; readonly act: string; readonly stays?: true }
  | { readonly kind: "step"; readonly act: string; readonly key: string }
  | { readonly kind: "role"; readonly name: string }
  | { readonly kind: "file"; readonly path: string; readonly fork: string | undefined }
  | { readonly kind: "event"; readonly seq: number };

/** Milliseconds for which events are folded before the page draws and handles keys again. */
const SLICE = 20;
const PART = 64;
const PAUSE = 10;

const browserTime = { now: (): number => performance.now(), after: (ms: number, work: () => void): void => void setTimeout(work, ms) };

/**
 * A run on the page. Panels read its signals, and write `selection` and `scrubbed`. It owns the events that are not folded yet.
 *
 * OpenRun.O1 (`#fold`) the event n of `timeline` has the sequence number n: none is missing or doubled.
 * OpenRun.O2 (`shown`) panels show the run as it was after event `shown`, never a later one.
 * OpenRun.O3 (`#drain`) events are folded in slices of time, and each slice changes the signals once, so the page stays usable.
 * Texts of calls under way come from notices, are shown beside the newest event alone, and change no state of the fold.
 */
export class OpenRun {
  readonly id: string;
  /** All events so far, and the state after each. It grows in place: read `count` to follow it. */
  readonly timeline: RunTimeline = new RunTimeline();
  readonly count: Signal<number> = signal(0);
  /** The number of events that have come: those behind `count` are folded soon. */
  readonly known: Signal<number> = signal(0);
  readonly connection: Signal<Connection> = signal({ state: "connecting" });
  /** The data that the source has of the run besides its events; undefined before it was asked. */
  readonly standing: Signal<RunStanding | undefined> = signal(undefined);
  /** The event that the scrubber has selected; undefined follows the newest one. */
  readonly scrubbed: Signal<number | undefined> = signal(undefined);
  readonly selection: Signal<Selection | undefined> = signal(undefined);
  readonly shown: ReadonlySignal<number> = computed(() => Math.min(this.scrubbed.value ?? Infinity, this.count.value - 1));
  readonly #time: typeof browserTime;
  #coming: RunEvent[] = [];
  #folded = 0;
  #isDraining = false;
  readonly #texts = new LiveTexts();
  readonly #textsRead = signal(0);
  #isTextShown = true;

  constructor(id: string, time: typeof browserTime = browserTime) {
    this.id = id;
    this.#time = time;
  }

  /** The text of a model call under way, while the newest event is shown. @param step the key of the step; default: the one that grew last */
  textOf(act: string, step?: string): LiveText | undefined {
    void this.#textsRead.value;
    if (this.scrubbed.value !== undefined) return undefined;
    return step === undefined ? this.#texts.last(act) : this.#texts.of(act, step);
  }

  async watch(source: RunSource, aborted: AbortSignal): Promise<void> {
    const watcher = {
      events: (events: readonly RunEvent[]) => this.take(events),
      notice: (notice: RunNotice) => {
        const isText = notice.type === "model.delta" || notice.type === "model.void";
        if (isText && this.#texts.hear(notice, this.timeline.record)) this.#showTexts();
      },
      connection: (connection: Connection) => {
        // Notices that come while the connection is lost are missed.
        if (connection.state === "lost" && this.#texts.clear()) this.#showTexts();
        this.connection.value = connection;
      },
    };
    try {
      await source.watch(this.id, watcher, aborted);
    } catch (error) {
      if (!aborted.aborted) this.connection.value = { state: "refused", why: wordsOf(error) };
    }
  }

  async ask(source: RunSource, aborted: AbortSignal): Promise<void> {
    const standing = await source.standing(this.id, aborted).catch(() => undefined);
    if (standing !== undefined && !aborted.aborted) this.standing.value = standing;
  }

  /** Takes the next events. A known event is skipped, and so is what follows a gap. */
  take(events: readonly RunEvent[]): void {
    const next = this.timeline.length + this.#coming.length - this.#folded;
    const from = events.findIndex(({ seq }) => seq === next);
    if (from === -1) return;
    for (let index = from; index < events.length; index += 1) this.#coming.push(events[index] as RunEvent);
    this.known.value = next + events.length - from;
    if (!this.#isDraining) this.#drain();
  }

  /** Texts grow by a word at a time: panels draw several words at once. */
  #showTexts(): void {
    if (!this.#isTextShown) return;
    this.#isTextShown = false;
    this.#time.after(PAUSE * 5, () => {
      this.#isTextShown = true;
      this.#textsRead.value += 1;
    });
  }

  #drain(): void {
    const until = this.#time.now() + SLICE;
    batch(() => {
      do this.#fold();
      while (this.#coming.length > 0 && this.#time.now() < until);
    });
    this.#isDraining = true;
    // Further events wait for the next slice, however fast they come.
    this.#time.after(PAUSE, () => {
      this.#isDraining = false;
      if (this.#coming.length > 0) this.#drain();
    });
  }

  #fold(): void {
    const { timeline } = this;
    const part = this.#coming.slice(this.#folded, this.#folded + PART);
    this.#folded += part.length;
    timeline.add(part);
    for (const event of part) if (this.#texts.settle(event)) this.#textsRead.value += 1;
    this.count.value = timeline.length;
    if (timeline.trouble !== undefined) this.connection.value = { state: "refused", why: timeline.trouble.message };
    if (this.#folded < this.#coming.length && timeline.trouble === undefined) return;
    this.#coming = [];
    this.#folded = 0;
    this.known.value = timeline.length;
  }
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The properties of a view of a run. Without actions the run can only be read. */
export interface PanelProps {
  readonly run: OpenRun;
  readonly actions?: RunActions | undefined;
}
