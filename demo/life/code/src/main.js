// Wires the parts together: a command changes the session, and each frame shows it.
(() => {
  "use strict";

  const { isAlive, population } = globalThis.Life.world;
  const { patternOf, PATTERNS } = globalThis.Life.patterns;
  const life = globalThis.Life.session;
  const { gridFor } = globalThis.Life.geometry;
  const { listenToKeys, listenToPointer } = globalThis.Life.input;
  const view = globalThis.Life.view.createView();
  const ticker = globalThis.Life.ticker.createTicker();

  const stage = document.getElementById("stage");
  const find = (id) => document.getElementById(id);
  const prefersCalm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;

  let grid = gridFor(stage.clientWidth, stage.clientHeight);
  /** The cell that the keyboard works on; null while the keyboard is not used on the world. */
  let cursor = null;
  let session = life.open({
    width: grid.columns,
    height: grid.rows,
    patternId: PATTERNS[0].id,
    running: !prefersCalm,
  });

  const summary = () => `Generation ${session.generation}, ${population(session.world)} living cells.`;

  function change(next) {
    session = next;
    if (!session.running) ticker.rest();
  }

  function setRunning(running) {
    change(life.setRunning(session, running));
    view.say(`${session.running ? "Running." : "Paused."} ${summary()}`);
  }

  function loadPattern(id) {
    const { name, note } = patternOf(id);
    change(life.load(session, id));
    view.showPattern(id, note);
    view.say(`${name}. ${note}`);
  }

  function showOwnWorld(next, sentence) {
    change(next);
    view.showPattern("", "Draw with the pointer, or choose a pattern.");
    view.say(sentence);
  }

  function moveCursor(dx, dy) {
    const { width, height } = session.world;
    const from = cursor ?? { x: Math.floor(width / 2) - dx, y: Math.floor(height / 2) - dy };
    cursor = { x: (from.x + dx + width) % width, y: (from.y + dy + height) % height };
    sayCursor();
  }

  function sayCursor() {
    const state = isAlive(session.world, cursor.x, cursor.y) ? "alive" : "dead";
    view.say(`Row ${cursor.y + 1}, column ${cursor.x + 1}, ${state}.`);
  }

  const commands = {
    run: () => setRunning(!session.running),
    step() {
      change(life.advance(life.setRunning(session, false), 1));
      view.say(summary());
    },
    reset() {
      change(life.reset(session));
      view.say(`Back at the start. ${summary()}`);
    },
    random: () => showOwnWorld(life.randomise(session, Math.random), "A random world."),
    clear: () => showOwnWorld(life.clear(session), "An empty world."),
    faster: () => change(life.setSpeed(session, session.speed + 2)),
    slower: () => change(life.setSpeed(session, session.speed - 2)),
    up: () => moveCursor(0, -1),
    right: () => moveCursor(1, 0),
    down: () => moveCursor(0, 1),
    left: () => moveCursor(-1, 0),
    toggle() {
      if (cursor === null) return moveCursor(0, 0);
      change(life.paint(session, [cursor], !isAlive(session.world, cursor.x, cursor.y)));
      sayCursor();
    },
  };

  for (const button of document.querySelectorAll("[data-command]")) {
    button.addEventListener("click", () => commands[button.dataset.command]());
  }
  find("pattern").addEventListener("change", (event) => loadPattern(event.target.value));
  find("speed").addEventListener("input", (event) =>
    change(life.setSpeed(session, Number(event.target.value))),
  );
  find("wrap").addEventListener("change", (event) => change(life.setWrap(session, event.target.checked)));
  view.canvas.addEventListener("blur", () => {
    cursor = null;
  });

  listenToKeys(view.canvas, (command) => commands[command]());
  listenToPointer(view.canvas, {
    size: () => grid.size,
    begin(cell) {
      cursor = null;
      return !isAlive(session.world, cell.x, cell.y);
    },
    paint: (cells, alive) => change(life.paint(session, cells, alive)),
  });

  new ResizeObserver(() => {
    grid = gridFor(stage.clientWidth, stage.clientHeight);
    view.setSize(grid);
    cursor = null;
    change(life.fit(session, grid.columns, grid.rows));
    view.show(session, { size: grid.size, cursor });
  }).observe(stage);

  function frame(now) {
    if (session.running) {
      change(life.advance(session, ticker.due(now, session.speed)));
      if (!session.running) view.say(`Nothing changes any more. ${summary()}`);
    }
    view.show(session, { size: grid.size, cursor });
    requestAnimationFrame(frame);
  }

  view.setSize(grid);
  view.showPattern(PATTERNS[0].id, PATTERNS[0].note);
  requestAnimationFrame(frame);
})();
