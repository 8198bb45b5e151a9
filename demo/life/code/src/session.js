// The session: the world on the screen, how it got there, and whether it runs.
// A session is a plain object that is never changed; every function returns the next one.
(() => {
  "use strict";

  const { isSame, population, resize, scatter, setCells, step, createWorld } = globalThis.Life.world;
  const { patternOf, worldOf } = globalThis.Life.patterns;

  /** How full a random world is. Around a third it stays lively for longest. */
  const DENSITY = 0.3;

  const SPEEDS = Object.freeze({ min: 1, max: 60, usual: 12 });

  /** `start` is the world that reset comes back to: the one of generation 0. */
  const begin = (session, world) => ({ ...session, world, start: world, generation: 0 });

  function open({ width, height, patternId, running }) {
    const world = worldOf(patternOf(patternId), width, height);
    return begin({ running, wrap: false, speed: SPEEDS.usual }, world);
  }

  /** Puts a pattern into an empty world. Whether the world runs stays as it is. */
  function load(session, patternId) {
    const { width, height } = session.world;
    return begin(session, worldOf(patternOf(patternId), width, height));
  }

  const randomise = (session, random) => begin(session, scatter(session.world, random, DENSITY));

  function clear(session) {
    const { width, height } = session.world;
    return begin({ ...session, running: false }, createWorld(width, height));
  }

  const reset = (session) => begin({ ...session, running: false }, session.start);

  /**
   * Up to `count` generations. It stops by itself when all cells are dead or none
   * changes any more: then nothing would ever happen again.
   */
  function advance(session, count) {
    let { world, generation } = session;
    for (let made = 0; made < count; made += 1) {
      const next = step(world, session);
      if (isSame(next, world)) return { ...session, world: next, generation, running: false };
      world = next;
      generation += 1;
    }
    return { ...session, world, generation, running: session.running && population(world) > 0 };
  }

  /** Draws or wipes cells. Before the first generation this changes what reset comes back to. */
  function paint(session, points, alive) {
    const world = setCells(session.world, points, alive);
    return { ...session, world, start: session.generation === 0 ? world : session.start };
  }

  /** An empty world has nothing to run. */
  function setRunning(session, running) {
    return { ...session, running: running && population(session.world) > 0 };
  }

  const setWrap = (session, wrap) => ({ ...session, wrap });

  const setSpeed = (session, speed) => ({
    ...session,
    speed: Math.min(SPEEDS.max, Math.max(SPEEDS.min, speed)),
  });

  /** The same session in a world of another size: the window has changed. */
  function fit(session, width, height) {
    const { world, start } = session;
    if (world.width === width && world.height === height) return session;
    return { ...session, world: resize(world, width, height), start: resize(start, width, height) };
  }

  const api = {
    SPEEDS,
    open,
    load,
    randomise,
    clear,
    reset,
    advance,
    paint,
    setRunning,
    setWrap,
    setSpeed,
    fit,
  };
  globalThis.Life.session = Object.freeze(api);
})();
