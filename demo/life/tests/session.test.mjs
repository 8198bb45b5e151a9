import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import "../src/world.js";
import "../src/patterns.js";
import "../src/session.js";
import "../src/ticker.js";
import "../src/geometry.js";
import "../src/input.js";

const { isAlive, isSame, population } = globalThis.Life.world;
const { PATTERNS, patternOf } = globalThis.Life.patterns;
const { advance, clear, fit, load, open, paint, randomise, reset, setRunning, setSpeed, setWrap, SPEEDS } =
  globalThis.Life.session;
const { createTicker, MOST_AT_ONCE } = globalThis.Life.ticker;
const { cellAt, cellsBetween, FEWEST_COLUMNS, gridFor, MOST } = globalThis.Life.geometry;
const { commandOfKey } = globalThis.Life.input;

const start = (patternId = "glider", running = false) => open({ width: 20, height: 20, patternId, running });

describe("a session", () => {
  test("counts its generations and comes back to the start", () => {
    const begun = start();
    const later = advance(begun, 7);
    assert.equal(later.generation, 7);
    const back = reset(later);
    assert.equal(back.generation, 0);
    assert.ok(isSame(back.world, begun.world));
  });

  test("stops by itself when nothing changes any more", () => {
    const blinkerGone = advance(setRunning(paint(clear(start()), [{ x: 3, y: 3 }], true), true), 5);
    assert.deepEqual(
      [blinkerGone.running, blinkerGone.generation, population(blinkerGone.world)],
      [false, 1, 0],
    );
    const block = [
      { x: 3, y: 3 },
      { x: 4, y: 3 },
      { x: 3, y: 4 },
      { x: 4, y: 4 },
    ];
    const still = advance(setRunning(paint(clear(start()), block, true), true), 5);
    assert.deepEqual([still.running, still.generation, population(still.world)], [false, 0, 4]);
  });

  test("runs on while something changes", () => {
    assert.equal(advance(start("pulsar", true), 30).running, true);
    assert.equal(advance(start("pulsar", false), 30).running, false);
    assert.equal(setRunning(clear(start()), true).running, false, "an empty world has nothing to run");
  });

  test("a pattern or a random world starts anew and keeps running", () => {
    const running = advance(start("gun", true), 3);
    const loaded = load(running, "pulsar");
    assert.deepEqual([loaded.generation, loaded.running], [0, true]);
    const random = randomise(running, () => 0);
    assert.deepEqual([random.generation, population(random.world)], [0, 400]);
  });

  test("what is drawn before the first generation belongs to the start", () => {
    const corner = [{ x: 0, y: 0 }];
    const early = reset(advance(paint(start(), corner, true), 2));
    assert.ok(isAlive(early.world, 0, 0));
    const late = reset(paint(advance(start(), 2), corner, true));
    assert.ok(!isAlive(late.world, 0, 0));
  });

  test("the choice of the edges counts", () => {
    const wrapped = advance(setWrap(start(), true), 80);
    assert.equal(population(wrapped.world), 5, "the glider walks round the world");
    assert.equal(population(advance(start(), 80).world), 4, "the glider ends as a block in the corner");
  });

  test("the speed stays within its bounds", () => {
    assert.equal(setSpeed(start(), 0).speed, SPEEDS.min);
    assert.equal(setSpeed(start(), 1000).speed, SPEEDS.max);
  });

  test("another size keeps the cells, also those of the start", () => {
    const session = advance(start(), 4);
    const wide = fit(session, 31, 20);
    assert.equal(population(wide.world), 5);
    assert.equal(population(reset(wide).world), 5);
    assert.equal(fit(session, 20, 20), session);
  });
});

describe("the ticker", () => {
  test("makes as many generations as the speed says, whatever the frames", () => {
    const ticker = createTicker();
    let made = 0;
    for (let frame = 0; frame <= 120; frame += 1) made += ticker.due((frame * 1000) / 60, 12);
    assert.ok(made === 24 || made === 23, `${made} in two seconds`);
  });

  test("does not race to catch up after a pause of the browser", () => {
    const ticker = createTicker();
    ticker.due(0, 60);
    assert.equal(ticker.due(60_000, 60), MOST_AT_ONCE);
    assert.equal(ticker.due(60_001, 60), 0);
  });

  test("starts anew after a rest, also when time seems to go back", () => {
    const ticker = createTicker();
    ticker.due(0, 10);
    ticker.rest();
    assert.equal(ticker.due(5000, 10), 0);
    assert.equal(ticker.due(4000, 10), 0);
  });
});

