// Draws a session: the world on the canvas, the rest in the controls.
(() => {
  "use strict";

  const { population } = globalThis.Life.world;
  const { PATTERNS } = globalThis.Life.patterns;

  /** Cells change colour with age: the colours are --cell-0 to --cell-3 of the stylesheet. */
  const AGES = [1, 3, 9, Infinity];

  const find = (id) => document.getElementById(id);

  /** Writes a text only when it is another one: a screen reader would read it again. */
  function write(id, text) {
    const element = find(id);
    if (element.textContent !== String(text)) element.textContent = text;
  }

  function createView() {
    const canvas = find("world");
    const pen = canvas.getContext("2d");
    let colours = readColours();
    /** What is on the screen, to draw only when there is something new. */
    let shown = null;

    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      colours = readColours();
      shown = null;
    });
    fillMenu();

    /** The patterns, and an entry that only shows when the world is none of them. */
    function fillMenu() {
      const own = new Option("Own world", "");
      own.hidden = true;
      own.disabled = true;
      find("pattern").replaceChildren(own, ...PATTERNS.map(({ id, name }) => new Option(name, id)));
    }

    function readColours() {
      const style = getComputedStyle(document.documentElement);
      const read = (name) => style.getPropertyValue(name).trim();
      return {
        ground: read("--ground"),
        line: read("--line"),
        cursor: read("--accent"),
        cells: AGES.map((_, age) => read(`--cell-${age}`)),
      };
    }

    /** Sharp on every screen: as many pixels as the screen has, in CSS pixels for the drawing. */
    function setSize({ columns, rows, size }) {
      const scale = window.devicePixelRatio || 1;
      canvas.width = Math.round(columns * size * scale);
      canvas.height = Math.round(rows * size * scale);
      canvas.style.width = `${columns * size}px`;
      canvas.style.height = `${rows * size}px`;
      pen.setTransform(scale, 0, 0, scale, 0, 0);
      shown = null;
    }

    function drawLines({ width, height }, size) {
      pen.fillStyle = colours.line;
      for (let x = 1; x < width; x += 1) pen.fillRect(x * size - 0.5, 0, 1, height * size);
      for (let y = 1; y < height; y += 1) pen.fillRect(0, y * size - 0.5, width * size, 1);
    }

    function drawCells({ width, cells }, size) {
      const paths = AGES.map(() => new Path2D());
      const gap = size > 6 ? 1 : 0.5;
      cells.forEach((age, position) => {
        if (age === 0) return;
        const path = paths[AGES.findIndex((oldest) => age <= oldest)];
        const x = (position % width) * size + gap;
        const y = Math.floor(position / width) * size + gap;
        path.roundRect(x, y, size - 2 * gap, size - 2 * gap, size / 5);
      });
      paths.forEach((path, age) => {
        pen.fillStyle = colours.cells[age];
        pen.fill(path);
      });
    }

    function drawCursor({ x, y }, size) {
      pen.strokeStyle = colours.cursor;
      pen.lineWidth = 2;
      pen.strokeRect(x * size, y * size, size, size);
    }

    function showControls({ world, generation, running, speed, wrap }) {
      const run = find("run");
      run.dataset.state = running ? "running" : "paused";
      write("run-label", running ? "Pause" : "Play");
      write("generation", generation);
      write("population", population(world));
      write("speed-text", `${speed} per second`);
      find("speed").value = speed;
      find("wrap").checked = wrap;
      find("reset").disabled = generation === 0;
    }

    return {
      canvas,
      setSize,
      /** `cursor` is the cell chosen by the keyboard, or null. */
      show(session, { size, cursor }) {
        if (shown?.session === session && shown.cursor === cursor) return;
        shown = { session, cursor };
        const { world } = session;
        pen.fillStyle = colours.ground;
        pen.fillRect(0, 0, world.width * size, world.height * size);
        if (size >= 6) drawLines(world, size);
        drawCells(world, size);
        if (cursor !== null) drawCursor(cursor, size);
        showControls(session);
      },
      /** The line about the world, and the choice in the menu; "" stands for a world of one's own. */
      showPattern(id, note) {
        find("pattern").value = id;
        find("note").textContent = note;
      },
      /** Has a screen reader say a sentence. */
      say(sentence) {
        find("status").textContent = sentence;
      },
    };
  }

  globalThis.Life.view = Object.freeze({ createView });
})();
