// Turns the time that went by into generations that are due.
(() => {
  "use strict";

  /**
   * The most generations of one frame. After a pause of the browser, such as a tab in
   * the background, the world goes on from where it was and does not race to catch up.
   */
  const MOST_AT_ONCE = 4;

  /**
   * `due(now, speed)` tells how many generations to make now; `now` is in milliseconds,
   * `speed` in generations per second. Parts of a generation are kept for the next call.
   */
  function createTicker() {
    let last = null;
    let part = 0;
    return {
      due(now, speed) {
        if (last !== null) part += (Math.max(0, now - last) * speed) / 1000;
        last = now;
        const whole = Math.floor(part);
        part -= whole;
        return Math.min(whole, MOST_AT_ONCE);
      },
      /** Forgets the time: the next call starts anew. */
      rest() {
        last = null;
        part = 0;
      },
    };
  }

  globalThis.Life.ticker = Object.freeze({ MOST_AT_ONCE, createTicker });
})();
