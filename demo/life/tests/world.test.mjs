import assert from "node:assert/strict";
import { describe, test } from "node:test";
import "../src/world.js";

const { createWorld, isAlive, isSame, population, resize, scatter, setCells, step } = globalThis.Life.world;

const DEAD_EDGES = { wrap: false };
const WRAPPED = { wrap: true };

/** A world from a picture: O is alive. */
function worldOf(...rows) {
  const points = rows.flatMap((row, y) =>
    [...row].flatMap((letter, x) => (letter === "O" ? [{ x, y }] : [])),
  );
  return setCells(createWorld(rows[0].length, rows.length), points, true);
}

/** The picture of a world. */
function pictureOf({ width, height, cells }) {
  return Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (_unused, x) => (cells[y * width + x] > 0 ? "O" : ".")).join(""),
  );
}

describe("the rules", () => {
  /** The state of the middle cell after one step, with so many living neighbours. */
  function middleAfter(alive, neighbours) {
    const around = [0, 1, 2, 3, 5, 6, 7, 8].slice(0, neighbours);
    const points = (alive ? [4, ...around] : around).map((position) => ({
      x: position % 3,
      y: Math.floor(position / 3),
    }));
    return isAlive(step(setCells(createWorld(3, 3), points, true), DEAD_EDGES), 1, 1);
  }

  test("a living cell stays alive with two or three neighbours only", () => {
    const survives = [0, 1, 2, 3, 4, 5, 6, 7, 8].filter((neighbours) => middleAfter(true, neighbours));
    assert.deepEqual(survives, [2, 3]);
  });

  test("a dead cell comes alive with three neighbours only", () => {
    const born = [0, 1, 2, 3, 4, 5, 6, 7, 8].filter((neighbours) => middleAfter(false, neighbours));
    assert.deepEqual(born, [3]);
  });

  test("all cells change at the same time, in a new world", () => {
    const before = worldOf(".....", ".....", ".OOO.", ".....", ".....");
    const upright = step(before, DEAD_EDGES);
    assert.deepEqual(pictureOf(before), [".....", ".....", ".OOO.", ".....", "....."]);
    assert.deepEqual(pictureOf(upright), [".....", "..O..", "..O..", "..O..", "....."]);
  });
});

describe("the edges", () => {
  test("are dead when they do not meet", () => {
    assert.deepEqual(pictureOf(step(worldOf("O..", "O..", "O.."), DEAD_EDGES)), ["...", "OO.", "..."]);
  });

  test("join left with right and top with bottom when they meet", () => {
    const sideways = step(worldOf(".....", "O....", "O....", "O....", "....."), WRAPPED);
    assert.deepEqual(pictureOf(sideways), [".....", ".....", "OO..O", ".....", "....."]);
    const upwards = step(worldOf(".OOO.", ".....", ".....", ".....", "....."), WRAPPED);
    assert.deepEqual(pictureOf(upwards), ["..O..", "..O..", ".....", ".....", "..O.."]);
  });

  test("join at the corners too", () => {
    const corners = worldOf("O..O", "....", "....", "O..O");
    assert.deepEqual(pictureOf(step(corners, WRAPPED)), pictureOf(corners), "four corners are one block");
    assert.equal(population(step(corners, DEAD_EDGES)), 0);
  });
});

describe("ages", () => {
  test("a new cell is 1 generation old and grows older while it lives", () => {
    let world = worldOf("OO", "OO");
    assert.deepEqual([...world.cells], [1, 1, 1, 1]);
    world = step(step(world, DEAD_EDGES), DEAD_EDGES);
    assert.deepEqual([...world.cells], [3, 3, 3, 3]);
  });

  test("the oldest age is 255: it does not start again at 0, which would be death", () => {
    let world = worldOf("OO", "OO");
    for (let count = 0; count < 300; count += 1) world = step(world, DEAD_EDGES);
    assert.deepEqual([...world.cells], [255, 255, 255, 255]);
  });
});

describe("drawing", () => {
  test("cells are set and wiped, those beyond the edges are left out", () => {
    const points = [
      { x: 0, y: 0 },
      { x: 2, y: 1 },
      { x: 3, y: 0 },
      { x: -1, y: 1 },
      { x: 0, y: 2 },
    ];
    const drawn = setCells(createWorld(3, 2), points, true);
    assert.deepEqual(pictureOf(drawn), ["O..", "..O"]);
    assert.equal(population(setCells(drawn, points, false)), 0);
    assert.equal(isAlive(drawn, -1, 1), false);
    assert.equal(isAlive(drawn, 3, 0), false);
  });
});

describe("whole worlds", () => {
  test("are the same when the same cells live, whatever their ages", () => {
    const block = worldOf("OO", "OO");
    assert.equal(isSame(block, step(block, DEAD_EDGES)), true);
    assert.equal(isSame(block, worldOf("OO", "O.")), false);
    assert.equal(isSame(createWorld(2, 3), createWorld(3, 2)), false);
  });

  test("a random world is as full as asked", () => {
    const chances = [0.1, 0.9, 0.29, 0.3];
    const world = scatter(createWorld(2, 2), () => chances.shift(), 0.3);
    assert.deepEqual(pictureOf(world), ["O.", "O."]);
  });

  test("keep their centre in another size", () => {
    const small = worldOf("OO", ".O");
    const large = resize(small, 6, 4);
    assert.deepEqual(pictureOf(large), ["......", "..OO..", "...O..", "......"]);
    assert.deepEqual(pictureOf(resize(large, 2, 2)), pictureOf(small));
    assert.equal(population(resize(large, 1, 1)), 1);
  });
});
