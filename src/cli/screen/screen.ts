import { type Logger, silentLogger } from "../../kernel/emit.ts";
import type { Observed } from "../../runtime/record/event.ts";
import type { Run } from "../../team/run.ts";
import { canDraw, type Host, type Sink } from "../host.ts";
import type { OutputSettings } from "../settings.ts";
import { columnsOf, elapsed, shown, type Style, styleFor, wantsColor, widthOf, withoutCodes, wrapped } from "./text.ts";
import { Progress } from "./progress.ts";
import { checksIn, plainLine, progressLines, type CheckLine, type Frame } from "./rows.ts";
import { sentBy, talkLines } from "./talk.ts";
import type { Clock } from "../../kernel/clock.ts";

const WATCHED = [
  "run.started",
  "run.resumed",
  "message",
  "role.active",
  "role.idle",
  "action.started",
  "step.started",
  "model.delta",
  "tool.progress",
  "step.ended",
  "act.ended",
  "act.failed",
  "round.ended",
] as const satisfies readonly Observed["type"][];

export interface ScreenOptions extends Pick<Frame, "rounds" | "budget" | "profiles"> {
  readonly progress?: Progress;
  /** True when other code prints the events. */
  readonly isPrinted?: boolean;
}

const MAX_WARNING = 600;
const MAX_WARNINGS = 1_000;
const OTHERS = "Further warnings were only counted.";

/**
 * Shows a run on stderr: drawn in place on a terminal, one line per change elsewhere. It owns the shown progress and the unseen warnings.
 *
 * Screen.S1 (`#see`, `#region`) a screen that draws writes no plain line for a change, and a screen that does not draw moves no cursor.
 * Screen.S2 (`#warnings`) each warning is either printed or kept for the summary.
 * Screen.S3 (`#offExit`) at most one listener waits for the end of the process, and none after `end`.
 */
export class Screen {
  readonly style: Style;
  readonly logger: Logger = { ...silentLogger, warn: (text) => this.warn(text), error: (text) => this.alert(text) };
  readonly #host: Host;
  readonly #output: OutputSettings;
  readonly #region: LiveRegion | undefined;
  #offExit: () => void = () => {};
  #progress = new Progress();
  #options: ScreenOptions = { rounds: 0, budget: undefined, profiles: new Map() };
  #began: number;
  #hasEnded = false;
  readonly #warnings = new Map<string, number>();

  constructor(host: Host, output: OutputSettings) {
    this.#host = host;
    this.#output = output;
    this.#began = host.clock.now();
    this.style = styleFor(wantsColor({ isOff: output.isColorOff, env: host.env, isTTY: host.stderr.isTTY === true }));
    const isLive = !output.isQuiet && canDraw(host);
    this.#region = isLive ? new LiveRegion(host.stderr, host.clock, (size, tick) => this.#lines(size, tick)) : undefined;
  }

