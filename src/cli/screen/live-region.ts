import type { Clock } from "../../kernel/clock.ts";
import type { Sink } from "../host.ts";
import { widthOf, withoutCodes } from "./layout.ts";
import { columnsOf } from "./text.ts";

/** Milliseconds between redraws: ten a second look alive and cost nothing. */
const REDRAW = 100;
const DEFAULT_ROWS = 24;

function rowsOf({ rows = 0 }: Sink): number {
  return rows > 0 ? rows : DEFAULT_ROWS;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * Redraws the last lines of a terminal while other lines scroll by above. It owns the drawn lines and the cursor; `draw` gives the text at
 * each redraw.
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

  /** Draws a last time, leaves the lines and shows the cursor. */
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
    const lines = this.#draw({ width, height: rowsOf(this.#sink) - 1 }, this.#tick);
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
