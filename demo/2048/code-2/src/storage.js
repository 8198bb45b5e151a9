// Keeps one JSON value in the browser's storage under one key.
//
// Storage is a convenience: it can be switched off, full or damaged, and the game
// must be playable all the same. So nothing here throws.
(() => {
  "use strict";

  /**
   * A place for one value. `getBackend` returns a Web Storage object; it is a function
   * because with blocked cookies even reading window.localStorage throws.
   *
   * load() gives the stored value, or null when there is none that can be read.
   * save() tells whether the value was kept.
   */
  function createStorage(getBackend, key) {
    return {
      load() {
        try {
          return JSON.parse(getBackend().getItem(key));
        } catch {
          return null;
        }
      },
      save(value) {
        try {
          getBackend().setItem(key, JSON.stringify(value));
          return true;
        } catch {
          return false;
        }
      },
    };
  }

  globalThis.Game2048.storage = Object.freeze({ createStorage });
})();
