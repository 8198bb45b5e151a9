// Draws a game into the page. The view holds no rules: it is given a state and, after
// a move, how each tile went, and it keeps the elements of the tiles in step with that.
(() => {
  "use strict";

  const { SIZE } = globalThis.Game2048.board;
  const { canUndo, statusOf } = globalThis.Game2048.game;

  /** The time a tile slides, in milliseconds. The stylesheet gets it as --slide. */
  const SLIDE_MS = 110;

  const find = (id) => document.getElementById(id);

  const place = (position) => ({ row: Math.floor(position / SIZE), column: position % SIZE });

  const spoken = (position) => `row ${place(position).row + 1}, column ${place(position).column + 1}`;

  function moveTo(element, position) {
    const { row, column } = place(position);
    element.style.setProperty("--row", row);
    element.style.setProperty("--column", column);
  }

  /** A tile: the outer element slides, the inner one has the colour and pops. */
  function createTile(value, position, kind) {
    const tile = document.createElement("div");
    tile.className = kind === undefined ? "tile" : `tile tile-${kind}`;
    const face = document.createElement("div");
    face.className = "face";
    face.dataset.value = value > 2048 ? "more" : value;
    face.dataset.digits = String(value).length;
    face.textContent = value;
    tile.append(face);
    moveTo(tile, position);
    return tile;
  }

  /** What a screen reader says: the move that led to `state`, or the score when there was none. */
  function sentenceFor(state, move) {
    if (move === null) return `Score ${state.score}.`;
    const gain = move.gained > 0 ? ` ${move.gained} points.` : "";
    return `Moved ${move.direction}.${gain} New ${state.cells[move.added]} in ${spoken(move.added)}.`;
  }

  /** The board as a table: invisible, but a screen reader can walk through it. */
  function fillTable(body, cells) {
    const rows = Array.from({ length: SIZE }, (_, row) => {
      const line = document.createElement("tr");
      for (const value of cells.slice(row * SIZE, (row + 1) * SIZE)) {
        line.insertCell().textContent = value === 0 ? "empty" : value;
      }
      return line;
    });
    body.replaceChildren(...rows);
  }

  function createView() {
    const layer = find("tiles");
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
    /** The element of the tile on each position. */
    let tiles = new Map();
    /** Tiles that merged into another: they slide to its place and leave. */
    let leaving = [];
    let timer;

    document.documentElement.style.setProperty("--slide", `${SLIDE_MS}ms`);

    function sweep() {
      clearTimeout(timer);
      for (const tile of leaving) tile.remove();
      leaving = [];
    }

    function put(position, value, kind) {
      const tile = createTile(value, position, kind);
      tiles.set(position, tile);
      layer.append(tile);
    }

    function drawAfresh(state, kind) {
      tiles = new Map();
      layer.replaceChildren();
      state.cells.forEach((value, position) => {
        if (value > 0) put(position, value, kind);
      });
    }

    function drawMove(state, { motions, added }) {
      const before = tiles;
      tiles = new Map();
      const merged = new Set(motions.filter(({ merges }) => merges).map(({ to }) => to));
      for (const { from, to } of motions) {
        const tile = before.get(from);
        moveTo(tile, to);
        if (merged.has(to)) leaving.push(tile);
        else tiles.set(to, tile);
      }
      for (const position of merged) put(position, state.cells[position], "merged");
      put(added, state.cells[added], "new");
      if (calm.matches) sweep();
      else timer = setTimeout(sweep, SLIDE_MS);
    }

    function showGain(gained) {
      const chip = document.createElement("span");
      chip.className = "gain";
      chip.textContent = `+${gained}`;
      find("gain").replaceChildren(...(gained > 0 ? [chip] : []));
    }

    function showEnd(state) {
      const status = statusOf(state);
      const overlay = find("overlay");
      const wasHidden = overlay.hidden;
      overlay.hidden = status === "playing";
      overlay.dataset.status = status;
      if (status === "playing") {
        if (!wasHidden) find("board").focus();
        return;
      }
      find("overlay-title").textContent = status === "won" ? "You made 2048" : "No moves left";
      find("overlay-text").textContent =
        status === "won" ? "Stop here, or see how far it goes." : `You scored ${state.score} points.`;
      find("keep-playing").hidden = status !== "won";
      find("overlay-undo").hidden = status !== "over" || !canUndo(state);
      if (wasHidden) (status === "won" ? find("keep-playing") : find("play-again")).focus();
    }

    return {
      /**
       * Shows `state`. With `move` the tiles slide there from the state shown before;
       * without it they are put down afresh, growing in when `appear` is set.
       */
      show(state, { move = null, appear = false } = {}) {
        sweep();
        if (move === null) drawAfresh(state, appear ? "new" : undefined);
        else drawMove(state, move);
        find("score").textContent = state.score;
        find("best").textContent = state.best;
        find("undo").disabled = !canUndo(state);
        showGain(move?.gained ?? 0);
        fillTable(find("table"), state.cells);
        find("status").textContent = sentenceFor(state, move);
        showEnd(state);
      },
      /** A short shake: this direction moves nothing. */
      refuse() {
        const board = find("board");
        board.classList.remove("refused");
        void board.offsetWidth; // Restarts the animation when the last one is still running.
        board.classList.add("refused");
      },
    };
  }

  globalThis.Game2048.view = Object.freeze({ createView });
})();
