// The board: sixteen cells in one array, row by row, 0 for an empty cell.
//
// Every function here is pure: it takes a board and returns a new one, and chance
// comes in as an argument. The page and the tests use the same file.
//
// This is a classic script and not an ES module, because browsers refuse to load
// modules for a page opened from disk. It hangs its functions on globalThis.Game2048.
(() => {
  "use strict";

  const SIZE = 4;
  const DIRECTIONS = Object.freeze(["up", "right", "down", "left"]);

  /** One new tile in ten is a 4, the others are a 2. */
  const CHANCE_OF_FOUR = 0.1;

  const emptyBoard = () => new Array(SIZE * SIZE).fill(0);

  /** The position of a row and a column, both counted from 0. */
  const cellAt = (row, column) => row * SIZE + column;

  /**
   * The four lines a move works on. Each line starts at the wall that the tiles
   * slide to, so to slide is always to go to the front of the line.
   */
  function linesOf(direction) {
    const positionOf = {
      left: (line, step) => cellAt(line, step),
      right: (line, step) => cellAt(line, SIZE - 1 - step),
      up: (line, step) => cellAt(step, line),
      down: (line, step) => cellAt(SIZE - 1 - step, line),
    }[direction];
    if (positionOf === undefined) throw new RangeError(`Unknown direction: ${direction}`);
    const counts = [...new Array(SIZE).keys()];
    return counts.map((line) => counts.map((step) => positionOf(line, step)));
  }

  /**
   * Slides every tile as far as it goes and merges equal neighbours, the pair
   * nearest to the wall first.
   *
   * `motions` has one entry for every tile: where it was, where it went, and
   * whether it merged into the tile already there. The view animates from it.
   */
  function slide(cells, direction) {
    const next = emptyBoard();
    const motions = [];
    let gained = 0;
    for (const line of linesOf(direction)) {
      let filled = 0;
      for (const from of line) {
        const value = cells[from];
        if (value === 0) continue;
        const last = line[filled - 1];
        if (filled > 0 && next[last] === value) {
          next[last] = value * 2;
          gained += value * 2;
          motions.push({ from, to: last, merges: true });
        } else {
          const to = line[filled];
          next[to] = value;
          filled += 1;
          motions.push({ from, to, merges: false });
        }
      }
    }
    const moved = motions.some(({ from, to }) => from !== to);
    return { cells: next, moved, gained, motions };
  }

  /** True while at least one direction would change the board. */
  function canMove(cells) {
    return DIRECTIONS.some((direction) => slide(cells, direction).moved);
  }

  /** The positions without a tile. */
  function freeCells(cells) {
    return cells.flatMap((value, position) => (value === 0 ? [position] : []));
  }

  /**
   * Puts a new tile on a free cell. `random` gives a number from 0 up to 1, as
   * Math.random does; it is asked twice: for the place, then for the value.
   */
  function addTile(cells, random) {
    const free = freeCells(cells);
    if (free.length === 0) throw new RangeError("The board is full: no place for a new tile.");
    const position = free[Math.floor(random() * free.length)];
    const value = random() < CHANCE_OF_FOUR ? 4 : 2;
    return { cells: cells.with(position, value), position };
  }

  const highestTile = (cells) => Math.max(...cells);

  /** True for sixteen cells that a game can really hold, at least one tile among them. */
  function isBoard(value) {
    const isCell = (cell) =>
      cell === 0 || (Number.isSafeInteger(cell) && cell >= 2 && Number.isInteger(Math.log2(cell)));
    return (
      Array.isArray(value) &&
      value.length === SIZE * SIZE &&
      value.every(isCell) &&
      value.some((cell) => cell > 0)
    );
  }

  const api = { SIZE, DIRECTIONS, emptyBoard, slide, canMove, freeCells, addTile, highestTile, isBoard };
  globalThis.Game2048 = { ...globalThis.Game2048, board: Object.freeze(api) };
})();
