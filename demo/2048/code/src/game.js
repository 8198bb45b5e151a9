// The game: board, score, best score and the way back. A state is a plain object
// that is never changed; every function returns the next state.
(() => {
  "use strict";

  const { addTile, canMove, emptyBoard, highestTile, isBoard, slide } = globalThis.Game2048.board;

  const GOAL = 2048;

  /** How many moves can be taken back. A bound, so that a long game does not grow for ever. */
  const HISTORY_LIMIT = 50;

  const twoTiles = (random) => addTile(addTile(emptyBoard(), random).cells, random).cells;

  /** A first game. `best` is the best score of earlier games. */
  function start({ random, best = 0 }) {
    return { cells: twoTiles(random), score: 0, best, wantsMore: false, history: [] };
  }

  /** What undo needs to come back to this state. The best score is not part of it: it only rises. */
  const snapshot = ({ cells, score, wantsMore }) => ({ cells, score, wantsMore });

  const remember = (state) => [...state.history, snapshot(state)].slice(-HISTORY_LIMIT);

  /** A new game in the place of this one. It is a step like a move: undo brings the old game back. */
  function restart(state, random) {
    return { ...start({ random, best: state.best }), history: remember(state) };
  }

  /**
   * "won"     the goal is reached and the player has not yet chosen to go on,
   * "over"    no direction changes the board,
   * "playing" otherwise.
   */
  function statusOf(state) {
    if (!state.wantsMore && highestTile(state.cells) >= GOAL) return "won";
    return canMove(state.cells) ? "playing" : "over";
  }

  /**
   * One move. When nothing can move that way, or the game waits for a decision,
   * the same state comes back and `move` is null: no tile appears, nothing is remembered.
   */
  function play(state, direction, random) {
    if (statusOf(state) !== "playing") return { state, move: null };
    const { cells, moved, gained, motions } = slide(state.cells, direction);
    if (!moved) return { state, move: null };
    const added = addTile(cells, random);
    const score = state.score + gained;
    const next = {
      ...state,
      cells: added.cells,
      score,
      best: Math.max(state.best, score),
      history: remember(state),
    };
    return { state: next, move: { direction, gained, motions, added: added.position } };
  }

  const canUndo = (state) => state.history.length > 0;

  /** One step back, or the same state at the beginning. */
  function undo(state) {
    if (!canUndo(state)) return state;
    return { ...state, ...state.history.at(-1), history: state.history.slice(0, -1) };
  }

  /** After a win: the same game without an end at the goal. */
  const keepPlaying = (state) => ({ ...state, wantsMore: true });

  /** What is stored between visits: the game on the screen, without its history. */
  const toSaved = ({ cells, score, best, wantsMore }) => ({ version: 1, cells, score, best, wantsMore });

  const isScore = (value) => Number.isSafeInteger(value) && value >= 0;

  /** The game of a stored value, or null when the value is not one: it may be old, damaged or edited. */
  function fromSaved(value) {
    if (typeof value !== "object" || value === null || value.version !== 1) return null;
    const { cells, score, best, wantsMore } = value;
    if (!isBoard(cells) || !isScore(score) || !isScore(best) || typeof wantsMore !== "boolean") return null;
    return { cells: [...cells], score, best: Math.max(best, score), wantsMore, history: [] };
  }

  const api = {
    GOAL,
    HISTORY_LIMIT,
    start,
    restart,
    statusOf,
    play,
    canUndo,
    undo,
    keepPlaying,
    toSaved,
    fromSaved,
  };
  globalThis.Game2048.game = Object.freeze(api);
})();
