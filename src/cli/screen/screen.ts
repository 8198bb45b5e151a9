import type { Run } from "../../team/run.ts";
import type { Observed } from "../../runtime/record/event.ts";
import { canDraw, type Host } from "../host.ts";
import type { OutputSettings } from "../settings.ts";
import { DEFAULT_COLUMNS, LiveRegion } from "./live-region.ts";
import { plainLine } from "./plain.ts";
import { noProgress, type Progress, progressAfter } from "./progress.ts";
import { progressLines } from "./rows.ts";
import { type Style, styleFor, wantsColor } from "./style.ts";
import { elapsed, shown, wrapped } from "./text.ts";

/** Everything a screen listens to. */
const WATCHED = [
  "run.started",
  "run.resumed",
  "role.active",
  "role.idle",
  "action.started",
  "step.started",
  "model.delta",
  "step.ended",
  "act.ended",
  "act.failed",
  "round.ended",
] as const satisfies readonly Observed["type"][];

/** What bounds a run, for the footer. */
export interface RunBounds {
  /** Infinity: they say nothing about the run. */
  readonly rounds: number;
  /** Micro-dollars; undefined when nothing binds. */
  readonly budget: number | undefined;
  /** What each role does in the company, by its name. */
  readonly profiles: ReadonlyMap<string, string>;
  /** What was shown of it before, for a run that goes on. */
  readonly progress?: Progress;
  /** Whether somebody else tells line by line what happens, so that nothing need be told where no terminal is drawn on. */
  readonly isTold?: boolean;
}

/** Characters of a warning that a line shows. */
const LONGEST_WARNING = 600;

/**
 * What a person sees of a run, on stderr: drawn in place on a terminal, one line for each change of state elsewhere, nothing when quiet.
 * It owns the progress shown; results go to stdout and are not its own.
 */
export class Screen {
  readonly style: Style;
  readonly #host: Host;
  readonly #output: OutputSettings;
  readonly #region: LiveRegion | undefined;
  readonly #offExit: () => void;
  #progress: Progress = noProgress;
  #bounds: RunBounds = { rounds: 0, budget: undefined, profiles: new Map() };
  #began: number;
  #hasEnded = false;
  #warnings = 0;

  constructor(host: Host, output: OutputSettings) {
    this.#host = host;
    this.#output = output;
    this.#began = host.clock.now();
    this.style = styleFor(wantsColor({ isOff: output.isColorOff, env: host.env, isTTY: host.stderr.isTTY === true }));
    const isLive = !output.isQuiet && canDraw(host);
    this.#region = isLive ? new LiveRegion(host.stderr, host.clock, (size, tick) => this.#lines(size, tick)) : undefined;
    this.#offExit = host.onExit(() => this.#region?.restore());
  }

  /** A line that stays. Nothing when quiet. */
  say(line: string): void {
    if (!this.#output.isQuiet) this.insist([line]);
  }

  /** Lines that stay, quiet or not. @param indent spaces before what does not fit on its first line */
  insist(lines: readonly string[], indent: number = 0): void {
    const { stderr } = this.#host;
    const width = stderr.isTTY === true ? (stderr.columns ?? DEFAULT_COLUMNS) - 1 : Infinity;
    const broken = lines.flatMap((line) => wrapped(line, width, indent));
    if (this.#region === undefined) stderr.write(broken.map((line) => `${line}\n`).join(""));
    else this.#region.above(broken);
  }

  /** Something that is not as it should be but stops nothing: shown when verbose, else counted. */
  warn(text: string): void {
    if (this.#output.isVerbose) this.insist([`${this.style.warn("warning:")} ${shown(text)}`]);
    else this.#warnings += 1;
  }

  /** Shows a warning that was counted a moment ago, for who reads along. Nothing when it is shown already, or when quiet. */
  showWarning(text: string): void {
    if (this.#output.isVerbose || this.#output.isQuiet) return;
    this.#warnings -= 1;
    this.insist([this.style.warn(shown(text, LONGEST_WARNING))], 2);
  }

  /** Warnings that were counted and not shown. */
  get unseenWarnings(): number {
    return this.#warnings;
  }

  /** Shows a run from now on. To be called in the turn that started it, so that nothing is missed. */
  watch(run: Run, bounds: RunBounds): void {
    this.#bounds = bounds;
    this.#progress = bounds.progress ?? noProgress;
    this.#began = this.#host.clock.now();
    if (this.#output.isQuiet) return;
    for (const type of WATCHED) run.on(type, (observed) => this.#see(observed));
    this.#region?.start();
  }

  /** Milliseconds since the run began. */
  get age(): number {
    return this.#host.clock.now() - this.#began;
  }

  /** Lets something else use the terminal. */
  async aside<T>(work: () => Promise<T>): Promise<T> {
    const wasDrawing = this.#region?.isDrawing === true;
    this.#region?.suspend();
    try {
      return await work();
    } finally {
      if (wasDrawing) this.#region?.start();
    }
  }

  /** Draws a last time. */
  end(): void {
    this.#hasEnded = true;
    this.#region?.stop();
    this.#offExit();
  }

  #see(observed: Observed): void {
    this.#progress = progressAfter(this.#progress, observed);
    const line =
      this.#region === undefined && this.#bounds.isTold !== true ? plainLine(this.#progress, observed, this.#bounds.profiles) : undefined;
    if (line !== undefined) this.#host.stderr.write(`[${elapsed(this.age)}] ${line}\n`);
  }

  #lines(size: { readonly width: number; readonly height: number }, tick: number): readonly string[] {
    return progressLines(this.#progress, {
      ...size,
      ...this.#bounds,
      style: this.style,
      age: this.age,
      tick,
      isPlain: this.#host.env["TERM"] === "linux",
      hasEnded: this.#hasEnded,
    });
  }
}
