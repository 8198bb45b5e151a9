// Between pixels and cells. Pure functions.
(() => {
  "use strict";

  /** The widest pattern has 36 cells; a world this wide shows it with some room. */
  const FEWEST_COLUMNS = 44;

  /** A world never has more cells than these, so that large screens stay quick. */
  const MOST = Object.freeze({ columns: 160, rows: 100 });

  /** The wished size of a cell, in CSS pixels. */
  const WISHED_SIZE = 14;

  /** The grid for an area of so many pixels: { columns, rows, size }, `size` being that of a cell. */
  function gridFor(width, height) {
    const fitting = Math.min(WISHED_SIZE, Math.floor(width / FEWEST_COLUMNS));
    const size = Math.max(4, fitting, Math.ceil(width / MOST.columns), Math.ceil(height / MOST.rows));
    const whole = (length) => Math.max(1, Math.floor(length / size));
    return { columns: whole(width), rows: whole(height), size };
  }

  /** The cell under a point of the canvas. It may lie beyond the edges. */
  const cellAt = (x, y, size) => ({ x: Math.floor(x / size), y: Math.floor(y / size) });

  /**
   * The cells on the straight way from one cell to another, both included. A quick
   * stroke of the pointer reports few points; this fills the gaps between them.
   */
  function cellsBetween(from, to) {
    const steps = Math.max(Math.abs(to.x - from.x), Math.abs(to.y - from.y));
    return Array.from({ length: steps + 1 }, (_, count) => {
      const part = steps === 0 ? 0 : count / steps;
      return {
        x: Math.round(from.x + (to.x - from.x) * part),
        y: Math.round(from.y + (to.y - from.y) * part),
      };
    });
  }

  globalThis.Life.geometry = Object.freeze({ FEWEST_COLUMNS, MOST, gridFor, cellAt, cellsBetween });
})();
