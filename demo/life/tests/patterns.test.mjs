import assert from "node:assert/strict";
import { describe, test } from "node:test";
import "../src/world.js";
import "../src/patterns.js";
import "../src/geometry.js";

const { isAlive, isSame, population, step } = globalThis.Life.world;
const { PATTERNS, patternOf, pointsOf, worldOf } = globalThis.Life.patterns;
const { FEWEST_COLUMNS } = globalThis.Life.geometry;

const DEAD_EDGES = { wrap: false };

/** The world of a pattern after so many generations. */
function after(id, generations, size = 80) {
  let world = worldOf(patternOf(id), size, size);
  for (let count = 0; count < generations; count += 1) world = step(world, DEAD_EDGES);
  return world;
}

/** True when `moved` is `world` shifted by so many cells. */
function isShifted(world, moved, dx, dy) {
  if (population(world) !== population(moved)) return false;
  for (let y = 0; y < world.height; y += 1) {
    for (let x = 0; x < world.width; x += 1) {
      if (isAlive(world, x, y) && !isAlive(moved, x + dx, y + dy)) return false;
    }
  }
  return true;
}

describe("the pictures", () => {
  test("are rectangles that fit into the narrowest world, each with an id, a name and a note", () => {
    assert.equal(new Set(PATTERNS.map(({ id }) => id)).size, PATTERNS.length);
    for (const { id, name, note, picture } of PATTERNS) {
      assert.ok(
        picture.every((row) => row.length === picture[0].length && /^[.O]+$/.test(row)),
        id,
      );
      assert.ok(picture[0].length < FEWEST_COLUMNS, id);
      assert.ok(name.length > 0 && note.length > 0, id);
    }
  });

  test("give their living cells from the top left corner", () => {
    assert.deepEqual(pointsOf([".O", "O."]), [
      { x: 1, y: 0 },
      { x: 0, y: 1 },
    ]);
  });

  test("stand in the centre of their world", () => {
    const world = worldOf(patternOf("glider"), 9, 7);
    assert.equal(population(world), 5);
    assert.ok(isAlive(world, 4, 2) && isAlive(world, 3, 4) && isAlive(world, 5, 4));
  });
});

describe("what their notes say", () => {
  test("a glider walks one step down and to the right in 4 generations", () => {
    assert.ok(isShifted(after("glider", 0), after("glider", 4), 1, 1));
  });

  test("the spaceship flies two cells in 4 generations", () => {
    assert.ok(isShifted(after("spaceship", 0), after("spaceship", 4), -2, 0));
  });

  test("the pulsar repeats every 3 generations and not earlier", () => {
    const start = after("pulsar", 0);
    assert.deepEqual(
      [1, 2, 3].map((count) => isSame(start, after("pulsar", count))),
      [false, false, true],
    );
  });

  test("the row of ten becomes an oscillator of 15 generations", () => {
    const early = after("pentadecathlon", 10);
    assert.ok(isSame(early, after("pentadecathlon", 25)));
    assert.ok(!isSame(early, after("pentadecathlon", 15)) && !isSame(early, after("pentadecathlon", 13)));
  });

  test("the gun sends out a glider of five cells every 30 generations", () => {
    const counts = [0, 30, 60, 90].map((generations) => population(after("gun", generations)));
    assert.deepEqual(counts, [36, 41, 46, 51]);
  });

  test("diehard vanishes after 130 generations and not before", () => {
    assert.ok(population(after("diehard", 129)) > 0);
    assert.equal(population(after("diehard", 130)), 0);
  });

  test("the R-pentomino and the acorn grow from very few cells", () => {
    assert.equal(population(after("r-pentomino", 0)), 5);
    assert.equal(population(after("acorn", 0)), 7);
    assert.ok(population(after("r-pentomino", 200, 120)) > 50);
    assert.ok(population(after("acorn", 200, 120)) > 50);
  });
});
