// The world: a rectangle of cells. A cell holds its age: 0 for dead, otherwise how
// many generations it has been alive, 255 for that many or more.
//
// Every function is pure: it returns a new world and leaves the old one as it is.
//
// This is a classic script and not an ES module, because browsers refuse to load
// modules for a page opened from disk. It hangs its functions on globalThis.Life.
(() => {
  "use strict";

  const OLDEST = 255;

  function createWorld(width, height) {
    return { width, height, cells: new Uint8Array(width * height) };
  }

  const isInside = ({ width, height }, x, y) => x >= 0 && y >= 0 && x < width && y < height;

  const isAlive = (world, x, y) => isInside(world, x, y) && world.cells[y * world.width + x] > 0;

  /** The number of living cells. */
  function population({ cells }) {
    return cells.reduce((count, age) => count + (age > 0 ? 1 : 0), 0);
  }

  /** Makes cells newly alive, or dead. Points beyond the edges are left out. */
  function setCells(world, points, alive) {
    const cells = world.cells.slice();
    for (const { x, y } of points) {
      if (isInside(world, x, y)) cells[y * world.width + x] = alive ? 1 : 0;
    }
    return { ...world, cells };
  }

  /**
   * The next generation. A living cell with two or three living neighbours stays
   * alive, a dead cell with three comes alive, all others are dead.
   *
   * With `wrap` the edges meet, so that what leaves on the right comes in on the
   * left. Without it everything beyond the edges is dead.
   */
  function step(world, { wrap }) {
    const { width, height, cells } = world;
    const next = new Uint8Array(cells.length);
    for (let y = 0; y < height; y += 1) {
      for (let x = 0; x < width; x += 1) {
        const age = cells[y * width + x];
        const neighbours = countNeighbours(world, x, y, wrap);
        if (neighbours === 3 || (neighbours === 2 && age > 0))
          next[y * width + x] = Math.min(age + 1, OLDEST);
      }
    }
    return { ...world, cells: next };
  }

  function countNeighbours({ width, height, cells }, x, y, wrap) {
    let count = 0;
    for (let dy = -1; dy <= 1; dy += 1) {
      let row = y + dy;
      if (row < 0 || row >= height) {
        if (!wrap) continue;
        row = (row + height) % height;
      }
      for (let dx = -1; dx <= 1; dx += 1) {
        if (dx === 0 && dy === 0) continue;
        let column = x + dx;
        if (column < 0 || column >= width) {
          if (!wrap) continue;
          column = (column + width) % width;
        }
        if (cells[row * width + column] > 0) count += 1;
      }
    }
    return count;
  }

  /** True when the same cells are alive, whatever their ages. */
  function isSame(a, b) {
    if (a.width !== b.width || a.height !== b.height) return false;
    return a.cells.every((age, position) => age > 0 === b.cells[position] > 0);
  }

  /** A world of the same size in which each cell is alive with the chance `density`, from 0 to 1. */
  function scatter({ width, height }, random, density) {
    const world = createWorld(width, height);
    world.cells.forEach((_, position) => {
      if (random() < density) world.cells[position] = 1;
    });
    return world;
  }

  /** The same cells in a world of another size, around the same centre. What no longer fits is cut off. */
  function resize(world, width, height) {
    const resized = createWorld(width, height);
    const left = Math.floor((width - world.width) / 2);
    const top = Math.floor((height - world.height) / 2);
    world.cells.forEach((age, position) => {
      const x = (position % world.width) + left;
      const y = Math.floor(position / world.width) + top;
      if (isInside(resized, x, y)) resized.cells[y * width + x] = age;
    });
    return resized;
  }

  const api = { createWorld, isAlive, population, setCells, step, isSame, scatter, resize };
  globalThis.Life = { ...globalThis.Life, world: Object.freeze(api) };
})();
