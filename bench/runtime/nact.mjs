import { dispatch, spawn, start, stop } from "nact";

/** Runs until an actor says that all is done. */
function settled(begin) {
  return new Promise((resolve) => {
    const system = start();
    let from = performance.now();
    const end = (done, more = {}) => {
      const ms = performance.now() - from;
      stop(system);
      resolve({ done, ms, ...more });
    };
    begin(system, end, () => (from = performance.now()));
  });
}

export const cases = {
  hop(n) {
    return settled((system, end) => {
      const player = (name) =>
        spawn(
          system,
          (_state, { count, from }, { self }) => {
            if (count >= n) return end(count);
            dispatch(from, { count: count + 1, from: self });
            return { seen: count };
          },
          name,
        );
      const [one, other] = [player("one"), player("other")];
      dispatch(one, { count: 0, from: other });
    });
  },

  chain(n) {
    return settled((system, end, begun) => {
      let passed = 0;
      let first;
      for (let place = 99; place >= 0; place -= 1) {
        const after = first;
        first = spawn(
          system,
          (_state, message) => {
            if (after !== undefined) return dispatch(after, message);
            passed += 1;
            if (passed >= n) end(passed);
            else dispatch(first, { run: passed });
          },
          `link${place}`,
        );
      }
      begun();
      dispatch(first, { run: 0 });
    });
  },

  fanout(n) {
    return settled((system, end, begun) => {
      let acted = 0;
      const listener = () => {
        acted += 1;
        if (acted === n) end(acted);
      };
      const listeners = Array.from({ length: n }, (_, place) => spawn(system, listener, `listener${place}`));
      const speaker = spawn(
        system,
        () => {
          for (const one of listeners) dispatch(one, { text: "go" });
        },
        "speaker",
      );
      begun();
      dispatch(speaker, {});
    });
  },

  fanin(n) {
    return settled((system, end, begun) => {
      let heard = 0;
      const hub = spawn(
        system,
        () => {
          heard += 1;
          if (heard === n) end(heard);
        },
        "hub",
      );
      const speakers = Array.from({ length: n }, (_, place) => spawn(system, () => dispatch(hub, { place }), `speaker${place}`));
      begun();
      for (const speaker of speakers) dispatch(speaker, {});
    });
  },

  parallel(n) {
    return settled((system, end) => {
      let said = 0;
      for (let place = 0; place < n; place += 1) {
        const one = spawn(
          system,
          async () => {
            await new Promise((resolve) => setTimeout(resolve, 200));
            said += 1;
            if (said === n) end(said);
          },
          `one${place}`,
        );
        dispatch(one, {});
      }
    });
  },

  idle(n) {
    const system = start();
    const act = (state = { seen: 0 }) => state;
    return { keep: Array.from({ length: n }, (_, place) => spawn(system, act, `actor${place}`)) };
  },

  million(n) {
    return { done: n, ...cases.idle(n) };
  },

  crowd(n) {
    return settled((system, end, begun) => {
      let [heard, tick] = [0, 0];
      const all = Array.from({ length: n }, (_, place) =>
        spawn(
          system,
          (state = { seen: 0, sum: 0 }) => {
            heard += 1;
            if (heard === n) setImmediate(next);
            return { seen: state.seen + 1, sum: state.sum + ((place * 31 + state.seen) % 1_000) };
          },
          `c${place}`,
        ),
      );
      function next() {
        heard = 0;
        tick += 1;
        if (tick > 10) return end(n);
        for (const one of all) dispatch(one, { tick });
      }
      begun();
      next();
    });
  },
};
