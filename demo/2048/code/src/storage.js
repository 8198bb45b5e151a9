// Keeps one JSON value in the browser's storage under one key.
(() => {
  "use strict";

  /** A place for one value. The page gives it window.localStorage. */
  function createStorage(backend, key) {
    return {
      load() {
        const text = backend.getItem(key);
        return text === null ? null : JSON.parse(text);
      },
      save(value) {
        backend.setItem(key, JSON.stringify(value));
      },
    };
  }

  globalThis.Game2048.storage = Object.freeze({ createStorage });
})();
