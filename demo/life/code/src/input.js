// From keys and pointers to commands and strokes.
(() => {
  "use strict";

  const { cellAt, cellsBetween } = globalThis.Life.geometry;

  /** Keys that work everywhere on the page. */
  const KEYS = new Map([
    [" ", "run"],
    ["s", "step"],
    ["r", "reset"],
    ["n", "random"],
    ["c", "clear"],
    ["+", "faster"],
    ["=", "faster"],
    ["-", "slower"],
  ]);

  /** Keys that work while the world has the focus. */
  const WORLD_KEYS = new Map([
    ["ArrowUp", "up"],
    ["ArrowRight", "right"],
    ["ArrowDown", "down"],
    ["ArrowLeft", "left"],
    ["Enter", "toggle"],
  ]);

  /**
   * The command of a keydown event, or null. `place` is where the focus is: "world",
   * "page", "button" (which Space presses) or "field" (which needs all its keys).
   */
  function commandOfKey({ key, ctrlKey, metaKey, altKey }, place) {
    if (ctrlKey || metaKey || altKey || place === "field") return null;
    if (key === " " && place === "button") return null;
    const name = key.length === 1 ? key.toLowerCase() : key;
    return (place === "world" ? WORLD_KEYS.get(name) : undefined) ?? KEYS.get(name) ?? null;
  }

  function placeOf(element, canvas) {
    if (element === canvas) return "world";
    if (element.closest("input, select") !== null) return "field";
    return element.closest("button") === null ? "page" : "button";
  }

  function listenToKeys(canvas, onCommand) {
    document.addEventListener("keydown", (event) => {
      const command = commandOfKey(event, placeOf(event.target, canvas));
      if (command === null) return;
      event.preventDefault(); // Space and the arrows must not scroll the page.
      if (event.repeat && (command === "run" || command === "toggle")) return;
      onCommand(command);
    });
  }

  /**
   * Strokes over the canvas. `size` gives the size of a cell; `begin(cell)` tells at the
   * first cell of a stroke whether it draws or wipes, `paint(cells, alive)` does it.
   */
  function listenToPointer(canvas, { size, begin, paint }) {
    let stroke = null;
    const cellOf = (event) => {
      const box = canvas.getBoundingClientRect();
      return cellAt(event.clientX - box.left, event.clientY - box.top, size());
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (!event.isPrimary || event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      const cell = cellOf(event);
      stroke = { cell, alive: begin(cell) };
      paint([cell], stroke.alive);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (stroke === null || !event.isPrimary) return;
      const cell = cellOf(event);
      if (cell.x === stroke.cell.x && cell.y === stroke.cell.y) return;
      paint(cellsBetween(stroke.cell, cell), stroke.alive);
      stroke = { ...stroke, cell };
    });
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, () => {
        stroke = null;
      });
    }
  }

  globalThis.Life.input = Object.freeze({ commandOfKey, listenToKeys, listenToPointer });
})();
