import assert from "node:assert/strict";
import { describe, test } from "node:test";
import "../src/board.js";

const { addTile, canMove, DIRECTIONS, emptyBoard, freeCells, highestTile, isBoard, slide } =
  globalThis.Game2048.board;

/** A board whose first row is `row` and whose other rows are empty. */
const withRow = (...row) => [...row, ...emptyBoard().slice(4)];
const rowOf = ({ cells }) => cells.slice(0, 4);
const columnOf = ({ cells }) => [cells[0], cells[4], cells[8], cells[12]];

/** A board whose first column is `column` and whose other columns are empty. */
const withColumn = (...column) => column.flatMap((value) => [value, 0, 0, 0]);

/** Stands in for Math.random and gives these numbers in turn. */
function chances(...numbers) {
  return () => numbers.shift();
}

describe("sliding", () => {
  test("tiles slide to the wall and keep their order", () => {
    assert.deepEqual(rowOf(slide(withRow(0, 2, 0, 4), "left")), [2, 4, 0, 0]);
    assert.deepEqual(rowOf(slide(withRow(2, 0, 4, 0), "right")), [0, 0, 2, 4]);
    assert.deepEqual(columnOf(slide(withColumn(0, 2, 0, 4), "up")), [2, 4, 0, 0]);
    assert.deepEqual(columnOf(slide(withColumn(2, 0, 4, 0), "down")), [0, 0, 2, 4]);
  });

  test("all rows move at once and do not touch each other", () => {
    const cells = Object.freeze([0, 0, 0, 2, 0, 0, 4, 0, 0, 8, 0, 0, 16, 0, 0, 0]);
    assert.deepEqual(slide(cells, "left").cells, [2, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0, 16, 0, 0, 0]);
  });

  test("a board that cannot move that way is told as not moved", () => {
    const result = slide(withRow(2, 4, 8, 0), "left");
    assert.equal(result.moved, false);
    assert.equal(result.gained, 0);
    assert.equal(slide(withRow(2, 4, 8, 0), "right").moved, true);
  });
});

describe("merging", () => {
  test("two equal tiles become one of twice the value, which is the gain", () => {
    const result = slide(withRow(2, 2, 0, 0), "left");
    assert.deepEqual(rowOf(result), [4, 0, 0, 0]);
    assert.equal(result.gained, 4);
  });

  test("equal tiles merge across a gap, but not across another tile", () => {
    assert.deepEqual(rowOf(slide(withRow(2, 0, 0, 2), "left")), [4, 0, 0, 0]);
    assert.deepEqual(rowOf(slide(withRow(2, 4, 0, 2), "left")), [2, 4, 2, 0]);
  });

  test("of three equal tiles the two nearest to the wall merge", () => {
    assert.deepEqual(rowOf(slide(withRow(2, 2, 2, 0), "left")), [4, 2, 0, 0]);
    assert.deepEqual(rowOf(slide(withRow(2, 2, 2, 0), "right")), [0, 0, 2, 4]);
    assert.deepEqual(columnOf(slide(withColumn(0, 2, 2, 2), "down")), [0, 0, 2, 4]);
  });

  test("four equal tiles make two pairs", () => {
    const result = slide(withRow(2, 2, 2, 2), "left");
    assert.deepEqual(rowOf(result), [4, 4, 0, 0]);
    assert.equal(result.gained, 8);
  });

  test("a merged tile does not merge again in the same move", () => {
    assert.deepEqual(rowOf(slide(withRow(2, 2, 4, 0), "left")), [4, 4, 0, 0]);
    assert.deepEqual(rowOf(slide(withRow(2, 2, 4, 8), "left")), [4, 4, 8, 0]);
  });

  test("a merged tile does not merge again in any direction", () => {
    assert.deepEqual(rowOf(slide(withRow(0, 4, 2, 2), "right")), [0, 0, 4, 4]);
    assert.deepEqual(columnOf(slide(withColumn(2, 2, 4, 0), "up")), [4, 4, 0, 0]);
    assert.deepEqual(columnOf(slide(withColumn(0, 4, 2, 2), "down")), [0, 0, 4, 4]);
  });

  test("a merged tile counts once for the gain", () => {
    assert.equal(slide(withRow(2, 2, 4, 0), "left").gained, 4);
    assert.equal(slide(withRow(4, 4, 8, 16), "left").gained, 8);
  });
});

describe("motions", () => {
  test("every tile has one, and the tile that comes second is the one that merges", () => {
    assert.deepEqual(slide(withRow(0, 2, 0, 4), "left").motions, [
      { from: 1, to: 0, merges: false },
      { from: 3, to: 1, merges: false },
    ]);
    assert.deepEqual(slide(withRow(2, 0, 2, 0), "right").motions, [
      { from: 2, to: 3, merges: false },
      { from: 0, to: 3, merges: true },
    ]);
  });
});

describe("the end of a board", () => {
  const full = [2, 4, 2, 4, 4, 2, 4, 2, 2, 4, 2, 4, 4, 2, 4, 2];

  test("a full board without equal neighbours cannot move", () => {
    assert.equal(canMove(full), false);
    const equalAcrossTheEdge = [2, 4, 8, 16, 16, 8, 4, 2, 2, 4, 8, 16, 16, 8, 4, 2];
    assert.equal(
      canMove(equalAcrossTheEdge),
      false,
      "the end of a row and the start of the next are no neighbours",
    );
  });

  test("one free cell or one pair of neighbours is enough to move", () => {
    assert.equal(canMove(full.with(5, 0)), true);
    assert.equal(canMove(full.with(15, 4)), true, "a pair in a column");
    assert.equal(canMove(full.with(3, 2)), true, "a pair in a row");
  });
});

describe("new tiles", () => {
  test("a new tile takes the free cell that chance names, and there must be one", () => {
    const cells = withRow(2, 0, 4, 0);
    assert.deepEqual(addTile(cells, chances(0, 0.5)), { cells: withRow(2, 2, 4, 0), position: 1 });
    assert.equal(addTile(cells, chances(0.999, 0.5)).position, 15);
    const full = new Array(16).fill(2);
    assert.deepEqual(freeCells(full), []);
    assert.throws(() => addTile(full, chances(0, 0)), /full/);
  });

  test("one chance in ten gives a 4", () => {
    assert.equal(highestTile(addTile(emptyBoard(), chances(0, 0.099)).cells), 4);
    assert.equal(highestTile(addTile(emptyBoard(), chances(0, 0.1)).cells), 2);
  });
});

describe("what counts as a board", () => {
  test("sixteen cells of 0 or powers of two, with a tile among them", () => {
    assert.equal(isBoard(withRow(2, 1024, 0, 4)), true);
    const oddCells = [3, 1, -2, "2", NaN, 2.5, Infinity].map((cell) => withRow(cell, 2, 2, 2));
    for (const value of [null, "2048", {}, [2, 4], emptyBoard(), ...oddCells]) {
      assert.equal(isBoard(value), false, JSON.stringify(value));
    }
  });
});