describe("pixels and cells", () => {
  test("every area gets a grid that fits into it and holds every pattern", () => {
    for (const [width, height] of [
      [358, 480],
      [844, 300],
      [1208, 588],
      [2560, 1300],
      [5120, 2880],
    ]) {
      const { columns, rows, size } = gridFor(width, height);
      assert.ok(columns * size <= width && rows * size <= height, `${width} x ${height}`);
      assert.ok(
        columns >= FEWEST_COLUMNS && columns <= MOST.columns && rows <= MOST.rows,
        `${columns} x ${rows}`,
      );
    }
    assert.deepEqual(gridFor(0, 0), { columns: 1, rows: 1, size: 4 });
  });

  test("a point belongs to the cell that covers it", () => {
    assert.deepEqual(cellAt(13.9, 14, 14), { x: 0, y: 1 });
    assert.deepEqual(cellAt(-1, 0, 14), { x: -1, y: 0 });
  });

  test("a quick stroke leaves no gaps", () => {
    const cells = cellsBetween({ x: 2, y: 9 }, { x: 9, y: 5 });
    assert.deepEqual(
      [cells[0], cells.at(-1)],
      [
        { x: 2, y: 9 },
        { x: 9, y: 5 },
      ],
    );
    for (const [index, { x, y }] of cells.slice(1).entries()) {
      assert.ok(Math.max(Math.abs(x - cells[index].x), Math.abs(y - cells[index].y)) === 1);
    }
    assert.deepEqual(cellsBetween({ x: 4, y: 4 }, { x: 4, y: 4 }), [{ x: 4, y: 4 }]);
  });
});

describe("keys", () => {
  const key = (name, place, modifiers = {}) =>
    commandOfKey({ key: name, ctrlKey: false, metaKey: false, altKey: false, ...modifiers }, place);

  test("work on the page, arrows and Enter only in the world", () => {
    assert.deepEqual(
      ["S", "n", "+", " "].map((name) => key(name, "page")),
      ["step", "random", "faster", "run"],
    );
    assert.deepEqual(
      [key("ArrowUp", "world"), key("Enter", "world"), key(" ", "world")],
      ["up", "toggle", "run"],
    );
    assert.equal(key("ArrowUp", "page"), null);
  });

  test("of controls and shortcuts of the browser are left alone", () => {
    assert.equal(key(" ", "button"), null);
    assert.equal(key("s", "field"), null);
    assert.equal(key("r", "page", { ctrlKey: true }), null);
    assert.equal(key("s", "button"), "step");
  });
});

describe("the page", () => {
  const root = new URL("../", import.meta.url);
  const page = readFileSync(new URL("index.html", root), "utf8");

  test("names only files that are there, as classic scripts in the order they need each other", () => {
    const links = [...page.matchAll(/(?:src|href)="([^"]+)"/g)]
      .map(([, link]) => link)
      .filter((link) => !link.startsWith("data:"));
    for (const link of links) assert.ok(existsSync(new URL(link, root)), link);
    const scripts = ["world", "patterns", "session", "ticker", "geometry", "input", "view", "main"];
    assert.deepEqual(
      links.filter((link) => link.endsWith(".js")),
      scripts.map((name) => `src/${name}.js`),
    );
    assert.doesNotMatch(page, /type="module"/);
  });

  test("has every element that the scripts look up, and a first pattern", () => {
    const code = ["view", "main"]
      .map((name) => readFileSync(new URL(`src/${name}.js`, root), "utf8"))
      .join("\n");
    const ids = [...code.matchAll(/(?:find|write|getElementById)\("([^"]+)"/g)].map(([, id]) => id);
    assert.ok(ids.length > 5);
    for (const id of ids) assert.match(page, new RegExp(`id="${id}"`));
    assert.equal(patternOf(PATTERNS[0].id), PATTERNS[0]);
  });
});
