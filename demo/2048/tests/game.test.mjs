import assert from "node:assert/strict";
import { describe, test } from "node:test";
import "../src/board.js";
import "../src/game.js";

const { DIRECTIONS, freeCells } = globalThis.Game2048.board;
const { HISTORY_LIMIT, canUndo, fromSaved, keepPlaying, play, restart, start, statusOf, toSaved, undo } =
  globalThis.Game2048.game;

/** A small generator of repeatable chance, so that a failing game can be played again. */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const EMPTY_ROW = [0, 0, 0, 0];
const gameOf = (cells, fields = {}) => ({ ...start({ random: seeded(1) }), cells, ...fields });
const boardWithRow = (...row) => [...row, ...EMPTY_ROW, ...EMPTY_ROW, ...EMPTY_ROW];
const STUCK = [2, 4, 2, 4, 4, 2, 4, 2, 2, 4, 2, 4, 4, 2, 4, 2];

describe("a new game", () => {
  test("starts with two tiles, no points and nothing to undo", () => {
    const state = start({ random: seeded(7) });
    assert.equal(freeCells(state.cells).length, 14);
    assert.equal(state.score, 0);
    assert.equal(canUndo(state), false);
    assert.equal(statusOf(state), "playing");
  });

  test("keeps the best score and can be taken back", () => {
    const old = gameOf(boardWithRow(2, 8, 0, 0), { score: 12, best: 900 });
    const fresh = restart(old, seeded(3));
    assert.equal(fresh.score, 0);
    assert.equal(fresh.best, 900);
    assert.deepEqual(undo(fresh), old);
  });
});

describe("a move", () => {
  test("adds the gain to the score and one tile to the board", () => {
    const { state, move } = play(gameOf(boardWithRow(2, 2, 4, 4), { score: 10 }), "left", seeded(1));
    assert.equal(state.score, 22);
    assert.equal(move.gained, 12);
    assert.equal(freeCells(state.cells).length, 13);
    assert.ok(state.cells[move.added] === 2 || state.cells[move.added] === 4);
  });

  test("that changes nothing adds no tile and is not remembered", () => {
    const before = gameOf(boardWithRow(2, 4, 8, 16));
    const { state, move } = play(before, "left", seeded(1));
    assert.equal(state, before);
    assert.equal(move, null);
  });

  test("raises the best score only when it is passed", () => {
    const cells = boardWithRow(4, 4, 0, 0);
    assert.equal(play(gameOf(cells, { best: 100 }), "left", seeded(1)).state.best, 100);
    assert.equal(play(gameOf(cells, { score: 96, best: 100 }), "left", seeded(1)).state.best, 104);
  });
});

describe("winning and losing", () => {
  test("2048 on the board wins, and no move is made until the player decides", () => {
    const { state } = play(gameOf(boardWithRow(1024, 1024, 0, 0)), "left", seeded(1));
    assert.equal(statusOf(state), "won");
    assert.equal(play(state, "right", seeded(1)).move, null);
  });

  test("a player who goes on does not win again", () => {
    const state = keepPlaying(gameOf(boardWithRow(2048, 2, 0, 0)));
    assert.equal(statusOf(state), "playing");
    assert.notEqual(play(state, "right", seeded(1)).move, null);
  });

  test("a board that cannot move is over", () => {
    assert.equal(statusOf(gameOf(STUCK)), "over");
    assert.equal(play(gameOf(STUCK), "left", seeded(1)).move, null);
    assert.equal(statusOf(gameOf(STUCK.with(0, 2048))), "won", "a win on the last free cell is a win");
  });
});

describe("undo", () => {
  test("brings back the board and the score, and keeps the best score", () => {
    const before = gameOf(boardWithRow(4, 4, 0, 0));
    const { state } = play(before, "left", seeded(1));
    const back = undo(state);
    assert.deepEqual(back.cells, before.cells);
    assert.equal(back.score, 0);
    assert.equal(back.best, 8);
    assert.equal(canUndo(back), false);
    assert.equal(undo(back), back, "at the beginning there is nothing to take back");
  });

  test("takes back a win and the decision to go on", () => {
    const won = play(gameOf(boardWithRow(1024, 1024, 0, 0)), "left", seeded(1)).state;
    const further = play(keepPlaying(won), "right", seeded(2)).state;
    assert.equal(statusOf(undo(further)), "playing");
    assert.equal(statusOf(undo(undo(further))), "playing");
    assert.deepEqual(undo(undo(further)).cells, boardWithRow(1024, 1024, 0, 0));
  });

  test("reaches back a limited number of moves", () => {
    let state = start({ random: seeded(11) });
    for (let count = 0; count < HISTORY_LIMIT + 10; count += 1) state = restart(state, seeded(count));
    assert.equal(state.history.length, HISTORY_LIMIT);
  });
});

describe("saving", () => {
  test("a saved game comes back as it was, through JSON", () => {
    const state = play(gameOf(boardWithRow(2, 2, 4, 0), { best: 300 }), "down", seeded(4)).state;
    const back = fromSaved(JSON.parse(JSON.stringify(toSaved(state))));
    assert.deepEqual({ ...back, history: state.history }, state);
    assert.equal(fromSaved({ ...toSaved(state), score: 500, best: 20 }).best, 500);
  });

  test("a stored value that is no game is refused", () => {
    const good = toSaved(start({ random: seeded(1) }));
    const bad = [
      null,
      7,
      "game",
      [],
      {},
      { ...good, version: 2 },
      { ...good, cells: [2, 2] },
      { ...good, score: -4 },
      { ...good, best: "9" },
      { ...good, wantsMore: 1 },
    ];
    for (const value of bad) assert.equal(fromSaved(value), null, JSON.stringify(value));
    assert.notEqual(fromSaved(good), null);
  });
});

describe("whole games", () => {
  test("fifty random games keep every rule and come to an end", () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const random = seeded(seed);
      let state = start({ random });
      let moves = 0;
      while (statusOf(state) === "playing") {
        const direction = DIRECTIONS[Math.floor(random() * 4)];
        const next = play(state, direction, random).state;
        if (next !== state) {
          moves += 1;
          assert.ok(next.score >= state.score && next.best >= next.score);
          assert.ok(next.cells.every((value) => value === 0 || Number.isInteger(Math.log2(value))));
        }
        state = next;
      }
      assert.equal(
        freeCells(state.cells).length,
        0,
        `seed ${seed} ended after ${moves} moves with free cells`,
      );
    }
  });
});
