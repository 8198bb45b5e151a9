import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import "../src/board.js";
import "../src/game.js";
import "../src/storage.js";
import "../src/input.js";

const { commandOfKey, directionOfSwipe, SWIPE_DISTANCE } = globalThis.Game2048.input;
const { createStorage } = globalThis.Game2048.storage;

const root = new URL("../", import.meta.url);
const page = readFileSync(new URL("index.html", root), "utf8");

const key = (name, modifiers = {}) =>
  commandOfKey({ key: name, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...modifiers });

/** As much of a browser's storage as the game uses. */
function memoryBackend(values = new Map()) {
  return {
    getItem: (name) => values.get(name) ?? null,
    setItem: (name, value) => void values.set(name, value),
  };
}

describe("keys", () => {
  test("arrows and W A S D move", () => {
    assert.deepEqual(
      ["ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft"].map((name) => key(name)),
      ["up", "right", "down", "left"],
    );
    assert.deepEqual(
      ["w", "d", "s", "a"].map((name) => key(name)),
      ["up", "right", "down", "left"],
    );
    assert.equal(key("W", { shiftKey: true }), "up");
  });

  test("U, Ctrl+Z and Command+Z undo, with Shift they do not", () => {
    assert.equal(key("u"), "undo");
    assert.equal(key("z", { ctrlKey: true }), "undo");
    assert.equal(key("z", { metaKey: true }), "undo");
    assert.equal(key("Z", { ctrlKey: true, shiftKey: true }), null);
  });

  test("shortcuts of the browser and other keys are left alone", () => {
    assert.equal(key("ArrowLeft", { altKey: true }), null);
    assert.equal(key("n", { ctrlKey: true }), null);
    assert.equal(key("Tab"), null);
    assert.equal(key("constructor"), null);
  });
});

describe("swipes", () => {
  test("a long way in one direction is a move", () => {
    assert.equal(directionOfSwipe(60, 5), "right");
    assert.equal(directionOfSwipe(-60, -5), "left");
    assert.equal(directionOfSwipe(3, 60), "down");
    assert.equal(directionOfSwipe(-3, -60), "up");
  });

  test("a tap and a slanted way are no move", () => {
    assert.equal(directionOfSwipe(SWIPE_DISTANCE - 1, 0), null);
    assert.equal(directionOfSwipe(50, 48), null);
  });
});

describe("storage", () => {
  test("gives back what was saved, and null when there is nothing", () => {
    const backend = memoryBackend();
    const storage = createStorage(() => backend, "game");
    assert.equal(storage.load(), null);
    assert.equal(storage.save({ score: 8 }), true);
    assert.deepEqual(storage.load(), { score: 8 });
  });

  test("storage that is blocked, full or damaged does not stop the game", () => {
    const refuse = () => {
      throw new Error("denied");
    };
    const blocked = createStorage(refuse, "game");
    assert.equal(blocked.load(), null);
    assert.equal(blocked.save({}), false);
    assert.equal(createStorage(() => ({ setItem: refuse }), "game").save({}), false);
    const damaged = memoryBackend(new Map([["game", "{not json"]]));
    assert.equal(createStorage(() => damaged, "game").load(), null);
  });
});

describe("the page", () => {
  const links = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link);
  const scripts = links.filter((link) => link.endsWith(".js"));

  test("names only files that are there, none of them on the network", () => {
    const files = links.filter((link) => !link.startsWith("data:"));
    assert.ok(files.length > 0);
    for (const link of files) assert.ok(existsSync(new URL(link, root)), link);
    assert.ok(files.every((link) => !/^(?:[a-z]+:)?\/\//.test(link)));
  });

  test("loads its scripts in the order they need each other, as classic scripts", () => {
    assert.deepEqual(
      scripts,
      ["board", "game", "storage", "input", "view", "main"].map((name) => `src/${name}.js`),
    );
    assert.doesNotMatch(page, /type="module"/);
  });

  test("has every element that the scripts look up", () => {
    const code = ["view", "main"]
      .map((name) => readFileSync(new URL(`src/${name}.js`, root), "utf8"))
      .join("\n");
    const ids = [...code.matchAll(/(?:find|getElementById)\("([^"]+)"\)/g)].map(([, id]) => id);
    assert.ok(ids.length > 5);
    for (const id of ids) assert.match(page, new RegExp(`id="${id}"`));
  });
});