  say(line: string): void {
    if (!this.#output.isQuiet) this.print([line]);
  }

  /** Cells of a line; Infinity where nothing is broken. */
  get width(): number {
    const { stderr } = this.#host;
    return stderr.isTTY === true ? columnsOf(stderr) - 1 : Infinity;
  }

  /** Prints lines, quiet or not. @param indent spaces before the continuation of a long line */
  print(lines: readonly string[], indent: number = 0): void {
    const { stderr } = this.#host;
    const broken = lines.flatMap((line) => wrapped(line, this.width, indent));
    if (this.#region === undefined) stderr.write(broken.map((line) => `${line}\n`).join(""));
    else this.#region.above(broken);
  }

  warn(text: string): void {
    if (this.#output.isVerbose) this.print([`${this.style.warn("warning:")} ${shown(text)}`]);
    else this.#count(text, 1);
  }

  alert(text: string): void {
    this.warn(text);
    this.showWarning(text);
  }

  showWarning(text: string): void {
    if (this.#output.isVerbose || this.#output.isQuiet) return;
    this.#count(text, -1);
    this.print([this.style.warn(shown(text, MAX_WARNING))], 2);
  }

  get unseenWarnings(): ReadonlyMap<string, number> {
    return this.#warnings;
  }

  #count(text: string, more: 1 | -1): void {
    const kept = this.#warnings.has(text) || this.#warnings.size < MAX_WARNINGS ? text : OTHERS;
    const times = (this.#warnings.get(kept) ?? 0) + more;
    if (times > 0) this.#warnings.set(kept, times);
    else this.#warnings.delete(kept);
  }

  /** Shows a run from now on. To be called in the turn that started it, so that no event is missed. */
  watch(run: Run, options: ScreenOptions): void {
    this.#options = options;
    this.#progress = options.progress ?? new Progress();
    this.#began = this.#host.clock.now();
    this.#hasEnded = false;
    if (this.#output.isQuiet) return;
    this.#offExit();
    this.#offExit = this.#host.onExit(() => this.#region?.restore());
    for (const type of WATCHED) run.on(type, (observed) => this.#see(observed));
    this.#region?.start();
  }

  get age(): number {
    return this.#host.clock.now() - this.#began;
  }

  async aside<T>(work: () => Promise<T>): Promise<T> {
    const wasDrawing = this.#region?.isDrawing === true;
    this.#region?.suspend();
    try {
      return await work();
    } finally {
      if (wasDrawing) this.#region?.start();
    }
  }

  end(): void {
    this.#hasEnded = true;
    this.#region?.stop();
    this.#offExit();
  }

  #see(observed: Observed): void {
    const checks = checksIn(this.#progress, observed, this.#options.profiles);
    this.#progress.add(observed);
    if (this.#output.isTalk && this.#options.isPrinted !== true) {
      const talk = { style: this.style, width: this.width, profiles: this.#options.profiles };
      const lines = sentBy(observed).flatMap((sent) => talkLines(sent, talk));
      if (lines.length > 0) this.print(lines);
      if (this.#region === undefined && observed.type !== "act.failed") return;
    }
    if (checks !== undefined) return this.#printChecks(checks);
    if (this.#region !== undefined || this.#options.isPrinted === true) return;
    const line = plainLine(this.#progress, observed, this.#options.profiles);
    if (line !== undefined) this.#host.stderr.write(`[${elapsed(this.age)}] ${line}\n`);
  }

  #printChecks({ who, whose, isGreen, text }: CheckLine): void {
    const line = `${who}  ${(isGreen ? this.style.good : this.style.bad)(`checks${whose}  ${text}`)}`;
    if (this.#region === undefined) this.#host.stderr.write(`[${elapsed(this.age)}] ${line}\n`);
    else this.print([`  ${line}`], 4);
  }

  #lines(size: Size, tick: number): readonly string[] {
    return progressLines(this.#progress, {
      ...size,
      ...this.#options,
      style: this.style,
      age: this.age,
      tick,
      hasEnded: this.#hasEnded,
    });
  }
}

/** Milliseconds between redraws: ten a second look alive and cost nothing. */
const REDRAW = 100;
const DEFAULT_ROWS = 24;

export type Size = Pick<Frame, "width" | "height">;

/**
 * Redraws the last lines of a terminal while others scroll by above. It owns the drawn lines and the cursor; `draw` gives the text.
 *
 * LiveRegion.L1 it redraws at most every 100 ms (`#beat`). LiveRegion.L2 it erases exactly the lines it drew, also after the terminal was
 * resized (`#home`). LiveRegion.L3 the cursor is hidden only while it draws (`start`, `stop`, `suspend`, `restore`). LiveRegion.L4 no line
 * reaches the last column, so none wraps (`#paint`).
 */
export class LiveRegion {
  readonly #sink: Sink;
  readonly #clock: Clock;
  readonly #draw: (size: Size, tick: number) => readonly string[];
  #widths: readonly number[] = [];
  #cancel: (() => void) | undefined;
  #tick = 0;

  constructor(sink: Sink, clock: Clock, draw: (size: Size, tick: number) => readonly string[]) {
    this.#sink = sink;
    this.#clock = clock;
    this.#draw = draw;
  }

  get isDrawing(): boolean {
    return this.#cancel !== undefined;
  }

  start(): void {
    if (this.#cancel !== undefined) return;
    this.#sink.write("\u001b[?25l");
    this.#beat();
  }

  above(lines: readonly string[]): void {
    const isDrawn = this.#widths.length > 0;
    if (isDrawn) this.#sink.write(this.#erasing());
    this.#sink.write(lines.map((line) => `${line}\n`).join(""));
    if (isDrawn) this.#paint();
  }

  stop(): void {
    if (this.#cancel === undefined) return;
    this.#rest();
    this.#paint();
    this.#widths = [];
    this.#sink.write("\u001b[?25h");
  }

  /** Erases the region so that something else can use the terminal; `start` draws it again. */
  suspend(): void {
    if (this.#cancel === undefined) return;
    this.#rest();
    this.#sink.write(`${this.#erasing()}\u001b[?25h`);
  }

  /** Shows the cursor and does nothing else: for the moment the process ends. */
  restore(): void {
    if (this.#cancel === undefined) return;
    this.#rest();
    this.#sink.write("\u001b[?25h");
  }

  #rest(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #beat(): void {
    this.#paint();
    this.#tick += 1;
    this.#cancel = this.#clock.timer(REDRAW, () => this.#beat());
  }

  /** Overwrites line by line instead of erasing first: nothing flickers. */
  #paint(): void {
    const width = columnsOf(this.#sink) - 1;
    const lines = this.#draw({ width, height: (this.#sink.rows || DEFAULT_ROWS) - 1 }, this.#tick);
    const body = lines.map((line) => `${line}\u001b[K\n`).join("");
    this.#sink.write(`${this.#home()}${body}\u001b[J`);
    this.#widths = lines.map((line) => widthOf(withoutCodes(line)));
  }

  #erasing(): string {
    const codes = `${this.#home()}\u001b[J`;
    this.#widths = [];
    return codes;
  }

  #home(): string {
    const columns = columnsOf(this.#sink);
    const rows = this.#widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    return rows === 0 ? "\r" : `\r\u001b[${rows}A`;
  }
}
