// From keys and fingers to commands: "up", "right", "down", "left", "undo", "new".
(() => {
  "use strict";

  const COMMANDS = new Map([
    ["ArrowUp", "up"],
    ["ArrowRight", "right"],
    ["ArrowDown", "down"],
    ["ArrowLeft", "left"],
    ["w", "up"],
    ["d", "right"],
    ["s", "down"],
    ["a", "left"],
    ["u", "undo"],
    ["n", "new"],
  ]);

  /** How far a finger must go, in CSS pixels, before it is a swipe and not a tap. */
  const SWIPE_DISTANCE = 24;

  /** How much longer than wide a swipe must be. A diagonal one is a guess, so it is no move. */
  const SWIPE_RATIO = 1.25;

  /** The command of a keydown event, or null. Shortcuts of the browser stay the browser's. */
  function commandOfKey({ key, ctrlKey, metaKey, altKey, shiftKey }) {
    if (altKey) return null;
    if (ctrlKey || metaKey) return key.toLowerCase() === "z" && !shiftKey ? "undo" : null;
    return COMMANDS.get(key.length === 1 ? key.toLowerCase() : key) ?? null;
  }

  /** The direction of a finger's way, or null while it is too short or too slanted. */
  function directionOfSwipe(dx, dy) {
    const [width, height] = [Math.abs(dx), Math.abs(dy)];
    if (Math.max(width, height) < SWIPE_DISTANCE) return null;
    if (width >= height * SWIPE_RATIO) return dx > 0 ? "right" : "left";
    if (height >= width * SWIPE_RATIO) return dy > 0 ? "down" : "up";
    return null;
  }

  function listenToKeys(target, onCommand) {
    target.addEventListener("keydown", (event) => {
      const command = commandOfKey(event);
      if (command === null) return;
      event.preventDefault(); // The arrow keys must not scroll the page.
      if (event.repeat && command === "new") return;
      onCommand(command);
    });
  }

  /** One swipe is one move, made as soon as its direction is clear and not only at its end. */
  function listenToSwipes(element, onCommand) {
    let start = null;
    const forget = () => {
      start = null;
    };
    element.addEventListener("pointerdown", (event) => {
      if (event.isPrimary && !event.target.closest("button")) start = { x: event.clientX, y: event.clientY };
    });
    element.addEventListener("pointermove", (event) => {
      if (start === null || !event.isPrimary) return;
      const direction = directionOfSwipe(event.clientX - start.x, event.clientY - start.y);
      if (direction === null) return;
      forget();
      onCommand(direction);
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) element.addEventListener(end, forget);
  }

  const api = { SWIPE_DISTANCE, commandOfKey, directionOfSwipe, listenToKeys, listenToSwipes };
  globalThis.Game2048.input = Object.freeze(api);
})();
